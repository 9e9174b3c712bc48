/* What the PolyBench kernels share: problem sizes, allocation, the clock, the answer.
 *
 * A kernel file is one program. Its `main` allocates, initialises, runs the
 * kernel once between two readings of the monotonic clock, feeds the live-out
 * data to the `answer_*` functions and ends with `report()`, which prints the
 * one line that is the contract with whoever measures:
 *
 *     fathom: answer=<16 hex digits> kernel_ns=<nanoseconds>
 *
 * What must stay true:
 * - Every array has a constant shape and is heap-allocated, page-aligned and
 *   touched before the clock starts, so that no first-touch page fault lands
 *   inside the kernel. (Original PolyBench leaves scratch arrays untouched and
 *   flushes the cache before the kernel; we start warm, on every engine alike.)
 * - Kernels are `noinline` and receive pointers to arrays without `restrict`,
 *   as in PolyBench's default build: the compiler knows the shapes and must
 *   assume that the arrays may overlap.
 * - Nothing here formats floating point or pulls in stdio, so the code of a
 *   Wasm module is mostly the kernel.
 *
 * The answer
 * ----------
 * Two correct builds may differ in the last bits: another libm (expf), a
 * fused multiply-add, a re-associated sum. Rounding every element would put
 * some of a million elements next to a rounding boundary, so elements are not
 * rounded. Instead an array is cut into BLOCKS runs, each run is reduced to
 * one weighted sum, and only the sum is rounded:
 *
 *     cell = floor(sum(weight[i] * x[i]) / scale * 2^bits + offset)
 *
 * - weight[i] in [1, 2) depends on the index, so exchanged or shifted elements
 *   change the sum (equal weights would accept a transposed matrix).
 * - scale is the power of two above sum(|x|): dividing by it is exact, and a
 *   block of small values is judged relative to itself, down to 2^-16 of the
 *   array's mean block (below that may be nothing but rounding noise).
 * - bits is 30 for double: a change of one element by more than about
 *   2^-30 * (elements in its block) of its value is seen; a perturbation of
 *   1e-15 meets one of the few boundaries with a chance of about 1e-4. It is
 *   12 for float, whose rounding is 6e-8, and fewer where a kernel's input is
 *   ill-conditioned (durbin says so).
 * - offset is not a dyadic fraction, so that exact results (integers, halves,
 *   zero blocks) never sit on a boundary.
 * - NaN and infinities are left out of the sum and mixed in as (index, class):
 *   NaN is one class whatever its sign and payload. -0 counts as 0.
 * - Integers are mixed in exactly.
 * Built with -DFATHOM_MARGIN, the program also prints the distance of the
 * nearest boundary in millionths of a cell; answers.py refuses to record an
 * answer that sits on one.
 */
#ifndef FATHOM_HARNESS_H
#define FATHOM_HARNESS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Problem size: 0 mini, 1 small, 2 medium, 3 large, 4 extralarge. */
#ifndef FATHOM_SIZE
#define FATHOM_SIZE 2
#endif

/* The extent for the size being built, out of the five published ones. */
#define EXTENT(mini, small, medium, large, extralarge) \
    (FATHOM_SIZE == 0   ? (mini)                       \
     : FATHOM_SIZE == 1 ? (small)                      \
     : FATHOM_SIZE == 2 ? (medium)                     \
     : FATHOM_SIZE == 3 ? (large)                      \
                        : (extralarge))

#define KERNEL __attribute__((noinline)) static void

#define NEW_1D(type, name, n) type(*name) = allocate(sizeof(type[n]))
#define NEW_2D(type, name, n, m) type(*name)[m] = allocate(sizeof(type[n][m]))
#define NEW_3D(type, name, n, m, l) type(*name)[m][l] = allocate(sizeof(type[n][m][l]))

/* Runs one statement between two clock readings. */
#define MEASURE(call)                      \
    do {                                   \
        uint64_t start_ns = now_ns();      \
        call;                              \
        __asm__ volatile("" ::: "memory"); \
        kernel_ns = now_ns() - start_ns;   \
    } while (0)

enum { BLOCKS = 64, DOUBLE_BITS = 30, FLOAT_BITS = 12, LINE_BYTES = 128 };

static uint64_t kernel_ns;
static uint64_t answer = 0x9e3779b97f4a7c15u;
static double margin = 1.0;

/* A block's scale is at least this share of the array's typical block. */
static const double SMALLEST_BLOCK = 0x1p-16;

static void print(const char *text) {
    size_t left = strlen(text);
    while (left > 0) {
        ssize_t done = write(STDOUT_FILENO, text, left);
        if (done <= 0) exit(3);
        text += done;
        left -= (size_t)done;
    }
}

static _Noreturn void fail(const char *why) {
    print("fathom: error=");
    print(why);
    print("\n");
    exit(2);
}

/* Zeroed and touched memory. The empty asm hides from the compiler that the
 * bytes are fresh: it would merge allocation and memset into calloc, whose
 * large blocks are untouched pages. */
static void *allocate(size_t bytes) {
    const size_t page = 4096;
    void *memory = aligned_alloc(page, (bytes + page - 1) / page * page);
    if (memory == NULL) fail("out of memory");
    __asm__ volatile("" : "+r"(memory));
    memset(memory, 0, bytes);
    __asm__ volatile("" : "+r"(memory) : : "memory");
    return memory;
}

