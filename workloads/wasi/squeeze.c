/* squeeze -c|-d [IN [OUT]]: a small LZ77 compressor, `-` for input or output.
 *
 * Hash table, match search and copies of unpredictable length: byte loads and
 * stores at data-dependent addresses, memory that grows with the file.
 *
 * Format: "SQZ1", the original length (8 bytes, little endian), then tokens. A
 * token is a control byte c: c < 128 is followed by c + 1 literal bytes; else
 * (c - 128 + MATCH_MIN) bytes are copied from `distance` back, the distance
 * (at least 1) following in two bytes, little endian. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MATCH_MIN = 4,
    MATCH_MAX = 127 + MATCH_MIN,
    LITERALS_MAX = 128,
    DISTANCE_MAX = 65535,
    HASH_BITS = 15,
    HEADER_BYTES = 12,
};

struct bytes {
    unsigned char *data;
    size_t length, capacity;
};

static _Noreturn void fail(const char *what, const char *why) {
    fprintf(stderr, "squeeze: %s: %s\n", what, why);
    exit(1);
}

static void reserve(struct bytes *bytes, size_t more) {
    if (bytes->capacity - bytes->length >= more) return;
    size_t capacity = bytes->capacity * 2 + more;
    unsigned char *data = realloc(bytes->data, capacity);
    if (data == NULL) fail("memory", strerror(errno));
    bytes->data = data;
    bytes->capacity = capacity;
}

static void put(struct bytes *out, const unsigned char *data, size_t length) {
    reserve(out, length);
    memcpy(out->data + out->length, data, length);
    out->length += length;
}

static void put_byte(struct bytes *out, unsigned value) {
    unsigned char byte = (unsigned char)value;
    put(out, &byte, 1);
}

static void put_literals(struct bytes *out, const unsigned char *data, size_t length) {
    while (length > 0) {
        size_t part = length < LITERALS_MAX ? length : LITERALS_MAX;
        put_byte(out, (unsigned)part - 1);
        put(out, data, part);
        data += part;
        length -= part;
    }
}

static uint32_t hash(const unsigned char *at) {
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word * 2654435761u >> (32 - HASH_BITS);
}

static void compress(const struct bytes *in, struct bytes *out) {
    static size_t last[1 << HASH_BITS]; /* position + 1 of the last such word */
    size_t at = 0, literals = 0;
    put(out, (const unsigned char *)"SQZ1", 4);
    for (int i = 0; i < 8; i++) put_byte(out, (unsigned)((uint64_t)in->length >> 8 * i & 255));
    while (at + MATCH_MIN <= in->length) {
        size_t *slot = &last[hash(in->data + at)];
        size_t candidate = *slot, length = 0;
        *slot = at + 1;
        if (candidate > 0 && at - (candidate - 1) <= DISTANCE_MAX) {
            const unsigned char *old = in->data + candidate - 1, *now = in->data + at;
            size_t limit = in->length - at < MATCH_MAX ? in->length - at : MATCH_MAX;
            while (length < limit && old[length] == now[length]) length++;
        }
        if (length < MATCH_MIN) {
            at++;
            continue;
        }
        size_t distance = at - (candidate - 1);
        put_literals(out, in->data + literals, at - literals);
        put_byte(out, 128 + (unsigned)length - MATCH_MIN);
        put_byte(out, (unsigned)(distance & 255));
        put_byte(out, (unsigned)(distance >> 8));
        at += length;
        literals = at;
    }
    put_literals(out, in->data + literals, in->length - literals);
}

static void expand(const struct bytes *in, struct bytes *out) {
    uint64_t expected = 0;
    size_t at = HEADER_BYTES;
    if (in->length < HEADER_BYTES || memcmp(in->data, "SQZ1", 4) != 0) fail("input", "not squeezed");
    for (int i = 0; i < 8; i++) expected |= (uint64_t)in->data[4 + i] << 8 * i;
    while (at < in->length) {
        unsigned control = in->data[at++];
        size_t needed = control < 128 ? control + 1 : 2;
        if (in->length - at < needed) fail("input", "ends in a token");
        if (control < 128) {
            put(out, in->data + at, needed);
        } else {
            size_t length = control - 128 + MATCH_MIN;
            size_t distance = in->data[at] | (size_t)in->data[at + 1] << 8;
            if (distance == 0 || distance > out->length) fail("input", "distance out of range");
            reserve(out, length);
            for (size_t i = 0; i < length; i++, out->length++)
                out->data[out->length] = out->data[out->length - distance];
        }
        at += needed;
    }
    if (out->length != expected) fail("input", "wrong length");
}

static void read_all(const char *name, struct bytes *bytes) {
    FILE *file = strcmp(name, "-") == 0 ? stdin : fopen(name, "rb");
    if (file == NULL) fail(name, strerror(errno));
    size_t length;
    do {
        reserve(bytes, 1 << 16);
        length = fread(bytes->data + bytes->length, 1, bytes->capacity - bytes->length, file);
        bytes->length += length;
    } while (length > 0);
    if (ferror(file)) fail(name, strerror(errno));
}

static void write_all(const char *name, const struct bytes *bytes) {
    FILE *file = strcmp(name, "-") == 0 ? stdout : fopen(name, "wb");
    if (file == NULL) fail(name, strerror(errno));
    if (fwrite(bytes->data, 1, bytes->length, file) != bytes->length || fclose(file) != 0)
        fail(name, strerror(errno));
}

int main(int argc, char **argv) {
    struct bytes in = {0}, out = {0};
    if (argc < 2 || argc > 4 || (strcmp(argv[1], "-c") != 0 && strcmp(argv[1], "-d") != 0)) {
        fprintf(stderr, "usage: squeeze -c|-d [IN [OUT]]\n");
        return 2;
    }
    read_all(argc > 2 ? argv[2] : "-", &in);
    reserve(&out, in.length + HEADER_BYTES);
    if (argv[1][1] == 'c')
        compress(&in, &out);
    else
        expand(&in, &out);
    write_all(argc > 3 ? argv[3] : "-", &out);
    return 0;
}
