/* bzip2: packs and unpacks a corpus with libbzip2: block sizes, work factors, both
 * decoders, a stream in small pieces, long runs, damage. */
#include "corpus.h"
#include "bzlib.h"

enum { LENGTH = 1 << 20 };

/* What the library calls when it finds itself broken. */
void bz_internal_error(int code) {
    fprintf(stderr, "internal error %d\n", code);
    exit(1);
}

static uint8_t *text, *packed, *restored;
static unsigned bound;

static void round_trip(int block, int work, int small, size_t length) {
    char what[64];
    unsigned n = bound, back = LENGTH;
    snprintf(what, sizeof what, "blocks of %d00 kB, work %d, %s decoder", block, work, small ? "small" : "fast");
    must(BZ2_bzBuffToBuffCompress((char *)packed, &n, (char *)text, (unsigned)length, block, 0, work) == BZ_OK, what);
    memset(restored, 0, LENGTH);
    must(BZ2_bzBuffToBuffDecompress((char *)restored, &back, (char *)packed, n, small, 0) == BZ_OK, what);
    must(back == length, what);
    corpus_report(what, text, restored, length, packed, n);
}

static void in_pieces(void) {
    bz_stream encoder = {0}, decoder = {0};
    must(BZ2_bzCompressInit(&encoder, 2, 0, 0) == BZ_OK, "stream");
    encoder.next_out = (char *)packed;
    for (size_t given = 0, done = 0; !done;) {
        size_t n = LENGTH / 2 - given < 3001 ? LENGTH / 2 - given : 3001;
        encoder.next_in = (char *)text + given;
        encoder.avail_in = (unsigned)n;
        encoder.avail_out = 701;
        int result = BZ2_bzCompress(&encoder, given + n == LENGTH / 2 ? BZ_FINISH : BZ_RUN);
        must(result == BZ_RUN_OK || result == BZ_FINISH_OK || result == BZ_STREAM_END, "stream");
        given += n - encoder.avail_in;
        done = result == BZ_STREAM_END;
    }
    size_t packed_length = encoder.total_out_lo32;
    BZ2_bzCompressEnd(&encoder);

    must(BZ2_bzDecompressInit(&decoder, 0, 0) == BZ_OK, "stream back");
    memset(restored, 0, LENGTH);
    decoder.next_in = (char *)packed;
    decoder.next_out = (char *)restored;
    for (int result = BZ_OK; result != BZ_STREAM_END;) {
        decoder.avail_in = 499;
        decoder.avail_out = 5003;
        result = BZ2_bzDecompress(&decoder);
        must(result == BZ_OK || result == BZ_STREAM_END, "stream back");
    }
    BZ2_bzDecompressEnd(&decoder);
    corpus_report("stream, in pieces", text, restored, LENGTH / 2, packed, packed_length);
}

int main(void) {
    bound = LENGTH + LENGTH / 100 + 600;
    text = corpus_memory(LENGTH);
    packed = corpus_memory(bound);
    restored = corpus_memory(LENGTH + 8192);
    corpus_fill(text, LENGTH);
    printf("bzip2 %s, corpus %016llx\n", BZ2_bzlibVersion(), (unsigned long long)corpus_digest(text, LENGTH));
    round_trip(1, 0, 0, LENGTH);
    round_trip(9, 30, 1, LENGTH);
    in_pieces();
    memset(text, 'a', LENGTH);
    round_trip(9, 1, 0, LENGTH);
    round_trip(5, 250, 0, 1);
    round_trip(5, 250, 1, 0);

    corpus_fill(text, LENGTH);
    unsigned n = bound, back = LENGTH;
    must(BZ2_bzBuffToBuffCompress((char *)packed, &n, (char *)text, LENGTH, 3, 0, 0) == BZ_OK, "damage");
    packed[n / 2] ^= 8;
    printf("damaged: %d\n", BZ2_bzBuffToBuffDecompress((char *)restored, &back, (char *)packed, n, 0, 0));
    back = LENGTH;
    printf("cut: %d\n", BZ2_bzBuffToBuffDecompress((char *)restored, &back, (char *)packed, n / 2 - 1, 0, 0));
    return 0;
}
