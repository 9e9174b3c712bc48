/* show [--exit N] [--abort] [ARGS...]: prints what the host handed over.
 *
 * For testing a command line: arguments, environment (sorted), the length of
 * the input, that the clocks move and that random bytes are not all alike. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void show_environment(void) {
    size_t count = 0;
    while (environ[count] != NULL) count++;
    qsort(environ, count, sizeof environ[0], by_text);
    for (size_t i = 0; i < count; i++) printf("env %s\n", environ[i]);
}

static void show_clocks(void) {
    struct timespec real, first, second;
    clock_gettime(CLOCK_REALTIME, &real);
    clock_gettime(CLOCK_MONOTONIC, &first);
    do clock_gettime(CLOCK_MONOTONIC, &second);
    while (second.tv_sec == first.tv_sec && second.tv_nsec == first.tv_nsec);
    printf("clock %s\n", real.tv_sec > 1600000000 && second.tv_sec >= first.tv_sec ? "moves" : "wrong");
}

static void show_random(void) {
    unsigned char bytes[64], seen = 0;
    if (getentropy(bytes, sizeof bytes) != 0) {
        printf("random unavailable\n");
        return;
    }
    for (size_t i = 1; i < sizeof bytes; i++) seen |= bytes[i] ^ bytes[0];
    printf("random %s\n", seen != 0 ? "varies" : "constant");
}

static long input_length(void) {
    char block[4096];
    long length = 0;
    for (ssize_t part; (part = read(STDIN_FILENO, block, sizeof block)) > 0;) length += part;
    return length;
}

int main(int argc, char **argv) {
    int status = 0;
    for (int i = 0; i < argc; i++) {
        printf("arg %d %s\n", i, i == 0 ? "(program)" : argv[i]);
        if (strcmp(argv[i], "--exit") == 0 && i + 1 < argc) status = atoi(argv[i + 1]);
    }
    show_environment();
    printf("input %ld bytes\n", input_length());
    show_clocks();
    show_random();
    fflush(stdout);
    if (argc > 1 && strcmp(argv[1], "--abort") == 0) abort();
    fprintf(stderr, "ends with %d\n", status);
    return status;
}
