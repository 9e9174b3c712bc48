/* generator: a fiber that yields one number after another, added up. */
#include "fibers.h"

static void *numbers(void *until) {
    for (uint32_t i = 0; i < word(until); i++) yield(i * i);
    return NULL;
}

KERNEL kernel_generator(uint32_t count, uint32_t *sum) {
    fiber_t fiber = spawn(numbers);
    for (uint32_t out; advance(fiber, count, &out);) *sum = *sum * 31 + out;
    fiber_free(fiber);
}

int main(int count, char **words) {
    uint32_t numbers = argument(count, words, 1), sum = 0;
    MEASURE(kernel_generator(numbers, &sum));
    mix(sum);
    return finish();
}
