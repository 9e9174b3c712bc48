/* sieve as state machines. */
#include "../fibers.h"

typedef struct {
    machine_t machine;
    uint32_t prime;
} filter_t;

static uint32_t filter(machine_t *machine, uint32_t in) {
    filter_t *self = (filter_t *)machine;
    switch (self->machine.at) {
    case AT_START: self->prime = in; self->machine.at = 1; return 0;
    case 1:
        if (in != 0) return in % self->prime == 0;
        self->machine.at = AT_END;
        return 0;
    default: fail("resumed at its end");
    }
}

KERNEL kernel_sieve(uint32_t count, machine_t **filters, uint32_t *primes) {
    machine_t *pool = NULL;
    uint32_t found = 0;
    for (uint32_t candidate = 2; found < count; candidate++) {
        bool divides = false;
        for (uint32_t i = 0; i < found && !divides; i++) divides = resume(filters[i], candidate);
        if (divides) continue;
        primes[found] = candidate;
        filters[found] = new_machine(&pool, sizeof(filter_t), filter);
        resume(filters[found++], candidate);
    }
    for (uint32_t i = 0; i < count; i++) {
        resume(filters[i], 0);
        free_machine(&pool, filters[i]);
    }
}

int main(int count, char **words) {
    uint32_t wanted = argument(count, words, 1);
    NEW_1D(machine_t *, filters, wanted);
    NEW_1D(uint32_t, primes, wanted);
    MEASURE(kernel_sieve(wanted, filters, primes));
    for (uint32_t i = 0; i < wanted; i++) mix(primes[i]);
    return finish();
}
