/* timers: a thousand fibers that sleep and put into a queue, or take from it and sleep, by a
 * scheduler with a wheel of times. They do nothing else. */
#include "timers.h"

static uint32_t turns;

static void *producer(void *number) {
    uint32_t state = seed_of(word(number)), sum = 0;
    for (uint32_t turn = 0; turn < turns; turn++) {
        sum = sum * 31 + yield(some_time(&state));
        yield(something(&state));
    }
    return value(sum);
}

static void *consumer(void *number) {
    uint32_t state = seed_of(word(number)), sum = 0;
    for (uint32_t turn = 0; turn < turns; turn++) {
        sum = sum * 31 + yield(request(TAKE, 0));
        yield(some_time(&state));
    }
    return value(sum);
}

KERNEL kernel_timers(fiber_t fibers[TASKS], uint32_t *sum) {
    for (uint32_t task = 0; task < TASKS; task++) {
        fibers[task] = spawn(is_producer(task) ? producer : consumer);
        block(task, resume(fibers[task], task));
    }
    for (uint32_t left = TASKS; left > 0;) {
        uint32_t task = next_ready(), out;
        if (advance(fibers[task], value_of[task], &out)) {
            block(task, out);
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
    if (turns == 0) fail("no turns");
    MEASURE(kernel_timers(fibers, &sum));
    mix(sum);
    return finish();
}
