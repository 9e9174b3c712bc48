/* What the compressors work on: bytes that are the same on every machine, some
 * like prose, some like records, some like noise, and a digest to print. */
#ifndef CORPUS_H
#define CORPUS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Marsaglia's xorshift, 64 bits. */
static uint64_t corpus_next(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* FNV-1a. */
static uint64_t corpus_digest(const void *bytes, size_t length) {
    const uint8_t *at = bytes;
    uint64_t hash = 14695981039346656037u;
    while (length-- > 0) hash = (hash ^ *at++) * 1099511628211u;
    return hash;
}

/* Fills `to`: each 4 KiB is prose, records, a run, noise or a copy of something earlier. */
static void corpus_fill(uint8_t *to, size_t length) {
    static const char *const words[] = {"the ", "lead ", "line ", "of ", "a ", "fathom ", "sounds ", "deep", ", ",
                                        "water ", "and ", "mark ", "under ", "keel.\n", "six ", "by "};
    uint64_t state = 88172645463325252u;
    for (size_t block = 0; block < length; block += 4096) {
        size_t end = block + 4096 < length ? block + 4096 : length;
        unsigned kind = corpus_next(&state) % 8;
        for (size_t at = block; at < end;) {
            uint64_t random = corpus_next(&state);
            const char *word = words[random >> 60];
            uint64_t record = at * 16 + (random & 3);
            size_t n = 1;
            if (kind < 3) {
                n = strlen(word);
                if (n > end - at) n = end - at;
                memcpy(to + at, word, n);
            } else if (kind < 5) {
                n = end - at < 8 ? end - at : 8;
                for (size_t i = 0; i < n; i++) to[at + i] = (uint8_t)(record >> (8 * i));
            } else if (kind == 5) {
                to[at] = (uint8_t)(block >> 12);
            } else if (kind == 6 && block > 0) {
                n = end - at < 97 ? end - at : 97;
                size_t from = random % block;
                for (size_t i = 0; i < n; i++) to[at + i] = to[from + i];
            } else {
                to[at] = (uint8_t)random;
            }
            at += n;
        }
    }
}

/* Allocates or ends the program. */
static void *corpus_memory(size_t length) {
    void *memory = malloc(length);
    if (memory == NULL) {
        fprintf(stderr, "no memory for %zu bytes\n", length);
        exit(1);
    }
    return memory;
}

/* Ends the program unless `holds`. */
static void must(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "failed: %s\n", what);
        exit(1);
    }
}

/* The line that every round trip prints, once its two ends have been compared. */
static void corpus_report(const char *what, const uint8_t *original, const uint8_t *restored, size_t length,
                          const uint8_t *packed, size_t packed_length) {
    must(memcmp(original, restored, length) == 0, what);
    printf("%s: %zu -> %zu bytes, packed %016llx, restored %016llx\n", what, length, packed_length,
           (unsigned long long)corpus_digest(packed, packed_length),
           (unsigned long long)corpus_digest(restored, length));
}

#endif
