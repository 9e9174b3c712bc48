/* iteration as state machines. */
#include "../fibers.h"

typedef struct {
    machine_t machine;
    machine_t *source;
    uint32_t number, until;
} stage_t;

static machine_t *pool;

static machine_t *stage(step_t step) { return new_machine(&pool, sizeof(stage_t), step); }

static uint32_t over(stage_t *self) {
    if (self->source != NULL) free_machine(&pool, self->source);
    self->machine.at = AT_END;
    return 0;
}

static uint32_t numbers(machine_t *machine, uint32_t in) {
    stage_t *self = (stage_t *)machine;
    switch (self->machine.at) {
    case AT_START: self->source = NULL; self->number = 1; self->until = in; self->machine.at = 1; break;
    case 1: self->number++; break;
    default: fail("resumed at its end");
    }
    return self->number <= self->until ? self->number : over(self);
}

/* Begins the stage that it asks, the first time. */
static void ask(stage_t *self, step_t of, uint32_t in) {
    if (self->machine.at == AT_END) fail("resumed at its end");
    if (self->machine.at == 1) return;
    self->source = stage(of);
    self->until = in;
    self->machine.at = 1;
}

static uint32_t chosen(machine_t *machine, uint32_t in) {
    stage_t *self = (stage_t *)machine;
    ask(self, numbers, in);
    for (;;) {
        uint32_t out = resume(self->source, self->until);
        if (self->source->at == AT_END) return over(self);
        if (out % 3 != 0) return out;
    }
}

static uint32_t squares(machine_t *machine, uint32_t in) {
    stage_t *self = (stage_t *)machine;
    ask(self, chosen, in);
    uint32_t out = resume(self->source, self->until);
    return self->source->at == AT_END ? over(self) : out * out;
}

KERNEL kernel_iteration(uint32_t count, uint32_t *sum) {
    machine_t *source = stage(squares);
    for (uint32_t out; out = resume(source, count), source->at != AT_END;) *sum = *sum * 31 + out;
    free_machine(&pool, source);
}

int main(int count, char **words) {
    uint32_t sum = 0;
    MEASURE(kernel_iteration(argument(count, words, 1), &sum));
    mix(sum);
    return finish();
}
