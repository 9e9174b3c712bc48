/* zstd: packs and unpacks a corpus with zstd: levels from negative to 19, in one
 * piece and as a stream, long-range matching, a trained dictionary, damage. */
#define ZSTD_STATIC_LINKING_ONLY
#include "corpus.h"
#include "zdict.h"
#include "zstd.h"

enum { LENGTH = 1 << 20, DICTIONARY = 16 << 10, RECORD = 512 };

static void check(size_t result, const char *what) {
    if (ZSTD_isError(result)) fprintf(stderr, "%s\n", ZSTD_getErrorName(result));
    must(!ZSTD_isError(result), what);
}

static void in_one_piece(const uint8_t *text, uint8_t *packed, uint8_t *restored, size_t bound) {
    static const int levels[] = {-5, 1, 3, 9, 15, 19};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        char what[32];
        snprintf(what, sizeof what, "level %d", levels[i]);
        size_t length = levels[i] > 9 ? LENGTH / 4 : LENGTH;
        size_t n = ZSTD_compress(packed, bound, text, length, levels[i]);
        check(n, what);
        memset(restored, 0, LENGTH);
        check(ZSTD_decompress(restored, length, packed, n), what);
        corpus_report(what, text, restored, length, packed, n);
    }
}

/* A few bytes at a time, with a checksum and long-range matching. */
static size_t as_stream(const uint8_t *text, uint8_t *packed, uint8_t *restored, size_t bound) {
    ZSTD_CCtx *encoder = ZSTD_createCCtx();
    check(ZSTD_CCtx_setParameter(encoder, ZSTD_c_checksumFlag, 1), "checksum");
    check(ZSTD_CCtx_setParameter(encoder, ZSTD_c_enableLongDistanceMatching, 1), "long range");
    check(ZSTD_CCtx_setParameter(encoder, ZSTD_c_windowLog, 20), "window");
    ZSTD_outBuffer out = {packed, bound, 0};
    for (size_t at = 0; at < LENGTH; at += 4093) {
        size_t n = LENGTH - at < 4093 ? LENGTH - at : 4093;
        ZSTD_inBuffer in = {text + at, n, 0};
        ZSTD_EndDirective end = at + n == LENGTH ? ZSTD_e_end : ZSTD_e_continue;
        size_t left;
        do {
            left = ZSTD_compressStream2(encoder, &out, &in, end);
            check(left, "stream");
        } while (end == ZSTD_e_end ? left != 0 : in.pos < in.size);
    }
    ZSTD_freeCCtx(encoder);

    ZSTD_DCtx *decoder = ZSTD_createDCtx();
    ZSTD_inBuffer in = {packed, 0, 0};
    ZSTD_outBuffer back = {restored, 0, 0};
    size_t left = 1;
    memset(restored, 0, LENGTH);
    while (left != 0) {
        in.size = in.size + 777 < out.pos ? in.size + 777 : out.pos;
        back.size = back.size + 1000 < LENGTH ? back.size + 1000 : LENGTH;
        left = ZSTD_decompressStream(decoder, &back, &in);
        check(left, "stream back");
    }
    ZSTD_freeDCtx(decoder);
    corpus_report("stream", text, restored, LENGTH, packed, out.pos);
    return out.pos;
}

static void with_dictionary(const uint8_t *text, uint8_t *packed, uint8_t *restored, size_t bound) {
    enum { SAMPLES = 400 };
    size_t sizes[SAMPLES], total = 0;
    for (int i = 0; i < SAMPLES; i++) sizes[i] = RECORD;
    uint8_t *dictionary = corpus_memory(DICTIONARY);
    size_t n = ZDICT_trainFromBuffer(dictionary, DICTIONARY, text, sizes, SAMPLES);
    must(!ZDICT_isError(n), "training");
    ZSTD_CDict *for_packing = ZSTD_createCDict(dictionary, n, 3);
    ZSTD_DDict *for_unpacking = ZSTD_createDDict(dictionary, n);
    ZSTD_CCtx *encoder = ZSTD_createCCtx();
    ZSTD_DCtx *decoder = ZSTD_createDCtx();
    for (size_t at = 0; at < SAMPLES * RECORD; at += RECORD) {
        size_t size = ZSTD_compress_usingCDict(encoder, packed, bound, text + at, RECORD, for_packing);
        check(size, "dictionary");
        check(ZSTD_decompress_usingDDict(decoder, restored, RECORD, packed, size, for_unpacking), "dictionary back");
        must(memcmp(text + at, restored, RECORD) == 0, "dictionary back");
        total += size;
    }
    printf("dictionary: %zu bytes, %016llx; %d records in %zu bytes\n", n,
           (unsigned long long)corpus_digest(dictionary, n), SAMPLES, total);
    ZSTD_freeCCtx(encoder);
    ZSTD_freeDCtx(decoder);
    ZSTD_freeCDict(for_packing);
    ZSTD_freeDDict(for_unpacking);
    free(dictionary);
}

int main(void) {
    size_t bound = ZSTD_compressBound(LENGTH);
    uint8_t *text = corpus_memory(LENGTH), *packed = corpus_memory(bound), *restored = corpus_memory(LENGTH);
    corpus_fill(text, LENGTH);
    printf("zstd %s, corpus %016llx\n", ZSTD_versionString(), (unsigned long long)corpus_digest(text, LENGTH));
    in_one_piece(text, packed, restored, bound);
    with_dictionary(text, packed, restored, bound);
    size_t n = as_stream(text, packed, restored, bound);
    packed[n / 2] ^= 1;
    printf("damaged: %s\n", ZSTD_getErrorName(ZSTD_decompress(restored, LENGTH, packed, n)));
    printf("cut: %s\n", ZSTD_getErrorName(ZSTD_decompress(restored, LENGTH, packed, n / 3)));
    return 0;
}
