/* depth: round trips to a fiber that yields so many calls deep. What a call keeps is used
 * behind it, so that it must be kept. */
#include "fibers.h"

static __attribute__((noinline)) uint32_t bottom(uint32_t depth) {
    uint32_t sum = depth;
    for (uint32_t in; (in = yield(sum)) != 0;) sum = sum * 31 + in;
    return sum;
}

static __attribute__((noinline)) uint32_t descend(uint32_t depth, uint32_t left) {
    return left == 0 ? bottom(depth) : descend(depth, left - 1) * 3 + left;
}

static void *begin(void *depth) { return value(descend(word(depth), word(depth) - 1)); }

KERNEL kernel_depth(fiber_t fiber, uint32_t trips_wanted, uint32_t *sum) {
    for (uint32_t in = 1; in <= trips_wanted; in++) *sum = *sum * 31 + resume(fiber, in);
}

int main(int count, char **words) {
    enum { BYTES = 64, SPARE = 4096 };
    uint32_t depth = argument(count, words, 1), trips_wanted = argument(count, words, 2), sum = 0;
    if (depth == 0) fail("a depth is at least 1");
    fiber_t fiber = spawn_sized(begin, depth * BYTES + SPARE);
    resume(fiber, depth);
    MEASURE(kernel_depth(fiber, trips_wanted, &sum));
    mix(conclude(fiber, 0));
    mix(sum);
    return finish();
}
