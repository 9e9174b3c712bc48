/* How liblzma is configured: every coder that a test of it wants, no threads. */
#define HAVE_STDINT_H 1
#define HAVE_STDBOOL_H 1
#define HAVE_STRING_H 1
#define HAVE_INTTYPES_H 1

#define HAVE_ENCODER_LZMA1 1
#define HAVE_ENCODER_LZMA2 1
#define HAVE_ENCODER_DELTA 1
#define HAVE_ENCODER_X86 1
#define HAVE_DECODER_LZMA1 1
#define HAVE_DECODER_LZMA2 1
#define HAVE_DECODER_DELTA 1
#define HAVE_DECODER_X86 1

#define HAVE_MF_HC3 1
#define HAVE_MF_HC4 1
#define HAVE_MF_BT2 1
#define HAVE_MF_BT3 1
#define HAVE_MF_BT4 1

#define HAVE_CHECK_CRC32 1
#define HAVE_CHECK_CRC64 1
#define HAVE_CHECK_SHA256 1

#define SIZEOF_SIZE_T __SIZEOF_SIZE_T__

#ifdef __wasm__
/* A header blocks signals around threads; here there are neither. */
typedef int sigset_t;
static inline int sigprocmask(int how, const sigset_t *set, sigset_t *old) {
    (void)how, (void)set, (void)old;
    return 0;
}
#endif
