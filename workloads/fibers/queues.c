/* queues: a scheduler of 4,096 fibers in 64 queues. Each fiber yields where it wants to go on;
 * queues that are empty take from others. */
#include "queues.h"

static uint32_t turns;

static void *task(void *number) {
    uint32_t state = word(number) * 2654435761u | 1, sum = 0;
    for (uint32_t turn = 0; turn < turns; turn++) sum = sum * 31 + yield(chance(&state) >> 8);
    return value(sum);
}

KERNEL kernel_queues(fiber_t fibers[TASKS], uint32_t *sum) {
    uint32_t left = TASKS;
    for (uint32_t i = 0; i < TASKS; i++) {
        fibers[i] = spawn(task);
        enqueue(resume(fibers[i], i), i);
    }
    for (uint32_t queue = 0; left > 0; queue = (queue + 1) % QUEUES) {
        uint32_t task = next_task(queue), out;
        if (task == TASKS) continue;
        if (advance(fibers[task], queue, &out)) {
            enqueue(out, task);
            continue;
        }
        *sum = *sum * 31 + out;
        fiber_free(fibers[task]);
        left--;
    }
}

int main(int count, char **words) {
    uint32_t sum = 0;
    NEW_1D(fiber_t, fibers, TASKS);
    turns = argument(count, words, 1);
    MEASURE(kernel_queues(fibers, &sum));
    mix(sum);
    return finish();
}
