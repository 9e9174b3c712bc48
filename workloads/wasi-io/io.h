/* What the I/O programs share: numbers from the command line, a clock, an answer.
 *
 * Each works in the folder it is started in, removes what it made, and ends with the line
 * that all suites have. The time is that of the operations alone: making and removing
 * files stands outside, unless it is what is measured. */
#ifndef FATHOM_IO_H
#define FATHOM_IO_H

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Ends the program where an operation fails: a wrong run has no time. */
#define MUST(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, strerror(errno)); \
            exit(1); \
        } \
    } while (0)

static inline uint64_t now_ns(void) {
    struct timespec now;
    MUST(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The argument of this position, or its default. */
static inline uint64_t argument(int argc, char **argv, int at, uint64_t otherwise) {
    if (argc <= at) return otherwise;
    char *end;
    errno = 0;
    uint64_t number = strtoull(argv[at], &end, 10);
    MUST(errno == 0 && *argv[at] >= '0' && *argv[at] <= '9' && *end == 0);
    return number;
}

/* The byte of a file at a place: differs from place to place. */
static inline unsigned char byte_at(uint64_t at) {
    return (unsigned char)(at * 31 + at / 251);
}

static inline void fill(unsigned char *bytes, size_t length, uint64_t from) {
    for (size_t i = 0; i < length; i++) bytes[i] = byte_at(from + i);
}

/* The answer of a run: the same for every size, since each run checks all that it reads. */
static inline uint64_t right(int is_right) {
    return is_right ? 0x600dc0de : 0xbad;
}

static inline int report(uint64_t answer, uint64_t ns) {
    printf("fathom: answer=%016" PRIx64 " kernel_ns=%" PRIu64 "\n", answer, ns);
    return 0;
}

/* A file of so many bytes. */
static inline void make_file(const char *name, uint64_t bytes) {
    static unsigned char block[65536];
    FILE *file = fopen(name, "wb");
    MUST(file != NULL);
    for (uint64_t at = 0; at < bytes; at += sizeof block) {
        size_t length = bytes - at < sizeof block ? (size_t)(bytes - at) : sizeof block;
        fill(block, length, at);
        MUST(fwrite(block, 1, length, file) == length);
    }
    MUST(fclose(file) == 0);
}

#endif
