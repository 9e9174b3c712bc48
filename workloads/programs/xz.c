/* xz: packs and unpacks a corpus with liblzma: presets, filter chains, the old
 * container, a stream in small pieces, each kind of check, damage. */
#include "corpus.h"
#include "lzma.h"

enum { LENGTH = 512 << 10 };

static uint8_t *text, *packed, *restored;
static size_t bound;

static const char *name_of(lzma_ret result) {
    switch (result) {
        case LZMA_OK: return "ok";
        case LZMA_STREAM_END: return "end";
        case LZMA_DATA_ERROR: return "data error";
        case LZMA_BUF_ERROR: return "input ends early";
        case LZMA_FORMAT_ERROR: return "format error";
        default: return "another error";
    }
}

static void unpack(const char *what, size_t packed_length, size_t length) {
    uint64_t limit = UINT64_MAX;
    size_t in = 0, out = 0;
    memset(restored, 0, LENGTH);
    lzma_ret result = lzma_stream_buffer_decode(&limit, 0, NULL, packed, &in, packed_length, restored, &out, length);
    if (result != LZMA_OK) fprintf(stderr, "%s\n", name_of(result));
    must(result == LZMA_OK && out == length, what);
    corpus_report(what, text, restored, length, packed, packed_length);
}

static void presets(void) {
    static const uint32_t levels[] = {0, 3, 6, 9, 6 | LZMA_PRESET_EXTREME};
    static const lzma_check checks[] = {LZMA_CHECK_NONE, LZMA_CHECK_CRC32, LZMA_CHECK_CRC64, LZMA_CHECK_SHA256,
                                        LZMA_CHECK_CRC64};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        char what[32];
        size_t n = 0, length = i == 0 ? LENGTH : LENGTH / 2;
        snprintf(what, sizeof what, "preset %u%s", (unsigned)(levels[i] & 31),
                 levels[i] & LZMA_PRESET_EXTREME ? " extreme" : "");
        must(lzma_easy_buffer_encode(levels[i], checks[i], NULL, text, length, packed, &n, bound) == LZMA_OK, what);
        unpack(what, n, length);
    }
}

/* A filter in front of LZMA2 with small parameters. */
static void chain(const char *what, lzma_vli filter, void *options) {
    lzma_options_lzma lzma;
    size_t n = 0;
    must(!lzma_lzma_preset(&lzma, 1), what);
    lzma.dict_size = 1 << 16;
    lzma.lc = 1;
    lzma.lp = 2;
    lzma.pb = 0;
    lzma_filter filters[] = {{filter, options}, {LZMA_FILTER_LZMA2, &lzma}, {LZMA_VLI_UNKNOWN, NULL}};
    must(lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC32, NULL, text, LENGTH / 2, packed, &n, bound) == LZMA_OK,
         what);
    unpack(what, n, LENGTH / 2);
}

/* Runs a coder over `from`, a few bytes at a time. */
static size_t pump(lzma_stream *stream, const uint8_t *from, size_t length, uint8_t *to, size_t room) {
    lzma_ret result = LZMA_OK;
    stream->next_in = from;
    stream->next_out = to;
    while (result == LZMA_OK) {
        size_t given = (size_t)stream->total_in, made = (size_t)stream->total_out;
        stream->avail_in = length - given < 1021 ? length - given : 1021;
        stream->avail_out = room - made < 509 ? room - made : 509;
        result = lzma_code(stream, given + stream->avail_in == length ? LZMA_FINISH : LZMA_RUN);
    }
    must(result == LZMA_STREAM_END, name_of(result));
    size_t made = (size_t)stream->total_out;
    lzma_end(stream);
    return made;
}

static void old_container(void) {
    lzma_stream stream = LZMA_STREAM_INIT;
    lzma_options_lzma options;
    must(!lzma_lzma_preset(&options, 2), "old container");
    must(lzma_alone_encoder(&stream, &options) == LZMA_OK, "old container");
    size_t n = pump(&stream, text, LENGTH / 4, packed, bound);
    lzma_stream back = LZMA_STREAM_INIT;
    memset(restored, 0, LENGTH);
    must(lzma_auto_decoder(&back, UINT64_MAX, 0) == LZMA_OK, "old container");
    must(pump(&back, packed, n, restored, LENGTH) == LENGTH / 4, "old container");
    corpus_report("old container, in pieces", text, restored, LENGTH / 4, packed, n);
}

int main(void) {
    bound = lzma_stream_buffer_bound(LENGTH);
    text = corpus_memory(LENGTH);
    packed = corpus_memory(bound);
    restored = corpus_memory(LENGTH);
    corpus_fill(text, LENGTH);
    printf("xz %s, corpus %016llx\n", lzma_version_string(), (unsigned long long)corpus_digest(text, LENGTH));
    presets();
    lzma_options_delta delta = {.type = LZMA_DELTA_TYPE_BYTE, .dist = 8};
    chain("delta", LZMA_FILTER_DELTA, &delta);
    chain("x86 branches", LZMA_FILTER_X86, NULL);
    old_container();

    uint64_t limit = UINT64_MAX;
    size_t n = 0, in = 0, out = 0;
    must(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, text, LENGTH / 2, packed, &n, bound) == LZMA_OK, "damage");
    packed[n / 2] ^= 16;
    printf("damaged: %s\n",
           name_of(lzma_stream_buffer_decode(&limit, 0, NULL, packed, &in, n, restored, &out, LENGTH)));
    in = out = 0;
    packed[n / 2] ^= 16;
    printf("cut: %s\n",
           name_of(lzma_stream_buffer_decode(&limit, 0, NULL, packed, &in, n / 2, restored, &out, LENGTH)));
    return 0;
}
