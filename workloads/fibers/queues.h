/* A scheduler's queues: rings of tasks, served in turn. A task says which queue it goes on in;
 * an empty queue takes the oldest task of the longest of its neighbours. */
#ifndef FATHOM_QUEUES_H
#define FATHOM_QUEUES_H

#include "fibers.h"

enum { QUEUES = 64, TASKS = 4096, NEIGHBOURS = 4 };

typedef struct {
    uint16_t ring[TASKS];
    uint32_t first, length;
} queue_t;

static queue_t queues[QUEUES];

static inline void enqueue(uint32_t queue, uint32_t task) {
    queue_t *to = &queues[queue % QUEUES];
    to->ring[(to->first + to->length++) % TASKS] = (uint16_t)task;
}

static inline uint32_t dequeue(queue_t *from) {
    uint32_t task = from->ring[from->first];
    from->first = (from->first + 1) % TASKS;
    from->length--;
    return task;
}

/* The next task for a queue, its own or a neighbour's; TASKS where there is none near. */
static inline uint32_t next_task(uint32_t queue) {
    if (queues[queue].length > 0) return dequeue(&queues[queue]);
    queue_t *longest = &queues[queue];
    for (uint32_t i = 1; i <= NEIGHBOURS; i++) {
        queue_t *other = &queues[(queue + i) % QUEUES];
        if (other->length > longest->length) longest = other;
    }
    return longest->length > 0 ? dequeue(longest) : TASKS;
}

#endif
