/* depth as state machines: the innermost is resumed, however many wait for it. */
#include "../fibers.h"

typedef struct call {
    machine_t machine;
    struct call *caller;
    uint32_t left, sum;
} call_t;

static machine_t *pool;
static call_t *innermost;

static call_t *called(call_t *caller, uint32_t left, step_t step) {
    call_t *callee = new_machine(&pool, sizeof *callee, step);
    callee->caller = caller;
    callee->left = left;
    return callee;
}

static uint32_t give(call_t *self, uint32_t result) {
    call_t *caller = self->caller;
    free_machine(&pool, &self->machine);
    innermost = caller;
    return caller == NULL ? result : caller->machine.step(&caller->machine, result);
}

static uint32_t bottom(machine_t *machine, uint32_t in) {
    call_t *self = (call_t *)machine;
    if (self->machine.at == AT_START) {
        innermost = self;
        self->machine.at = 1;
        self->sum = in;
    } else if (in == 0) {
        return give(self, self->sum);
    } else {
        self->sum = self->sum * 31 + in;
    }
    return self->sum;
}

static uint32_t descend(machine_t *machine, uint32_t in) {
    call_t *self = (call_t *)machine;
    if (self->machine.at == AT_START) {
        self->machine.at = 1;
        step_t step = self->left == 0 ? bottom : descend;
        return step(&called(self, self->left - 1, step)->machine, in);
    }
    return give(self, self->left == 0 ? in : in * 3 + self->left);
}

KERNEL kernel_depth(uint32_t trips_wanted, uint32_t *sum) {
    for (uint32_t in = 1; in <= trips_wanted; in++) *sum = *sum * 31 + resume(&innermost->machine, in);
}

int main(int count, char **words) {
    uint32_t depth = argument(count, words, 1), trips_wanted = argument(count, words, 2), sum = 0;
    if (depth == 0) fail("a depth is at least 1");
    resume(&called(NULL, depth - 1, descend)->machine, depth);
    MEASURE(kernel_depth(trips_wanted, &sum));
    mix(resume(&innermost->machine, 0));
    mix(sum);
    return finish();
}
