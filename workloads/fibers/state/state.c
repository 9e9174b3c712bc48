/* state as a state machine. */
#include "../fibers.h"

static const uint32_t GET = 0, PUT_FLAG = 1u << 31;

typedef struct {
    machine_t machine;
    uint32_t until;
} steps_t;

static uint32_t steps(machine_t *machine, uint32_t in) {
    steps_t *self = (steps_t *)machine;
    switch (self->machine.at) {
    case AT_START: self->until = in; self->machine.at = 1; return GET;
    case 1: self->machine.at = in < self->until ? 2 : 4; return GET;
    case 2: self->machine.at = 3; return (in + 1) | PUT_FLAG;
    case 3: self->machine.at = 1; return GET;
    case 4: self->machine.at = AT_END; return in;
    default: fail("resumed at its end");
    }
}

KERNEL kernel_state(uint32_t until, uint32_t *kept) {
    machine_t *pool = NULL, *machine = new_machine(&pool, sizeof(steps_t), steps);
    uint32_t count = 0, in = until, out;
    while (out = resume(machine, in), machine->at != AT_END) {
        if (out & PUT_FLAG) count = out & ~PUT_FLAG;
        in = count;
    }
    free_machine(&pool, machine);
    *kept = out;
}

int main(int count, char **words) {
    uint32_t kept = 0;
    MEASURE(kernel_state(argument(count, words, 1), &kept));
    mix(kept);
    return finish();
}
