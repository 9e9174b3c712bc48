/* What the programs of this suite share: chance that is the same everywhere.
 *
 * Each is one program in the frame of polybench/harness.h: `main` makes its
 * input from a fixed seed, runs the kernel once between two clock readings,
 * checks the result in itself where that can be done (an order, a round trip,
 * a sum that must be kept) and mixes it into the answer.
 *
 * What must stay true:
 * - The same source gives the same answer with 32-bit and 64-bit pointers: no
 *   address, no `size_t` and no `long` reaches the answer or decides an order.
 * - The kernel allocates nothing: all nodes come from arrays that were touched
 *   before the clock starts, so that growth and first touches stay outside.
 * - Addresses come from memory: that is what the suite is for. A loop over an
 *   array belongs to PolyBench. */
#ifndef FATHOM_POINTERS_H
#define FATHOM_POINTERS_H

#include "../polybench/harness.h"

static uint64_t random_state = 0x2545f4914f6cdd1du;

/* splitmix64. */
static inline uint64_t next_random(void) {
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A number below `bound`, which is not 0. */
static inline uint32_t random_below(uint32_t bound) {
    return (uint32_t)((next_random() >> 32) * bound >> 32);
}

/* From 0 to 1, 1 excluded; exact. */
static inline double random_unit(void) { return (double)(next_random() >> 11) * 0x1p-53; }

/* The numbers below `count` in a random order (Fisher and Yates). */
static inline uint32_t *random_order(uint32_t count) {
    NEW_1D(uint32_t, order, count);
    for (uint32_t i = 0; i < count; i++) order[i] = i;
    for (uint32_t i = count - 1; i > 0; i--) {
        uint32_t other = random_below(i + 1), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    return order;
}

#endif
