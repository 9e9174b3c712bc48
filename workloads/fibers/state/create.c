/* create as state machines. */
#include "../fibers.h"

static uint32_t trivial(machine_t *self, uint32_t number) {
    if (self->at == AT_END) fail("resumed at its end");
    self->at = AT_END;
    return number * 3 + 1;
}

KERNEL kernel_create(uint32_t count, uint32_t *sum) {
    machine_t *pool = NULL;
    for (uint32_t i = 0; i < count; i++) {
        machine_t *machine = new_machine(&pool, sizeof *machine, trivial);
        *sum = *sum * 31 + resume(machine, i);
        free_machine(&pool, machine);
    }
}

int main(int count, char **words) {
    uint32_t sum = 0;
    MEASURE(kernel_create(argument(count, words, 1), &sum));
    mix(sum);
    return finish();
}
