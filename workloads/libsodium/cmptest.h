/* What the library's test programs include instead of their own header of this
 * name: it makes the `main` of each a function that harness.c calls in a loop,
 * with allocation, randomness and output as a benchmark wants them.
 *
 * What must stay true:
 * - BENCHMARKS is defined, as in the library's own benchmark mode: programs leave
 *   out what cannot be repeated or is not about computing.
 * - While passes are timed nothing is formatted: `printf` is one load and one
 *   branch, its arguments are not evaluated.
 * - `assert` works: the programs check themselves with it, in every pass. */
#ifndef FATHOM_LIBSODIUM_CMPTEST_H
#define FATHOM_LIBSODIUM_CMPTEST_H

#undef NDEBUG
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sodium.h"
#include "quirks.h"

/* The program's `main`. */
int libsodium_pass(void);

/* Whether what the program prints is part of the answer: in the last pass. */
extern int libsodium_captures;
void libsodium_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Blocks that go back to a pool: the library's own allocator maps pages, locks
 * them and protects them, which would time the kernel of a native build. */
void *libsodium_allocate(size_t size);
void *libsodium_allocate_array(size_t count, size_t size);
void libsodium_release(void *block);

/* Somewhere that programs take for memory they may not touch and do not. */
static unsigned char *const guard_page __attribute__((unused)) = NULL;

#define sodium_malloc(size) libsodium_allocate(size)
#define sodium_allocarray(count, size) libsodium_allocate_array(count, size)
#define sodium_free(block) libsodium_release(block)

#undef printf
#define printf(...) \
    do { if (libsodium_captures) libsodium_print(__VA_ARGS__); } while (0)

#define main libsodium_pass

#endif
