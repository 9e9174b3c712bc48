/* sha256 [FILE...]: SHA-256 digests (FIPS 180-4) of files, or of the input.
 *
 * Integer rotations and additions on data that stays in registers: what is
 * measured is the code generator, hardly the memory. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct sha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
};

static const uint32_t ROUND[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void compress(uint32_t state[8], const unsigned char *block) {
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++, block += 4)
        w[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 |
               block[3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t sum1 = rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25);
        uint32_t sum0 = rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22);
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint32_t one = s[7] + sum1 + choice + ROUND[i] + w[i];
        memmove(s + 1, s, 7 * sizeof s[0]);
        s[4] += one;
        s[0] = one + sum0 + majority;
    }
    for (int i = 0; i < 8; i++) state[i] += s[i];
}

static void begin(struct sha256 *hash) {
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(hash->state, start, sizeof start);
    hash->bytes = 0;
}

static void update(struct sha256 *hash, const unsigned char *data, size_t length) {
    while (length > 0) {
        size_t at = hash->bytes % 64, part = 64 - at < length ? 64 - at : length;
        memcpy(hash->block + at, data, part);
        hash->bytes += part;
        data += part;
        length -= part;
        if (at + part == 64) compress(hash->state, hash->block);
    }
}

static void finish(struct sha256 *hash, char hex[65]) {
    static const unsigned char padding[64] = {0x80};
    unsigned char length[8];
    uint64_t bits = hash->bytes * 8;
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)(bits >> (56 - 8 * i));
    update(hash, padding, 1 + (119 - hash->bytes % 64) % 64);
    update(hash, length, 8);
    for (int i = 0; i < 8; i++) snprintf(hex + 8 * i, 9, "%08x", hash->state[i]);
}

/* Prints one line. Returns 0, or -1 with errno set. */
static int digest(FILE *file, const char *name) {
    static unsigned char block[1 << 16];
    struct sha256 hash;
    char hex[65];
    size_t length;
    begin(&hash);
    while ((length = fread(block, 1, sizeof block, file)) > 0) update(&hash, block, length);
    if (ferror(file)) return -1;
    finish(&hash, hex);
    printf("%s  %s\n", hex, name);
    return 0;
}

int main(int argc, char **argv) {
    int status = 0;
    if (argc < 2) return digest(stdin, "-") == 0 ? 0 : 1;
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (file == NULL || digest(file, argv[i]) != 0) {
            fprintf(stderr, "sha256: %s: %s\n", argv[i], strerror(errno));
            status = 1;
        }
        if (file != NULL) fclose(file);
    }
    return status;
}
