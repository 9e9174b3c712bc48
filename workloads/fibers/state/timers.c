/* timers as state machines. */
#include "../timers.h"

enum { FIRST = 1, SECOND };

typedef struct {
    machine_t machine;
    uint32_t state, sum, turn;
} task_t;

static uint32_t turns;

static uint32_t producer(machine_t *machine, uint32_t in) {
    task_t *self = (task_t *)machine;
    switch (self->machine.at) {
    case AT_START:
        self->state = seed_of(in);
        self->sum = self->turn = 0;
        break;
    case FIRST:
        self->sum = self->sum * 31 + in;
        self->machine.at = SECOND;
        return something(&self->state);
    case SECOND:
        if (++self->turn < turns) break;
        self->machine.at = AT_END;
        return self->sum;
    default: fail("resumed at its end");
    }
    self->machine.at = FIRST;
    return some_time(&self->state);
}

static uint32_t consumer(machine_t *machine, uint32_t in) {
    task_t *self = (task_t *)machine;
    switch (self->machine.at) {
    case AT_START:
        self->state = seed_of(in);
        self->sum = self->turn = 0;
        break;
    case FIRST:
        self->sum = self->sum * 31 + in;
        self->machine.at = SECOND;
        return some_time(&self->state);
    case SECOND:
        if (++self->turn < turns) break;
        self->machine.at = AT_END;
        return self->sum;
    default: fail("resumed at its end");
    }
    self->machine.at = FIRST;
    return request(TAKE, 0);
}

KERNEL kernel_timers(machine_t *tasks[TASKS], uint32_t *sum) {
    machine_t *pool = NULL;
    for (uint32_t task = 0; task < TASKS; task++) {
        tasks[task] = new_machine(&pool, sizeof(task_t), is_producer(task) ? producer : consumer);
        block(task, resume(tasks[task], task));
    }
    for (uint32_t left = TASKS; left > 0;) {
        uint32_t task = next_ready(), out = resume(tasks[task], value_of[task]);
        if (tasks[task]->at != AT_END) {
            block(task, out);
            continue;
        }
        *sum = *sum * 31 + out;
        free_machine(&pool, tasks[task]);
        left--;
    }
}

int main(int count, char **words) {
    uint32_t sum = 0;
    NEW_1D(machine_t *, tasks, TASKS);
    turns = argument(count, words, 1);
    if (turns == 0) fail("no turns");
    MEASURE(kernel_timers(tasks, &sum));
    mix(sum);
    return finish();
}
