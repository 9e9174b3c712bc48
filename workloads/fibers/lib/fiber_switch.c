/* Fibers by stack switching: C has no continuations, so they are in a table of a small
 * module, switch.wat, by numbers; `wasm-merge` makes one module of both.
 *
 *     fiber_resume ─▶ fiber.begin ─ cont.new, resume ─▶ fiber_main ─▶ the entry
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
 * on behind a switch gives C's stack pointer back what it was for them. */
#include "pool.h"

#define FIBER(name) __attribute__((import_module("fiber"), import_name(name)))
FIBER("grow") int fiber_grow(uint32_t count);
/* What comes out, and in the upper half whether that was yielded. */
FIBER("begin") uint64_t fiber_begin(void *arg, uint32_t number);
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

/* The one that began last: it knows itself by it. */
static fiber_t fiber_beginning;
static uint32_t fiber_places;

/* Makes a chunk of free fibers with their stacks, and places in the table for them. Tops of
 * stacks are a line of the cache more than a stack apart, else all had one place in it. */
__attribute__((noinline, cold)) static int fiber_grow_pool(struct fiber_pool *pool) {
    size_t fibers = (FIBER_CHUNK * sizeof(struct fiber) + FIBER_ALIGNMENT - 1) / FIBER_ALIGNMENT * FIBER_ALIGNMENT;
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

fiber_t fiber_alloc_sized(fiber_entry_point_t entry, size_t stack_bytes) {
    struct fiber_pool *pool = fiber_pool_of((stack_bytes + FIBER_ALIGNMENT - 1) / FIBER_ALIGNMENT * FIBER_ALIGNMENT);
    if (pool == NULL || (pool->free == NULL && !fiber_grow_pool(pool))) return NULL;
    fiber_t fiber = pool->free;
    pool->free = fiber->next;
    fiber->state = FIBER_NEW;
    fiber->entry = entry;
    return fiber;
}

fiber_t fiber_alloc(fiber_entry_point_t entry) { return fiber_alloc_sized(entry, FIBER_STACK_BYTES); }

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

/* What every continuation begins with. It leaves no frame behind. */
__attribute__((export_name("fiber_main"), target("tail-call"))) void *fiber_main(void *arg) {
    fiber_t self = fiber_beginning;
    fiber_set_stack_pointer(self->stack);
    __attribute__((musttail)) return self->entry(arg);
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
    int is_new = fiber->state == FIBER_NEW;
    fiber->state = FIBER_RUNNING;
    if (is_new) fiber_beginning = fiber;
    uint64_t out = is_new ? fiber_begin(arg, fiber->number) : fiber_enter(arg, fiber->number);
    fiber_set_stack_pointer(stack);
    int yielded = (int)(out >> 32);
    fiber->state = FIBER_FINISHED - yielded;
    *result = (fiber_result_t)yielded;
    return (void *)(uintptr_t)out;
}

_Static_assert(FIBER_OK == 0 && FIBER_YIELD == 1 && FIBER_FINISHED - FIBER_YIELD == FIBER_SUSPENDED,
               "whether it yielded is the result, and what the fiber is less");
