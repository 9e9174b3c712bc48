/* A scheduler of tasks that block: for a time, while a queue is empty, or while it is full. A
 * task says what it asks for and is gone on with when it has that; first come, first served.
 * Time is counted, not waited for: when nobody can go on it is the next time of the wheel. */
#ifndef FATHOM_TIMERS_H
#define FATHOM_TIMERS_H

#include "fibers.h"

/* Half of the tasks put into the queue what the others take out of it. */
enum { TASKS = 1000, WHEEL = 256, CAPACITY = 16 };
enum { SLEEP, PUT, TAKE, KINDS };

/* Tasks in the order in which they came, each plus one. */
typedef struct {
    uint32_t first, last;
} list_t;

static list_t ready, takers, putters, wheel[WHEEL];
static uint32_t next_of[TASKS], value_of[TASKS], queue[CAPACITY], oldest, length, now, asleep;

static inline bool is_empty(const list_t *list) { return list->first == 0; }

static inline void push(list_t *list, uint32_t task) {
    next_of[task] = 0;
    if (is_empty(list)) list->first = task + 1;
    else next_of[list->last - 1] = task + 1;
    list->last = task + 1;
}

static inline uint32_t pop(list_t *list) {
    uint32_t task = list->first - 1;
    list->first = next_of[task];
    return task;
}

/* A task has what it asked for. */
static inline void wake(uint32_t task, uint32_t value) {
    value_of[task] = value;
    push(&ready, task);
}

static inline void enqueue(uint32_t value) { queue[(oldest + length++) % CAPACITY] = value; }

static inline uint32_t dequeue(void) {
    uint32_t value = queue[oldest];
    oldest = (oldest + 1) % CAPACITY;
    length--;
    return value;
}

static inline void put(uint32_t task, uint32_t value) {
    if (length == CAPACITY) {
        value_of[task] = value;
        push(&putters, task);
        return;
    }
    if (is_empty(&takers)) enqueue(value);
    else wake(pop(&takers), value);
    wake(task, 0);
}

static inline void take(uint32_t task) {
    if (length == 0) {
        push(&takers, task);
        return;
    }
    wake(task, dequeue());
    if (is_empty(&putters)) return;
    uint32_t putter = pop(&putters);
    enqueue(value_of[putter]);
    wake(putter, 0);
}

static inline uint32_t request(uint32_t kind, uint32_t about) { return about * KINDS + kind; }

/* What a task asks for. */
static inline void block(uint32_t task, uint32_t request) {
    uint32_t about = request / KINDS;
    switch (request % KINDS) {
    case SLEEP:
        push(&wheel[(now + 1 + about % (WHEEL - 1)) % WHEEL], task);
        asleep++;
        break;
    case PUT: put(task, about); break;
    default: take(task); break;
    }
}

/* The next task that can go on, at whatever time. */
static inline uint32_t next_ready(void) {
    if (is_empty(&ready)) {
        if (asleep == 0) fail("every task waits for another");
        while (is_empty(&wheel[now % WHEEL])) now++;
        for (list_t *due = &wheel[now % WHEEL]; !is_empty(due); asleep--) wake(pop(due), now);
    }
    return pop(&ready);
}

static inline bool is_producer(uint32_t task) { return task % 2 == 0; }

/* The state of a task's pseudo-random numbers. */
static inline uint32_t seed_of(uint32_t task) { return task * 2654435761u | 1; }

static inline uint32_t some_time(uint32_t *state) { return request(SLEEP, chance(state) >> 20); }

static inline uint32_t something(uint32_t *state) { return request(PUT, chance(state) >> 4); }

#endif
