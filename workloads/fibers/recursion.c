/* recursion: a function that calls itself twice and yields where it ends, as Fibonacci's
 * numbers are defined: many calls for a yield, at all depths (the second of Kotlin's five
 * patterns). */
#include "fibers.h"

static uint32_t fib(uint32_t n) { return n < 2 ? yield(n) : fib(n - 1) + fib(n - 2); }

static void *begin(void *n) { return value(fib(word(n))); }

KERNEL kernel_recursion(uint32_t n, uint32_t *result) {
    fiber_t fiber = spawn(begin);
    for (uint32_t in = n; advance(fiber, in, result); in = *result) {}
    fiber_free(fiber);
}

int main(int count, char **words) {
    uint32_t result = 0;
    MEASURE(kernel_recursion(argument(count, words, 1), &result));
    mix(result);
    return finish();
}
