/* c10m as state machines. */
#include "../c10m.h"

typedef struct {
    machine_t machine;
    uint32_t connection;
} worker_t;

static uint32_t worker(machine_t *machine, uint32_t in) {
    worker_t *self = (worker_t *)machine;
    switch (self->machine.at) {
    case AT_START:
        self->connection = in;
        self->machine.at = 1;
        return 1;
    case 1: self->machine.at = AT_END; return self->connection + in;
    default: fail("resumed at its end");
    }
}

static machine_t *pool;

static machine_t *spawn(void) { return new_machine(&pool, sizeof(worker_t), worker); }

static uint32_t conclude(machine_t *machine, uint32_t in) {
    uint32_t out = resume(machine, in);
    free_machine(&pool, machine);
    return out;
}

KERNEL kernel_c10m(uint32_t total, machine_t **window, uint32_t *sum) {
    for (uint32_t i = 0; i < WINDOW; i++) window[i] = spawn();
    for (uint32_t i = 0; i < total; i++) {
        uint32_t place = i % WINDOW;
        *sum += resume(window[place], i);
        *sum += conclude(window[place], 2);
        window[place] = spawn();
    }
    for (uint32_t i = 0; i < WINDOW; i++) {
        *sum += resume(window[i], i);
        *sum += conclude(window[i], 3);
    }
}

int main(int count, char **words) {
    uint32_t total = argument(count, words, 1), sum = 0;
    NEW_1D(machine_t *, window, WINDOW);
    MEASURE(kernel_c10m(total, window, &sum));
    mix(sum);
    return finish();
}
