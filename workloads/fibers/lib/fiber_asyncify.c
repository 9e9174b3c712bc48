/* Fibers by Asyncify: a yield returns from every function up to `fiber_resume`, each of
 * which writes down where it was and its locals; a resumption calls them all again.
 *
 * `wasm-opt --asyncify` makes functions such, the callers of `fiber_yield` and whoever may
 * be among them. It leaves those alone that call its four functions, which are these:
 *
 *     fiber_resume   stop_unwind, start_rewind     the outermost
 *     fiber_yield    start_unwind, stop_rewind     the innermost
 *
 *      |<- stack_bytes ->|<- struct fiber ->|<- stack_bytes ->|
 *      |      C's stack ◀|                  |▶ Asyncify's     |
 *
 * What is touched of a fiber that goes no deeper is in one place: the end of its stack,
 * itself, the first frames.
 *
 * What must stay true: neither is inlined before the pass has run; C's stack pointer is
 * where it was at the yield whenever frames are called again, since they do not move it. */
#include "pool.h"

#define ASYNCIFY(name) __attribute__((import_module("asyncify"), import_name(name)))
ASYNCIFY("start_unwind") void asyncify_start_unwind(void *frames);
ASYNCIFY("stop_unwind") void asyncify_stop_unwind(void);
ASYNCIFY("start_rewind") void asyncify_start_rewind(void *frames);
ASYNCIFY("stop_rewind") void asyncify_stop_rewind(void);

/* What Asyncify reads and writes: where the next frame goes, and where frames end. */
struct fiber_frames {
    char *at, *end;
};

struct fiber {
    struct fiber_frames frames;
    int state;
    char *stack;  /* C's stack pointer while it does not run */
    void *value;  /* on its way in or out */
    fiber_entry_point_t entry;
    struct fiber_pool *pool;
    fiber_t next;  /* of the free ones */
} __attribute__((aligned(FIBER_ALIGNMENT)));

static fiber_t fiber_current;

/* Makes a chunk of free blocks, as much for frames as for the stack. */
__attribute__((noinline, cold)) static int fiber_grow_pool(struct fiber_pool *pool) {
    size_t block = FIBER_ALIGNED(2 * pool->stack_bytes + sizeof(struct fiber));
    char *chunk = aligned_alloc(FIBER_ALIGNMENT, block * FIBER_CHUNK);
    if (chunk == NULL) return 0;
    for (int i = FIBER_CHUNK - 1; i >= 0; i--) {
        fiber_t fiber = (fiber_t)(chunk + i * block + pool->stack_bytes);
        fiber->frames.end = (char *)(fiber + 1) + pool->stack_bytes;
        fiber->pool = pool;
        fiber->next = pool->free;
        pool->free = fiber;
    }
    return 1;
}

static inline fiber_t fiber_of(struct fiber_pool *pool, fiber_entry_point_t entry) {
    if (pool == NULL || (pool->free == NULL && !fiber_grow_pool(pool))) return NULL;
    fiber_t fiber = pool->free;
    pool->free = fiber->next;
    fiber->frames.at = (char *)(fiber + 1);
    fiber->state = FIBER_NEW;
    fiber->stack = (char *)fiber;
    fiber->entry = entry;
    return fiber;
}

fiber_t fiber_alloc(fiber_entry_point_t entry) { return fiber_of(&fiber_usual_pool, entry); }

fiber_t fiber_alloc_sized(fiber_entry_point_t entry, size_t stack_bytes) {
    return fiber_of(fiber_pool_of(stack_bytes), entry);
}

void fiber_free(fiber_t fiber) {
    if (fiber == NULL) return;
    if (fiber->state == FIBER_RUNNING) __builtin_trap();
    fiber->next = fiber->pool->free;
    fiber->pool->free = fiber;
}

void fiber_cancel(fiber_t fiber) {
    if (fiber->state != FIBER_RUNNING) fiber->state = FIBER_FINISHED;
}

__attribute__((noinline)) void *fiber_yield(void *arg) {
    fiber_t self = fiber_current;
    if (self == NULL) __builtin_trap();
    if (self->state == FIBER_SUSPENDED) {
        asyncify_stop_rewind();
        self->state = FIBER_RUNNING;
        return self->value;
    }
    self->value = arg;
    self->stack = fiber_stack_pointer();
    self->state = FIBER_SUSPENDED;
    asyncify_start_unwind(&self->frames);
    return NULL;
}

__attribute__((noinline)) void *fiber_resume(fiber_t fiber, void *arg, fiber_result_t *result) {
    if (!fiber_can_go_on(fiber->state)) {
        *result = FIBER_ERROR;
        return NULL;
    }
    fiber_t resumer = fiber_current;
    void *stack = fiber_stack_pointer();
    fiber_current = fiber;
    fiber_set_stack_pointer(fiber->stack);
    if (fiber->state == FIBER_NEW) {
        fiber->state = FIBER_RUNNING;
    } else {
        fiber->value = arg;
        asyncify_start_rewind(&fiber->frames);
    }
    void *value = fiber->entry(arg);
    if (fiber->state == FIBER_SUSPENDED) {
        asyncify_stop_unwind();
        *result = FIBER_YIELD;
        value = fiber->value;
    } else {
        fiber->state = FIBER_FINISHED;
        *result = FIBER_OK;
    }
    fiber_set_stack_pointer(stack);
    fiber_current = resumer;
    return value;
}
