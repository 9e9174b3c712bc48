/* c10m: ten million connections in a window of 10,000, each yielding once (the talk's; its
 * worker touches its stack). Three programs and their state machines, which differ in
 * what they define before this:
 *
 *     c10m                  each is begun, gone on with and ended before the next
 *     c10m-io    C10M_IO    the same with an I/O call: a byte to standard output
 *     c10m-live  C10M_LIVE  each is begun a whole window before it is gone on with */
#ifndef FATHOM_C10M_H
#define FATHOM_C10M_H

#include "fibers.h"

enum { WINDOW = 10000 };

/* What a connection begins with, and what the program ends with. */
#ifdef C10M_IO
static inline void greet(uint32_t connection) {
    char text = (char)('a' + connection % 26);
    if (write(STDOUT_FILENO, &text, 1) != 1) fail("standard output is closed");
}

static inline void leave(void) { print("\n"); }
#else
static inline void greet(uint32_t connection) { (void)connection; }

static inline void leave(void) {}
#endif

#ifndef FATHOM_STATE
typedef fiber_t connection_t;

static void *worker(void *number) {
    greet(word(number));
    return value(word(number) + yield(1));
}

static inline connection_t connection(void) { return spawn(worker); }
#else
typedef machine_t *connection_t;

typedef struct {
    machine_t machine;
    uint32_t number;
} worker_t;

static uint32_t worker(machine_t *machine, uint32_t in) {
    worker_t *self = (worker_t *)machine;
    switch (self->machine.at) {
    case AT_START:
        greet(in);
        self->number = in;
        self->machine.at = 1;
        return 1;
    case 1: self->machine.at = AT_END; return self->number + in;
    default: fail("resumed at its end");
    }
}

static machine_t *pool;

static connection_t connection(void) { return new_machine(&pool, sizeof(worker_t), worker); }

static uint32_t conclude(machine_t *machine, uint32_t in) {
    uint32_t out = resume(machine, in);
    free_machine(&pool, machine);
    return out;
}
#endif

#ifdef C10M_LIVE
KERNEL kernel_c10m(uint32_t total, connection_t *window, uint32_t *sum) {
    for (uint32_t i = 0; i < WINDOW; i++) {
        window[i] = connection();
        *sum += resume(window[i], i);
    }
    for (uint32_t i = 0; i < total; i++) {
        uint32_t place = i % WINDOW;
        *sum += conclude(window[place], 2);
        window[place] = connection();
        *sum += resume(window[place], i);
    }
    for (uint32_t i = 0; i < WINDOW; i++) *sum += conclude(window[i], 3);
}
#else
KERNEL kernel_c10m(uint32_t total, connection_t *window, uint32_t *sum) {
    for (uint32_t i = 0; i < WINDOW; i++) window[i] = connection();
    for (uint32_t i = 0; i < total; i++) {
        uint32_t place = i % WINDOW;
        *sum += resume(window[place], i);
        *sum += conclude(window[place], 2);
        window[place] = connection();
    }
    for (uint32_t i = 0; i < WINDOW; i++) {
        *sum += resume(window[i], i);
        *sum += conclude(window[i], 3);
    }
}
#endif

int main(int count, char **words) {
    uint32_t total = argument(count, words, 1), sum = 0;
    NEW_1D(connection_t, window, WINDOW);
    MEASURE(kernel_c10m(total, window, &sum));
    leave();
    mix(sum);
    return finish();
}

#endif
