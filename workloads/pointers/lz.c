/* lz: compresses and expands by copies of what came before, found through hash chains.
 *
 * A packed block is a row of steps: a byte 0 to 127 is that many bytes and one
 * as they are; 128 to 255 is a copy of that many less 124 bytes from a distance
 * of two bytes, low first, and one. */
#include "pointers.h"

enum {
    BYTES = EXTENT(2000, 100000, 12000000, 32000000, 128000000),
    HASHES = 1 << 14,
    NEAR = 1 << 16, /* how far back a copy reaches */
    TRIES = 24,     /* candidates that are compared */
    SHORTEST = 4,
    LONGEST = 131,
    PLAIN_MAX = 128,
};

typedef uint8_t byte;

/* The last place with a hash, and for each place the one before it. */
typedef struct {
    const byte *last[HASHES];
    const byte *before[NEAR];
} chains;

/* Sentences of words of a small language, with mistakes: repeats at many distances. */
static void init(byte text[BYTES]) {
    static byte words[512][12];
    for (uint32_t i = 0; i < 512; i++)
        for (uint32_t k = 0; k < 12; k++) words[i][k] = k < 3 + i % 9 ? (byte)('a' + random_below(26)) : ' ';
    uint32_t at = 0;
    while (at < BYTES) {
        uint32_t word = random_below(512) * random_below(512) / 512, length = 4 + word % 9;
        for (uint32_t k = 0; k < length && at < BYTES; k++)
            text[at++] = random_below(200) == 0 ? (byte)random_below(256) : words[word][k];
    }
}

static uint32_t hash_of(const byte *at) {
    uint32_t four;
    memcpy(&four, at, sizeof four);
    return four * 0x9e3779b1u >> 18;
}

static uint32_t common_length(const byte *a, const byte *b, const byte *end) {
    uint32_t length = 0;
    while (b + length < end && length < LONGEST && a[length] == b[length]) length++;
    return length;
}

static void remember(chains *known, const byte *text, const byte *at) {
    uint32_t hash = hash_of(at);
    known->before[(uint32_t)(at - text) % NEAR] = known->last[hash];
    known->last[hash] = at;
}

/* The longest copy for what is at `at`; its length is 0 where there is none. */
static uint32_t find(const chains *known, const byte *text, const byte *at, const byte *end, const byte **from) {
    uint32_t best = 0;
    const byte *candidate = known->last[hash_of(at)];
    for (int tries = 0; tries < TRIES && candidate != NULL && at - candidate < NEAR; tries++) {
        uint32_t length = common_length(candidate, at, end);
        if (length > best) {
            best = length;
            *from = candidate;
        }
        candidate = known->before[(uint32_t)(candidate - text) % NEAR];
    }
    return best >= SHORTEST ? best : 0;
}

static byte *write_plain(byte *to, const byte *from, const byte *end) {
    while (from < end) {
        uint32_t length = end - from < PLAIN_MAX ? (uint32_t)(end - from) : PLAIN_MAX;
        *to++ = (byte)(length - 1);
        for (uint32_t i = 0; i < length; i++) *to++ = *from++;
    }
    return to;
}

static byte *pack(const byte *text, const byte *end, byte *to, chains *known) {
    const byte *at = text, *plain = text, *from = NULL;
    while (end - at >= SHORTEST) {
        uint32_t length = find(known, text, at, end, &from);
        if (length == 0) {
            remember(known, text, at++);
            continue;
        }
        to = write_plain(to, plain, at);
        uint32_t distance = (uint32_t)(at - from) - 1;
        *to++ = (byte)(length + 124);
        *to++ = (byte)distance;
        *to++ = (byte)(distance >> 8);
        for (; length > 0; length--, at++)
            if (end - at >= SHORTEST) remember(known, text, at);
        plain = at;
    }
    return write_plain(to, plain, end);
}

static byte *expand(const byte *from, const byte *end, byte *to) {
    while (from < end) {
        uint32_t step = *from++;
        if (step < PLAIN_MAX) {
            for (uint32_t i = 0; i <= step; i++) *to++ = *from++;
            continue;
        }
        const byte *source = to - (from[0] | from[1] << 8) - 1;
        from += 2;
        for (uint32_t i = 0; i < step - 124; i++) *to++ = *source++;
    }
    return to;
}

KERNEL kernel_lz(const byte text[BYTES], byte *packed, byte *again, chains *known, uint32_t sizes[2]) {
    byte *end = pack(text, text + BYTES, packed, known);
    sizes[0] = (uint32_t)(end - packed);
    sizes[1] = (uint32_t)(expand(packed, end, again) - again);
}

int main(void) {
    NEW_1D(byte, text, BYTES);
    NEW_1D(byte, packed, BYTES + BYTES / PLAIN_MAX + 16);
    NEW_1D(byte, again, BYTES);
    NEW_1D(chains, known, 1);
    uint32_t sizes[2];
    init(text);
    MEASURE(kernel_lz(text, packed, again, known, sizes));
    if (sizes[1] != BYTES || memcmp(text, again, BYTES) != 0) fail("expands to something else");
    mix(sizes[0]);
    for (uint32_t i = 0; i + 8 <= sizes[0]; i += 8) {
        uint64_t word;
        memcpy(&word, packed + i, sizeof word);
        mix(word);
    }
    return report();
}
