/* Fibers by stack switching: C has no continuations, so they are in a table of a small
 * module, switch.wat, by numbers; `wasm-merge` makes one module of both.
 *
 *     fiber_resume ─▶ fiber.begin ─ cont.new, resume ─▶ the entry
 *                     fiber.resume ─ resume ─▶
 *                                  ◀─ suspend ─ fiber.suspend ◀─ fiber_yield
 *
 *     chunk:  | fiber │ fiber │ … | C's stack ◀ │ C's stack ◀ │ …
 *
 * A fiber has a continuation from its first resumption on, for until then it needs none. A
 * yield writes nothing to memory: C's stack pointer stays in a local of who leaves, on the
 * engine's stack, and who resumed knows how it was come back to. The fibers of a chunk
 * are side by side, for a resumption reads one and most never touch C's stack.
 *
 * What must stay true: a fiber's number is its place in the table for ever; whoever goes
 * on behind a switch gives C's stack pointer back what it was for them, and who lets a fiber
 * begin has given it the fiber's. */
#include "pool.h"

#define FIBER(name) __attribute__((import_module("fiber"), import_name(name)))
FIBER("grow") int fiber_grow(uint32_t count);
/* What comes out, and in the upper half whether that was yielded. */
FIBER("begin") uint64_t fiber_begin(void *arg, uint32_t number, fiber_entry_point_t entry);
FIBER("resume") uint64_t fiber_enter(void *arg, uint32_t number);
FIBER("suspend") void *fiber_leave(void *arg);
FIBER("cancel") void fiber_drop(uint32_t number);

struct fiber {
    int state;
    uint32_t number;
    char *stack;  /* the top of C's */
    fiber_entry_point_t entry;
    struct fiber_pool *pool;
    fiber_t next;  /* of the free ones */
};

static uint32_t fiber_places;

/* Makes a chunk of free fibers with their stacks, and places in the table for them. Tops of
 * stacks are a line of the cache more than a stack apart, else all had one place in it. */
__attribute__((noinline, cold)) static int fiber_grow_pool(struct fiber_pool *pool) {
    size_t fibers = FIBER_ALIGNED(FIBER_CHUNK * sizeof(struct fiber));
    size_t stack = pool->stack_bytes + FIBER_ALIGNMENT;
    char *chunk = aligned_alloc(FIBER_ALIGNMENT, fibers + stack * FIBER_CHUNK);
    if (chunk == NULL) return 0;
    if (!fiber_grow(FIBER_CHUNK)) {
        free(chunk);
        return 0;
    }
    for (int i = FIBER_CHUNK - 1; i >= 0; i--) {
        fiber_t fiber = (fiber_t)chunk + i;
        fiber->number = fiber_places + (uint32_t)i;
        fiber->stack = chunk + fibers + (i + 1) * stack;
        fiber->pool = pool;
        fiber->next = pool->free;
        pool->free = fiber;
    }
    fiber_places += FIBER_CHUNK;
    return 1;
}

static inline fiber_t fiber_of(struct fiber_pool *pool, fiber_entry_point_t entry) {
    if (pool == NULL || (pool->free == NULL && !fiber_grow_pool(pool))) return NULL;
    fiber_t fiber = pool->free;
    pool->free = fiber->next;
    fiber->state = FIBER_NEW;
    fiber->entry = entry;
    return fiber;
}

fiber_t fiber_alloc(fiber_entry_point_t entry) { return fiber_of(&fiber_usual_pool, entry); }

fiber_t fiber_alloc_sized(fiber_entry_point_t entry, size_t stack_bytes) {
    return fiber_of(fiber_pool_of(stack_bytes), entry);
}

void fiber_cancel(fiber_t fiber) {
    if (!fiber_can_go_on(fiber->state)) return;
    if (fiber->state == FIBER_SUSPENDED) fiber_drop(fiber->number);
    fiber->state = FIBER_FINISHED;
}

void fiber_free(fiber_t fiber) {
    if (fiber == NULL) return;
    if (fiber->state == FIBER_RUNNING) __builtin_trap();
    fiber_cancel(fiber);
    fiber->next = fiber->pool->free;
    fiber->pool->free = fiber;
}

void *fiber_yield(void *arg) {
    void *stack = fiber_stack_pointer();
    void *value = fiber_leave(arg);
    fiber_set_stack_pointer(stack);
    return value;
}

void *fiber_resume(fiber_t fiber, void *arg, fiber_result_t *result) {
    if (!fiber_can_go_on(fiber->state)) {
        *result = FIBER_ERROR;
        return NULL;
    }
    void *stack = fiber_stack_pointer();
    uint64_t out;
    if (fiber->state == FIBER_NEW) {
        fiber->state = FIBER_RUNNING;
        fiber_set_stack_pointer(fiber->stack);
        out = fiber_begin(arg, fiber->number, fiber->entry);
    } else {
        fiber->state = FIBER_RUNNING;
        out = fiber_enter(arg, fiber->number);
    }
    fiber_set_stack_pointer(stack);
    int yielded = (int)(out >> 32);
    fiber->state = FIBER_FINISHED - yielded;
    *result = (fiber_result_t)yielded;
    return (void *)(uintptr_t)out;
}

_Static_assert(FIBER_OK == 0 && FIBER_YIELD == 1 && FIBER_FINISHED - FIBER_YIELD == FIBER_SUSPENDED,
               "whether it yielded is the result, and what the fiber is less");
