/* live as state machines. */
#include "../fibers.h"

typedef struct {
    machine_t machine;
    uint32_t sum;
} sum_t;

static uint32_t step(machine_t *machine, uint32_t in) {
    sum_t *self = (sum_t *)machine;
    switch (self->machine.at) {
    case AT_START: self->machine.at = 1; return self->sum = in;
    case 1:
        if (in == 0) self->machine.at = AT_END;
        else self->sum = self->sum * 31 + in;
        return self->sum;
    default: fail("resumed at its end");
    }
}

KERNEL kernel_live(machine_t **machines, uint32_t live, uint32_t rounds, uint32_t *sum) {
    for (uint32_t round = 1; round <= rounds; round++)
        for (uint32_t i = 0; i < live; i++) *sum += resume(machines[i], round);
}

int main(int count, char **words) {
    uint32_t live = argument(count, words, 1), trips_wanted = argument(count, words, 2), sum = 0;
    if (live == 0) fail("a number of fibers is at least 1");
    NEW_1D(machine_t *, machines, live);
    machine_t *pool = NULL;
    for (uint32_t i = 0; i < live; i++) {
        machines[i] = new_machine(&pool, sizeof(sum_t), step);
        resume(machines[i], i);
    }
    MEASURE(kernel_live(machines, live, trips_wanted / live, &sum));
    for (uint32_t i = 0; i < live; i++) {
        sum = sum * 31 + resume(machines[i], 0);
        free_machine(&pool, machines[i]);
    }
    mix(sum);
    return finish();
}
