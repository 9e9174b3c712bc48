/* generator as a state machine. */
#include "../fibers.h"

typedef struct {
    machine_t machine;
    uint32_t at, until;
} numbers_t;

static uint32_t numbers(machine_t *machine, uint32_t in) {
    numbers_t *self = (numbers_t *)machine;
    switch (self->machine.at) {
    case AT_START: self->at = 0; self->until = in; self->machine.at = 1; break;
    case 1: self->at++; break;
    default: fail("resumed at its end");
    }
    if (self->at < self->until) return self->at * self->at;
    self->machine.at = AT_END;
    return 0;
}

KERNEL kernel_generator(uint32_t count, uint32_t *sum) {
    machine_t *pool = NULL, *machine = new_machine(&pool, sizeof(numbers_t), numbers);
    for (uint32_t out; out = resume(machine, count), machine->at != AT_END;) *sum = *sum * 31 + out;
    free_machine(&pool, machine);
}

int main(int count, char **words) {
    uint32_t numbers = argument(count, words, 1), sum = 0;
    MEASURE(kernel_generator(numbers, &sum));
    mix(sum);
    return finish();
}