static uint64_t now_ns(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) fail("no monotonic clock");
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Absorbs one word (the finaliser of splitmix64). */
static void mix(uint64_t word) {
    uint64_t z = answer + word + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    answer = z ^ (z >> 31);
}

/* With -DFATHOM_DUMP every live-out word is printed, for checking it elsewhere. */
#ifdef FATHOM_DUMP
static void dump(uint64_t word) {
    char line[LINE_BYTES];
    for (int i = 0; i < 16; i++) line[i] = "0123456789abcdef"[word >> (60 - 4 * i) & 15];
    line[16] = '\n';
    line[17] = '\0';
    print(line);
}
#else
static inline void dump(uint64_t word) { (void)word; }
#endif

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* 0 finite, 1 NaN, 2 +inf, 3 -inf; on the bits, so that no compiler flag can
 * assume it away. */
static int class_of(double value) {
    uint64_t bits = bits_of(value), magnitude = bits & 0x7fffffffffffffffu;
    if (magnitude < 0x7ff0000000000000u) return 0;
    if (magnitude > 0x7ff0000000000000u) return 1;
    return bits >> 63 ? 3 : 2;
}

/* The smallest power of two above a positive, normal, finite value. */
static double power_above(double value) {
    uint64_t bits = (bits_of(value) & 0x7ff0000000000000u) + 0x0010000000000000u;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Mixes in one block's weighted sum, rounded. magnitude is sum(|x|) over the
 * block and typical the mean of that over the array's blocks. */
static void answer_sum(double sum, double magnitude, double typical, int precision_bits) {
    const double offset = 0.38196601125010515;
    if (magnitude < typical * SMALLEST_BLOCK) magnitude = typical * SMALLEST_BLOCK;
    if (class_of(magnitude) != 0 || magnitude < 0x1p-1000 || magnitude > 0x1p1000) {
        mix(magnitude < 0x1p-1000 ? 0 : 1);
        return;
    }
    /* The factor keeps exact totals such as 64 off the step between scales. */
    double scale = power_above(magnitude * (1.0 + offset));
    double cells = sum / scale * (double)(1u << precision_bits) + 0x1p34 + offset;
    uint64_t cell = (uint64_t)cells;
    double above = cells - (double)cell;
    if (above < margin) margin = above;
    if (1.0 - above < margin) margin = 1.0 - above;
    mix(bits_of(scale));
    mix(cell);
}

static double weight(size_t index) {
    uint32_t spread = (uint32_t)index * 2654435761u;
    return 1.0 + (double)(spread >> 16) / 65536.0;
}

/* Mixes in an array of float or double; see the head of this file. */
#define ANSWER_FLOATING(name, type)                                           \
    static inline void name(const type *values, size_t count, int bits) {     \
        double typical = 0.0;                                                 \
        for (size_t i = 0; i < count; i++)                                    \
            if (class_of((double)values[i]) == 0)                             \
                typical += fabs((double)values[i]);                           \
        typical /= BLOCKS;                                                    \
        mix(count);                                                           \
        for (uint64_t block = 0; block < BLOCKS; block++) {                   \
            size_t end = (size_t)(count * (block + 1) / BLOCKS);              \
            double sum = 0.0, magnitude = 0.0;                                \
            for (size_t i = (size_t)(count * block / BLOCKS); i < end; i++) { \
                double value = (double)values[i];                             \
                int class = class_of(value);                                  \
                dump(bits_of(value));                                         \
                if (class != 0) {                                             \
                    mix(i);                                                   \
                    mix((uint64_t)class);                                     \
                    continue;                                                 \
                }                                                             \
                sum += weight(i) * value;                                     \
                magnitude += fabs(value);                                     \
            }                                                                 \
            answer_sum(sum, magnitude, typical, bits);                        \
        }                                                                     \
    }

ANSWER_FLOATING(answer_rounded, double)
ANSWER_FLOATING(answer_rounded_floats, float)

static inline void answer_doubles(const double *values, size_t count) {
    answer_rounded(values, count, DOUBLE_BITS);
}

static inline void answer_floats(const float *values, size_t count) {
    answer_rounded_floats(values, count, FLOAT_BITS);
}

static inline void answer_ints(const int *values, size_t count) {
    mix(count);
    for (size_t i = 0; i < count; i++) {
        dump((uint64_t)(int64_t)values[i]);
        mix((uint64_t)(int64_t)values[i]);
    }
}

static char *append(char *at, const char *text) {
    while (*text != '\0') *at++ = *text++;
    return at;
}

static char *append_number(char *at, uint64_t number, unsigned base, int digits_min) {
    char digits[24];
    int count = 0;
    while (number > 0 || count < digits_min) {
        digits[count++] = "0123456789abcdef"[number % base];
        number /= base;
    }
    while (count > 0) *at++ = digits[--count];
    return at;
}

/* Prints the last line. Returns the exit status for main. */
static int report(void) {
    char line[LINE_BYTES], *at = line;
#ifdef FATHOM_MARGIN
    at = append(at, "margin_millionths=");
    at = append_number(at, (uint64_t)(margin * 1e6), 10, 1);
    at = append(at, "\n");
#endif
    at = append(at, "fathom: answer=");
    at = append_number(at, answer, 16, 16);
    at = append(at, " kernel_ns=");
    at = append_number(at, kernel_ns, 10, 1);
    at = append(at, "\n");
    *at = '\0';
    print(line);
    return 0;
}

#endif
