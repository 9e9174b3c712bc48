/* brotli: packs and unpacks a corpus with brotli: qualities, modes, windows, a
 * stream in small pieces, damage. */
#include "corpus.h"
#include "brotli/decode.h"
#include "brotli/encode.h"

enum { LENGTH = 1 << 20 };

static uint8_t *text, *packed, *restored;
static size_t bound;

static void round_trip(int quality, int window, BrotliEncoderMode mode, size_t length) {
    char what[64];
    size_t n = bound, back = LENGTH;
    snprintf(what, sizeof what, "quality %d, window %d, mode %d", quality, window, (int)mode);
    must(BrotliEncoderCompress(quality, window, mode, length, text, &n, packed), what);
    memset(restored, 0, LENGTH);
    must(BrotliDecoderDecompress(n, packed, &back, restored) == BROTLI_DECODER_RESULT_SUCCESS, what);
    must(back == length, what);
    corpus_report(what, text, restored, length, packed, n);
}

static size_t in_pieces(void) {
    BrotliEncoderState *encoder = BrotliEncoderCreateInstance(NULL, NULL, NULL);
    BrotliDecoderState *decoder = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    must(encoder != NULL && decoder != NULL, "memory for a stream");
    BrotliEncoderSetParameter(encoder, BROTLI_PARAM_QUALITY, 5);
    BrotliEncoderSetParameter(encoder, BROTLI_PARAM_LGWIN, 16);
    uint8_t *out = packed;
    const uint8_t *in = text;
    size_t total = 0;
    while (!BrotliEncoderIsFinished(encoder)) {
        size_t given = (size_t)(in - text);
        size_t n = LENGTH - given < 2999 ? LENGTH - given : 2999, room = 401;
        BrotliEncoderOperation what = given + n == LENGTH ? BROTLI_OPERATION_FINISH
                                      : given / 100000 != (given + n) / 100000 ? BROTLI_OPERATION_FLUSH
                                                                               : BROTLI_OPERATION_PROCESS;
        /* A flush must be given its output before there is more input. */
        do {
            room = 401;
            must(BrotliEncoderCompressStream(encoder, what, &n, &in, &room, &out, &total), "stream");
        } while (n > 0 || (what == BROTLI_OPERATION_FLUSH && BrotliEncoderHasMoreOutput(encoder)));
    }
    BrotliEncoderDestroyInstance(encoder);

    uint8_t *to = restored;
    const uint8_t *from = packed;
    BrotliDecoderResult result;
    memset(restored, 0, LENGTH);
    do {
        size_t left = total - (size_t)(from - packed), n = left < 613 ? left : 613, room = 1009, made;
        result = BrotliDecoderDecompressStream(decoder, &n, &from, &room, &to, &made);
        must(result != BROTLI_DECODER_RESULT_ERROR, "stream back");
    } while (result != BROTLI_DECODER_RESULT_SUCCESS);
    BrotliDecoderDestroyInstance(decoder);
    corpus_report("stream, in pieces", text, restored, LENGTH, packed, total);
    return total;
}

static void damage(const char *what, size_t length) {
    BrotliDecoderState *decoder = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    size_t room = LENGTH, total = 0;
    const uint8_t *in = packed;
    uint8_t *out = restored;
    BrotliDecoderResult result = BrotliDecoderDecompressStream(decoder, &length, &in, &room, &out, &total);
    printf("%s: result %d, %s\n", what, (int)result, BrotliDecoderErrorString(BrotliDecoderGetErrorCode(decoder)));
    BrotliDecoderDestroyInstance(decoder);
}

int main(void) {
    uint32_t version = BrotliEncoderVersion();
    bound = BrotliEncoderMaxCompressedSize(LENGTH) + LENGTH;
    text = corpus_memory(LENGTH);
    packed = corpus_memory(bound);
    restored = corpus_memory(LENGTH + 2048);
    corpus_fill(text, LENGTH);
    printf("brotli %u.%u.%u, corpus %016llx\n", (unsigned)(version >> 24), (unsigned)(version >> 12 & 4095),
           (unsigned)(version & 4095), (unsigned long long)corpus_digest(text, LENGTH));
    round_trip(0, 22, BROTLI_MODE_GENERIC, LENGTH);
    round_trip(1, 22, BROTLI_MODE_GENERIC, LENGTH);
    round_trip(4, 18, BROTLI_MODE_TEXT, LENGTH);
    round_trip(6, 24, BROTLI_MODE_FONT, LENGTH);
    round_trip(9, 10, BROTLI_MODE_GENERIC, LENGTH / 2);
    round_trip(11, 22, BROTLI_MODE_TEXT, LENGTH / 8);
    size_t n = in_pieces();
    packed[n / 2] ^= 0x55;
    damage("damaged", n);
    damage("cut", n / 3);
    return 0;
}
