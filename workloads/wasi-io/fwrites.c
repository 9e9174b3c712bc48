/* fwrites [EACH] [BYTES]: a file written by fwrite, EACH bytes a call. What the C library
 * gathers before it asks the host differs between libraries. */
#include "io.h"

int main(int argc, char **argv) {
    static unsigned char block[1 << 20];
    uint64_t each = argument(argc, argv, 1, 60), bytes = argument(argc, argv, 2, 4 << 20);
    MUST(each > 0 && each <= sizeof block);
    fill(block, (size_t)each, 7);
    FILE *file = fopen("fwrites.data", "wb");
    MUST(file != NULL);
    uint64_t start = now_ns(), calls = bytes / each;
    for (uint64_t i = 0; i < calls; i++) MUST(fwrite(block, 1, (size_t)each, file) == each);
    MUST(fflush(file) == 0);
    uint64_t ns = now_ns() - start;
    uint64_t length = (uint64_t)ftell(file);
    MUST(fclose(file) == 0 && remove("fwrites.data") == 0);
    return report(right(length == calls * each), ns);
}
