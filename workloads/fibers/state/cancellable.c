/* cancellable as state machines, a machine for each call. */
#include "../fibers.h"

enum { AT_ONCE = 64, DEPTH = 5 };

typedef struct call {
    machine_t machine;
    struct call *caller;
    uint32_t depth, number;
} call_t;

static machine_t *pool;

static uint32_t wait(machine_t *machine, uint32_t in);

static call_t *called(call_t *caller, uint32_t depth, uint32_t number) {
    call_t *callee = new_machine(&pool, sizeof *callee, wait);
    callee->caller = caller;
    callee->depth = depth;
    callee->number = number;
    return callee;
}

static call_t *innermost;

static uint32_t wait(machine_t *machine, uint32_t in) {
    call_t *self = (call_t *)machine;
    switch (self->machine.at) {
    case AT_START:
        self->machine.at = 1;
        if (self->depth == 0) {
            innermost = self;
            return self->number;
        }
        return wait(&called(self, self->depth - 1, self->number + self->depth)->machine, 0);
    case 1: {
        call_t *caller = self->caller;
        uint32_t result = self->depth == 0 ? in : in * 3 + self->depth;
        free_machine(&pool, &self->machine);
        return caller == NULL ? result : caller->machine.step(&caller->machine, result);
    }
    default: fail("resumed at its end");
    }
}

static void cancel(call_t *call) {
    while (call != NULL) {
        call_t *caller = call->caller;
        free_machine(&pool, &call->machine);
        call = caller;
    }
}

KERNEL kernel_cancellable(uint32_t groups, uint32_t *sum) {
    call_t *waiting[AT_ONCE];
    for (uint32_t group = 0; group < groups; group++) {
        for (uint32_t i = 0; i < AT_ONCE; i++) {
            *sum = *sum * 31 + resume(&called(NULL, DEPTH, group + i)->machine, 0);
            waiting[i] = innermost;
        }
        for (uint32_t i = 0; i < AT_ONCE; i++) {
            if (i % 2 == 0) cancel(waiting[i]);
            else *sum = *sum * 31 + resume(&waiting[i]->machine, i);
        }
    }
}

int main(int count, char **words) {
    uint32_t sum = 0;
    MEASURE(kernel_cancellable(argument(count, words, 1), &sum));
    mix(sum);
    return finish();
}
