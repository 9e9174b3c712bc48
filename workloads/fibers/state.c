/* state: a count that its fiber does not keep itself: it asks for it and gives it back, three
 * times over for each step, as a handler of effects would have it. */
#include "fibers.h"

static const uint32_t GET = 0, PUT_FLAG = 1u << 31;

static uint32_t get(void) { return yield(GET); }

static void put(uint32_t count) { yield(count | PUT_FLAG); }

static void *steps(void *until) {
    while (get() < word(until)) put(get() + 1);
    return value(get());
}

KERNEL kernel_state(uint32_t until, uint32_t *kept) {
    fiber_t fiber = spawn(steps);
    uint32_t count = 0, in = until, out;
    while (advance(fiber, in, &out)) {
        if (out & PUT_FLAG) count = out & ~PUT_FLAG;
        in = count;
    }
    fiber_free(fiber);
    *kept = out;
}

int main(int count, char **words) {
    uint32_t kept = 0;
    MEASURE(kernel_state(argument(count, words, 1), &kept));
    mix(kept);
    return finish();
}
