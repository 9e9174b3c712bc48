/* skynet as state machines: a machine that waits for nobody runs to its end at once. */
#include "../fibers.h"

enum { CHILDREN = 10, LEVEL_SHIFT = 24, NUMBER_MASK = (1 << LEVEL_SHIFT) - 1 };

static machine_t *pool;

static uint32_t node(machine_t *self, uint32_t place);

static uint32_t below(uint32_t level, uint32_t number) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < CHILDREN; i++) {
        machine_t *child = new_machine(&pool, sizeof(machine_t), node);
        sum += resume(child, (level - 1) << LEVEL_SHIFT | (number * CHILDREN + i));
        resume(child, 0);
        free_machine(&pool, child);
    }
    return sum;
}

static uint32_t node(machine_t *self, uint32_t place) {
    uint32_t level = place >> LEVEL_SHIFT, number = place & NUMBER_MASK;
    switch (self->at) {
    case AT_START: self->at = 1; return level == 0 ? number : below(level, number);
    case 1: self->at = AT_END; return 0;
    default: fail("resumed at its end");
    }
}

KERNEL kernel_skynet(uint32_t levels, uint32_t *sum) { *sum = below(levels, 0); }

int main(int count, char **words) {
    uint32_t levels = argument(count, words, 1), sum = 0;
    MEASURE(kernel_skynet(levels, &sum));
    mix(sum);
    return finish();
}
