/* Runs one of libsodium's test programs as a benchmark: `PROGRAM PASSES`.
 *
 *     pool, generator ──▶ timed passes, silent ──▶ one more, captured ──▶ answer
 *
 * The answer is the FNV-1a hash of what the program prints, so it is that of the
 * `.exp` file which the library's authors give with it. It is taken after the
 * timed passes: an engine that compiles again while they run is checked in the
 * state it ended in. What they compute themselves is checked by assertions. A single
 * pass is timed and captured at once: programs that are measured so take so long
 * (100 ms and more) that what they print is none of it.
 *
 * What must stay true:
 * - Every pass does the same work, on every engine: both generators of random
 *   numbers start a pass at the same point. (The library's benchmark takes its
 *   generator's key from the system, so that two runs differ. Ours is the same
 *   function, ChaCha20, under a key that is written here.)
 * - A program that asks for a generator by name gets it: `randombytes` tests those
 *   of the library, and reads the system's. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "../polybench/harness.h"
#include "sodium.h"

int libsodium_pass(void);
void libsodium_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *libsodium_allocate(size_t size);
void *libsodium_allocate_array(size_t count, size_t size);
void libsodium_release(void *block);

int libsodium_captures = 0;

enum { PRINTED_MAX = 1 << 16, POOL_BLOCKS = 1024, WORDS = 128, FILLED_MAX = 64 };

static char printed[PRINTED_MAX];

void libsodium_print(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(printed, sizeof printed, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= PRINTED_MAX) fail("a line longer than the harness keeps");
    for (int i = 0; i < length; i++) {
        answer ^= (unsigned char)printed[i];
        answer *= 0x100000001b3u;
    }
}

static struct {
    void *memory;
    size_t size;
    int is_taken;
} pool[POOL_BLOCKS];
static size_t pool_blocks;

/* The library's allocator fills its blocks with this byte, and core_ed25519 takes
 * a seed from one that it has not written. */
static void *filled(void *block, size_t size) {
    memset(block, 0xdb, size < FILLED_MAX ? size : FILLED_MAX);
    return block;
}

void *libsodium_allocate(size_t size) {
    if (size > (size_t)INT32_MAX - 4096) {
        errno = ENOMEM;
        return NULL;
    }
    for (size_t i = 0; i < pool_blocks; i++) {
        if (!pool[i].is_taken && pool[i].size >= size) {
            pool[i].is_taken = 1;
            return filled(pool[i].memory, size);
        }
    }
    const size_t asked = size;
    size = (size / 4096 + 1) * 4096;
    void *memory = pool_blocks < POOL_BLOCKS ? malloc(size) : NULL;
    if (memory == NULL) return NULL;
    pool[pool_blocks].memory = memory;
    pool[pool_blocks].size = size;
    pool[pool_blocks++].is_taken = 1;
    return filled(memory, asked);
}

void *libsodium_allocate_array(size_t count, size_t size) {
    if (count != 0 && size > SIZE_MAX / count) {
        errno = ENOMEM;
        return NULL;
    }
    return libsodium_allocate(count * size);
}

void libsodium_release(void *block) {
    if (block == NULL) return;
    for (size_t i = 0; i < pool_blocks; i++) {
        if (pool[i].memory != block) continue;
        if (!pool[i].is_taken) fail("a block was released twice");
        pool[i].is_taken = 0;
        return;
    }
    fail("a block was released that nobody allocated");
}

static const unsigned char chance_key[crypto_stream_chacha20_KEYBYTES] = "fathom measures the same chance";
static uint64_t chance_nonce;
static uint32_t chance_words[WORDS];
static size_t chance_left;

static void chance_bytes(void *const bytes, const size_t count) {
    unsigned char nonce[crypto_stream_chacha20_NONCEBYTES];
    chance_nonce++;
    memcpy(nonce, &chance_nonce, sizeof nonce);
    if (crypto_stream_chacha20(bytes, count, nonce, chance_key) != 0) fail("no chance");
}

static uint32_t chance_word(void) {
    if (chance_left == 0) {
        chance_bytes(chance_words, sizeof chance_words);
        chance_left = WORDS;
    }
    return chance_words[--chance_left];
}

static const char *chance_name(void) { return "fathom"; }

static struct randombytes_implementation chance = {
    .implementation_name = chance_name,
    .random = chance_word,
    .buf = chance_bytes,
};

static void one_pass(void) {
    chance_nonce = 0;
    chance_left = 0;
    srand(1);
    if (randombytes_set_implementation(&chance) != 0) fail("no generator");
    if (libsodium_pass() != 0) fail("the program says that it failed");
}

int main(int count, char **words) {
    long passes = count == 2 ? strtol(words[1], NULL, 10) : 0;
    if (passes < 1) fail("usage: PROGRAM PASSES");
    if (sodium_init() != 0) fail("the library does not start");
    answer = 0xcbf29ce484222325u;
    libsodium_captures = passes == 1;
    uint64_t start_ns = now_ns();
    for (long i = 0; i < passes; i++) one_pass();
    kernel_ns = now_ns() - start_ns;
    if (!libsodium_captures) {
        libsodium_captures = 1;
        one_pass();
    }
    return report();
}
