/* appends [TIMES]: lines appended to a file, each made to reach the disk. */
#include <fcntl.h>
#include <unistd.h>

#include "io.h"

int main(int argc, char **argv) {
    uint64_t times = argument(argc, argv, 1, 200);
    int file = open("appends.data", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    MUST(file >= 0);
    static const char line[] = "one line of a log, as long as such lines are\n";
    uint64_t start = now_ns();
    for (uint64_t i = 0; i < times; i++) {
        MUST(write(file, line, sizeof line - 1) == (ssize_t)sizeof line - 1);
        MUST(fsync(file) == 0);
    }
    uint64_t ns = now_ns() - start;
    uint64_t length = (uint64_t)lseek(file, 0, SEEK_END);
    MUST(close(file) == 0 && unlink("appends.data") == 0);
    return report(right(length == times * (sizeof line - 1)), ns);
}
