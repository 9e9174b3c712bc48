/* iteration: a chain of generators, each asking the one before it: numbers, those that are
 * not divisible by three, their squares (the first of Kotlin's five patterns). */
#include "fibers.h"

static void *numbers(void *until) {
    for (uint32_t i = 1; i <= word(until); i++) yield(i);
    return NULL;
}

static void *chosen(void *until) {
    fiber_t source = spawn(numbers);
    for (uint32_t out; advance(source, word(until), &out);)
        if (out % 3 != 0) yield(out);
    fiber_free(source);
    return NULL;
}

static void *squares(void *until) {
    fiber_t source = spawn(chosen);
    for (uint32_t out; advance(source, word(until), &out);) yield(out * out);
    fiber_free(source);
    return NULL;
}

KERNEL kernel_iteration(uint32_t count, uint32_t *sum) {
    fiber_t source = spawn(squares);
    for (uint32_t out; advance(source, count, &out);) *sum = *sum * 31 + out;
    fiber_free(source);
}

int main(int count, char **words) {
    uint32_t sum = 0;
    MEASURE(kernel_iteration(argument(count, words, 1), &sum));
    mix(sum);
    return finish();
}
