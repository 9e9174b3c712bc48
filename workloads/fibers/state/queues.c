/* queues as state machines. */
#include "../queues.h"

typedef struct {
    machine_t machine;
    uint32_t state, sum, turn;
} task_t;

static uint32_t turns;

static uint32_t task(machine_t *machine, uint32_t in) {
    task_t *self = (task_t *)machine;
    switch (self->machine.at) {
    case AT_START:
        self->state = in * 2654435761u | 1;
        self->sum = self->turn = 0;
        self->machine.at = 1;
        break;
    case 1:
        self->sum = self->sum * 31 + in;
        self->turn++;
        break;
    default: fail("resumed at its end");
    }
    if (self->turn < turns) return chance(&self->state) >> 8;
    self->machine.at = AT_END;
    return self->sum;
}

KERNEL kernel_queues(machine_t *machines[TASKS], uint32_t *sum) {
    machine_t *pool = NULL;
    uint32_t left = TASKS;
    for (uint32_t i = 0; i < TASKS; i++) {
        machines[i] = new_machine(&pool, sizeof(task_t), task);
        enqueue(resume(machines[i], i), i);
    }
    for (uint32_t queue = 0; left > 0; queue = (queue + 1) % QUEUES) {
        uint32_t task = next_task(queue);
        if (task == TASKS) continue;
        uint32_t out = resume(machines[task], queue);
        if (machines[task]->at != AT_END) {
            enqueue(out, task);
            continue;
        }
        *sum = *sum * 31 + out;
        free_machine(&pool, machines[task]);
        left--;
    }
}

int main(int count, char **words) {
    uint32_t sum = 0;
    NEW_1D(machine_t *, machines, TASKS);
    turns = argument(count, words, 1);
    MEASURE(kernel_queues(machines, &sum));
    mix(sum);
    return finish();
}
