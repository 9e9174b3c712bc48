/* reads [EACH] [BYTES]: a file read by read, EACH bytes a call. */
#include <fcntl.h>
#include <unistd.h>

#include "io.h"

int main(int argc, char **argv) {
    static unsigned char block[1 << 20];
    uint64_t each = argument(argc, argv, 1, 4096), bytes = argument(argc, argv, 2, 16 << 20);
    MUST(each > 0 && each <= sizeof block);
    make_file("reads.data", bytes);
    int file = open("reads.data", O_RDONLY);
    MUST(file >= 0);
    uint64_t start = now_ns(), at = 0, wrong = 0;
    ssize_t length;
    while ((length = read(file, block, (size_t)each)) > 0) wrong += block[0] != byte_at(at), at += (uint64_t)length;
    uint64_t ns = now_ns() - start;
    MUST(length == 0 && close(file) == 0 && unlink("reads.data") == 0);
    return report(right(at == bytes && wrong == 0), ns);
}
