/* clocks [TIMES]: the clock read, and 16 random bytes got: calls that move next to nothing. */
#include <unistd.h>

#include "io.h"

int main(int argc, char **argv) {
    uint64_t times = argument(argc, argv, 1, 100000), rises = 0, last = 0;
    unsigned char bytes[16];
    uint64_t start = now_ns();
    for (uint64_t i = 0; i < times; i++) {
        uint64_t now = now_ns();
        rises += now >= last;
        last = now;
        MUST(getentropy(bytes, sizeof bytes) == 0);
    }
    uint64_t ns = now_ns() - start;
    return report(right(rises == times), ns);
}
