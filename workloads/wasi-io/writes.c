/* writes [EACH] [BYTES]: a file written by write, EACH bytes a call: one request of the host
 * each, without a buffer between. */
#include <fcntl.h>
#include <unistd.h>

#include "io.h"

int main(int argc, char **argv) {
    static unsigned char block[1 << 20];
    uint64_t each = argument(argc, argv, 1, 4096), bytes = argument(argc, argv, 2, 16 << 20);
    MUST(each > 0 && each <= sizeof block);
    fill(block, (size_t)each, 7);
    int file = open("writes.data", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    MUST(file >= 0);
    uint64_t start = now_ns(), calls = bytes / each;
    for (uint64_t i = 0; i < calls; i++) MUST(write(file, block, (size_t)each) == (ssize_t)each);
    uint64_t ns = now_ns() - start;
    uint64_t length = (uint64_t)lseek(file, 0, SEEK_END);
    MUST(close(file) == 0 && unlink("writes.data") == 0);
    return report(right(length == calls * each), ns);
}
