/* seeks [TIMES]: fseek to and fro in a file, and one byte read there. */
#include "io.h"

enum { BYTES = 1 << 20 };

int main(int argc, char **argv) {
    uint64_t times = argument(argc, argv, 1, 50000), wrong = 0, at = 1;
    make_file("seeks.data", BYTES);
    FILE *file = fopen("seeks.data", "rb");
    MUST(file != NULL);
    uint64_t start = now_ns();
    for (uint64_t i = 0; i < times; i++) {
        at = at * 6364136223846793005u + 1442695040888963407u;
        uint64_t from = at >> 44;
        MUST(fseek(file, (long)from, SEEK_SET) == 0);
        wrong += fgetc(file) != byte_at(from);
    }
    uint64_t ns = now_ns() - start;
    MUST(fclose(file) == 0 && remove("seeks.data") == 0);
    return report(right(wrong == 0), ns);
}
