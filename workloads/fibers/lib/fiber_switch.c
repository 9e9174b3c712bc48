/* Fibers by stack switching: C has no continuations, so they are in a table of a small
 * module, switch.wat, by numbers; `wasm-merge` makes one module of both.
 *
 *     fiber_resume ─▶ fiber.resume ─ resume ─▶ fiber_main ─▶ the entry
 *                                  ◀─ suspend ─ fiber.suspend ◀─ fiber_yield
 *
 * What must stay true: a fiber's number is its place in the table for ever; C's stack
 * pointer is switched with the engine's stack. */
#include "pool.h"

#define FIBER(name) __attribute__((import_module("fiber"), import_name(name)))
FIBER("grow") int fiber_grow(uint32_t count);
FIBER("new") void fiber_new(uint32_t number);
FIBER("resume") void *fiber_enter(void *arg, uint32_t number);
FIBER("suspend") void *fiber_leave(void *arg, uint32_t number);
FIBER("cancel") void fiber_drop(uint32_t number);

struct fiber {
    int state;
    uint32_t number;
    char *stack;  /* C's stack pointer while it does not run */
    fiber_entry_point_t entry;
    struct fiber_pool *pool;
    fiber_t next;  /* of the free ones */
} __attribute__((aligned(FIBER_ALIGNMENT)));

static fiber_t fiber_current;
static uint32_t fiber_places;

/* Makes a chunk of free blocks, and places in the table for them. */
static int fiber_grow_pool(struct fiber_pool *pool) {
    size_t block = pool->stack_bytes + sizeof(struct fiber);
    char *chunk = aligned_alloc(FIBER_ALIGNMENT, block * FIBER_CHUNK);
    if (chunk == NULL) return 0;
    if (!fiber_grow(FIBER_CHUNK)) {
        free(chunk);
        return 0;
    }
    for (int i = FIBER_CHUNK - 1; i >= 0; i--) {
        fiber_t fiber = (fiber_t)(chunk + i * block + pool->stack_bytes);
        fiber->number = fiber_places + (uint32_t)i;
        fiber->pool = pool;
        fiber->next = pool->free;
        pool->free = fiber;
    }
    fiber_places += FIBER_CHUNK;
    return 1;
}

fiber_t fiber_alloc_sized(fiber_entry_point_t entry, size_t stack_bytes) {
    struct fiber_pool *pool = fiber_pool_of((stack_bytes + FIBER_ALIGNMENT - 1) / FIBER_ALIGNMENT * FIBER_ALIGNMENT);
    if (pool == NULL || (pool->free == NULL && !fiber_grow_pool(pool))) return NULL;
    fiber_t fiber = pool->free;
    pool->free = fiber->next;
    fiber->state = FIBER_NEW;
    fiber->stack = (char *)fiber;
    fiber->entry = entry;
    fiber_new(fiber->number);
    return fiber;
}

fiber_t fiber_alloc(fiber_entry_point_t entry) { return fiber_alloc_sized(entry, FIBER_STACK_BYTES); }

void fiber_cancel(fiber_t fiber) {
    if (fiber->state == FIBER_SUSPENDED || fiber->state == FIBER_NEW) {
        fiber_drop(fiber->number);
        fiber->state = FIBER_FINISHED;
    }
}

void fiber_free(fiber_t fiber) {
    if (fiber == NULL) return;
    if (fiber->state == FIBER_RUNNING) __builtin_trap();
    fiber_cancel(fiber);
    fiber->next = fiber->pool->free;
    fiber->pool->free = fiber;
}

/* What every continuation begins with. */
__attribute__((export_name("fiber_main"))) void *fiber_main(void *arg) {
    fiber_t self = fiber_current;
    void *value = self->entry(arg);
    self->state = FIBER_FINISHED;
    return value;
}

void *fiber_yield(void *arg) {
    fiber_t self = fiber_current;
    if (self == NULL) __builtin_trap();
    self->stack = fiber_stack_pointer();
    self->state = FIBER_SUSPENDED;
    return fiber_leave(arg, self->number);
}

void *fiber_resume(fiber_t fiber, void *arg, fiber_result_t *result) {
    if (fiber->state != FIBER_NEW && fiber->state != FIBER_SUSPENDED) {
        *result = FIBER_ERROR;
        return NULL;
    }
    fiber_t resumer = fiber_current;
    void *stack = fiber_stack_pointer();
    fiber_current = fiber;
    fiber->state = FIBER_RUNNING;
    fiber_set_stack_pointer(fiber->stack);
    void *value = fiber_enter(arg, fiber->number);
    fiber_set_stack_pointer(stack);
    fiber_current = resumer;
    *result = fiber->state == FIBER_FINISHED ? FIBER_OK : FIBER_YIELD;
    return value;
}
