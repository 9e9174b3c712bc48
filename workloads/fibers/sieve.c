/* sieve: the first primes, by filters of which each is a fiber that knows one prime and
 * says whether it divides what it is sent (the talk's, of 8100 primes). */
#include "fibers.h"

static void *filter(void *prime) {
    uint32_t own = word(prime), candidate = yield(0);
    while (candidate != 0) candidate = yield(candidate % own == 0);
    return NULL;
}

KERNEL kernel_sieve(uint32_t count, fiber_t *filters, uint32_t *primes) {
    uint32_t found = 0;
    for (uint32_t candidate = 2; found < count; candidate++) {
        bool divides = false;
        for (uint32_t i = 0; i < found && !divides; i++) divides = resume(filters[i], candidate);
        if (divides) continue;
        primes[found] = candidate;
        filters[found] = spawn(filter);
        resume(filters[found++], candidate);
    }
    for (uint32_t i = 0; i < count; i++) conclude(filters[i], 0);
}

int main(int count, char **words) {
    uint32_t wanted = argument(count, words, 1);
    NEW_1D(fiber_t, filters, wanted);
    NEW_1D(uint32_t, primes, wanted);
    MEASURE(kernel_sieve(wanted, filters, primes));
    for (uint32_t i = 0; i < wanted; i++) mix(primes[i]);
    return finish();
}
