/* randoms [EACH] [TIMES]: pieces of a file read anywhere by pread. */
#include <fcntl.h>
#include <unistd.h>

#include "io.h"

enum { BYTES = 8 << 20 };

int main(int argc, char **argv) {
    static unsigned char block[65536];
    uint64_t each = argument(argc, argv, 1, 512), times = argument(argc, argv, 2, 50000), wrong = 0, at = 1;
    MUST(each > 0 && each <= sizeof block);
    make_file("randoms.data", BYTES);
    int file = open("randoms.data", O_RDONLY);
    MUST(file >= 0);
    uint64_t start = now_ns();
    for (uint64_t i = 0; i < times; i++) {
        at = at * 6364136223846793005u + 1442695040888963407u;
        uint64_t from = (at >> 33) % (BYTES - each);
        MUST(pread(file, block, (size_t)each, (off_t)from) == (ssize_t)each);
        wrong += block[0] != byte_at(from);
    }
    uint64_t ns = now_ns() - start;
    MUST(close(file) == 0 && unlink("randoms.data") == 0);
    return report(right(wrong == 0), ns);
}
