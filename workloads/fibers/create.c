/* create: fibers that are made, run to their end without yielding, and freed, one after the
 * other (the fourth of Kotlin's five patterns). */
#include "fibers.h"

static void *trivial(void *number) { return value(word(number) * 3 + 1); }

KERNEL kernel_create(uint32_t count, uint32_t *sum) {
    for (uint32_t i = 0; i < count; i++) *sum = *sum * 31 + conclude(spawn(trivial), i);
}

int main(int count, char **words) {
    uint32_t sum = 0;
    MEASURE(kernel_create(argument(count, words, 1), &sum));
    mix(sum);
    return finish();
}
