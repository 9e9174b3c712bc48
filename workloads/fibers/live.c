/* live: round trips to so many fibers in turn, all of them suspended. */
#include "fibers.h"

enum { STACK_BYTES = 512 };

static void *begin(void *number) {
    uint32_t sum = word(number);
    for (uint32_t in; (in = yield(sum)) != 0;) sum = sum * 31 + in;
    return value(sum);
}

KERNEL kernel_live(fiber_t *fibers, uint32_t live, uint32_t rounds, uint32_t *sum) {
    for (uint32_t round = 1; round <= rounds; round++)
        for (uint32_t i = 0; i < live; i++) *sum += resume(fibers[i], round);
}

int main(int count, char **words) {
    uint32_t live = argument(count, words, 1), trips_wanted = argument(count, words, 2), sum = 0;
    if (live == 0) fail("a number of fibers is at least 1");
    NEW_1D(fiber_t, fibers, live);
    for (uint32_t i = 0; i < live; i++) {
        fibers[i] = spawn_sized(begin, STACK_BYTES);
        resume(fibers[i], i);
    }
    MEASURE(kernel_live(fibers, live, trips_wanted / live, &sum));
    for (uint32_t i = 0; i < live; i++) sum = sum * 31 + conclude(fibers[i], 0);
    mix(sum);
    return finish();
}
