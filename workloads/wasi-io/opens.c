/* opens [TIMES]: one file opened, read from by one byte, and closed. */
#include "io.h"

int main(int argc, char **argv) {
    uint64_t times = argument(argc, argv, 1, 10000), wrong = 0;
    make_file("opens.data", 64);
    uint64_t start = now_ns();
    for (uint64_t i = 0; i < times; i++) {
        FILE *file = fopen("opens.data", "rb");
        MUST(file != NULL);
        wrong += fgetc(file) != byte_at(0);
        MUST(fclose(file) == 0);
    }
    uint64_t ns = now_ns() - start;
    MUST(remove("opens.data") == 0);
    return report(right(wrong == 0), ns);
}
