/* cancellable: fibers that wait five calls deep; every second is cancelled there, and the
 * others are told to go on (the third of Kotlin's five patterns). */
#include "fibers.h"

enum { AT_ONCE = 64, DEPTH = 5 };

static __attribute__((noinline)) uint32_t wait(uint32_t depth, uint32_t number) {
    return depth == 0 ? yield(number) : wait(depth - 1, number + depth) * 3 + depth;
}

static void *waiter(void *number) { return value(wait(DEPTH, word(number))); }

KERNEL kernel_cancellable(uint32_t groups, uint32_t *sum) {
    fiber_t fibers[AT_ONCE];
    for (uint32_t group = 0; group < groups; group++) {
        for (uint32_t i = 0; i < AT_ONCE; i++) {
            fibers[i] = spawn(waiter);
            *sum = *sum * 31 + resume(fibers[i], group + i);
        }
        for (uint32_t i = 0; i < AT_ONCE; i++) {
            if (i % 2 == 0) {
                fiber_cancel(fibers[i]);
                fiber_free(fibers[i]);
            } else {
                *sum = *sum * 31 + conclude(fibers[i], i);
            }
        }
    }
}

int main(int count, char **words) {
    uint32_t sum = 0;
    MEASURE(kernel_cancellable(argument(count, words, 1), &sum));
    mix(sum);
    return finish();
}
