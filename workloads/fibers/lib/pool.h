/* Fibers that are free, by the size of their stacks: used again last in, first out.
 *
 * What must stay true: a fiber has one size for ever. */
#ifndef FIBER_POOL_H
#define FIBER_POOL_H

#include <stdint.h>
#include <stdlib.h>

#include "fiber.h"

enum { FIBER_NEW, FIBER_RUNNING, FIBER_SUSPENDED, FIBER_FINISHED };

/* Whether a fiber of this state is new or suspended: the others are odd. */
static inline int fiber_can_go_on(int state) { return (state & 1) == 0; }

enum { FIBER_CHUNK = 64, FIBER_ALIGNMENT = 64 };

#define FIBER_ALIGNED(bytes) (((bytes) + FIBER_ALIGNMENT - 1) / FIBER_ALIGNMENT * FIBER_ALIGNMENT)

/* The free fibers of one size; sizes are few, so they are a list. */
struct fiber_pool {
    struct fiber_pool *next;
    size_t stack_bytes;
    fiber_t free;
};

/* That of the usual size is known without looking for it. */
static struct fiber_pool fiber_usual_pool = {.stack_bytes = FIBER_ALIGNED(FIBER_STACK_BYTES)};
static struct fiber_pool *fiber_pools = &fiber_usual_pool;

/* C's stack pointer. */
static inline void *fiber_stack_pointer(void) {
    void *pointer;
    __asm__ volatile(".globaltype __stack_pointer, i32\nglobal.get __stack_pointer\nlocal.set %0" : "=r"(pointer));
    return pointer;
}

static inline void fiber_set_stack_pointer(void *pointer) {
    __asm__ volatile(".globaltype __stack_pointer, i32\nlocal.get %0\nglobal.set __stack_pointer" : : "r"(pointer));
}

static struct fiber_pool *fiber_pool_of(size_t stack_bytes) {
    stack_bytes = FIBER_ALIGNED(stack_bytes);
    for (struct fiber_pool *pool = fiber_pools; pool != NULL; pool = pool->next)
        if (pool->stack_bytes == stack_bytes) return pool;
    struct fiber_pool *pool = malloc(sizeof *pool);
    if (pool != NULL) {
        *pool = (struct fiber_pool){fiber_pools, stack_bytes, NULL};
        fiber_pools = pool;
    }
    return pool;
}

#endif
