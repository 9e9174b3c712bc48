/* freads [EACH] [BYTES]: a file read by fread, EACH bytes a call. */
#include "io.h"

int main(int argc, char **argv) {
    static unsigned char block[1 << 20];
    uint64_t each = argument(argc, argv, 1, 60), bytes = argument(argc, argv, 2, 4 << 20);
    MUST(each > 0 && each <= sizeof block);
    make_file("freads.data", bytes);
    FILE *file = fopen("freads.data", "rb");
    MUST(file != NULL);
    uint64_t start = now_ns(), at = 0, wrong = 0;
    size_t length;
    while ((length = fread(block, 1, (size_t)each, file)) > 0) wrong += block[0] != byte_at(at), at += length;
    uint64_t ns = now_ns() - start;
    MUST(!ferror(file) && fclose(file) == 0 && remove("freads.data") == 0);
    return report(right(at == bytes && wrong == 0), ns);
}
