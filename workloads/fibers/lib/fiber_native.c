/* Fibers on stacks of this machine's own: the limit of what switching stacks can cost.
 *
 *      arena   |<- stack 0 ->|<- stack 1 ->|<- stack 2 ->| …      one mapping, no guards
 *
 * A switch stores stack pointer, frame pointer and where to go on, loads the other's and
 * jumps: not by `ret`, whose prediction would be wrong each time. All other registers are
 * the compiler's to save, as far as they are in use.
 *
 * What must stay true: stacks are given out last in, first out; their tops lie at different
 * places of a page, or they would compete for the same lines of the cache; rounding modes
 * are the thread's. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "fiber.h"

#if !defined(__x86_64__) || !defined(__linux__)
#error "fiber_native.c is for x86-64 Linux"
#endif

enum { FIBER_NEW, FIBER_RUNNING, FIBER_SUSPENDED, FIBER_FINISHED };
/* C libraries need more of a stack than our own code: printf takes 8 KiB. What is not touched
 * costs nothing. */
enum { FIBER_STACK_MIN = 32768, FIBER_PAGE = 4096, FIBER_COLOURS = 16, FIBER_COLOUR_BYTES = 64, FIBER_CHUNK = 64 };

struct fiber_context {
    void *stack, *frame, *next;
};

struct fiber {
    struct fiber_context own, resumer;
    int state;
    uint32_t colour;
    fiber_entry_point_t entry;
    struct fiber_pool *pool;
    fiber_t next_free;
    char *top;
};

struct fiber_pool {
    struct fiber_pool *next;
    size_t stack_bytes;
    fiber_t free;
};

/* What a stack of so many bytes takes. */
#define FIBER_ROUNDED(bytes) (((bytes) + FIBER_COLOURS * FIBER_COLOUR_BYTES + FIBER_PAGE - 1) / FIBER_PAGE * FIBER_PAGE)
#define FIBER_ROOM(bytes) (FIBER_ROUNDED(bytes) < FIBER_STACK_MIN ? FIBER_STACK_MIN : FIBER_ROUNDED(bytes))

static struct fiber_pool fiber_usual_pool = {.stack_bytes = FIBER_ROOM(FIBER_STACK_BYTES)};
static struct fiber_pool *fiber_pools = &fiber_usual_pool;
static _Thread_local fiber_t fiber_current;

/* Leaves one context for another; what comes back is what the next switch to `from` says. */
static inline __attribute__((always_inline)) void *fiber_change(struct fiber_context *from, struct fiber_context *to, void *value) {
    __asm__ volatile(
        "leaq 1f(%%rip), %%rcx\n\t"
        "movq %%rsp, 0(%[from])\n\t"
        "movq %%rbp, 8(%[from])\n\t"
        "movq %%rcx, 16(%[from])\n\t"
        "movq 0(%[to]), %%rsp\n\t"
        "movq 8(%[to]), %%rbp\n\t"
        "jmpq *16(%[to])\n"
        "1:"
        : "+D"(value), [from] "+a"(from), [to] "+d"(to)
        :
        : "rcx", "rbx", "rsi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc", "xmm0", "xmm1",
          "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
          "xmm15");
    return value;
}

/* Where a new fiber begins: the value is the argument. It is never gone on with. */
static void fiber_begin(void *arg) {
    fiber_t self = fiber_current;
    void *value = self->entry(arg);
    self->state = FIBER_FINISHED;
    fiber_change(&self->own, &self->resumer, value);
    __builtin_unreachable();
}

static struct fiber_pool *fiber_pool_of(size_t stack_bytes) {
    for (struct fiber_pool *pool = fiber_pools; pool != NULL; pool = pool->next)
        if (pool->stack_bytes == stack_bytes) return pool;
    struct fiber_pool *pool = malloc(sizeof *pool);
    if (pool != NULL) {
        *pool = (struct fiber_pool){fiber_pools, stack_bytes, NULL};
        fiber_pools = pool;
    }
    return pool;
}

static int fiber_grow_pool(struct fiber_pool *pool) {
    static uint32_t count;
    const int access = PROT_READ | PROT_WRITE, kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char *stacks = mmap(NULL, pool->stack_bytes * FIBER_CHUNK, access, kind, -1, 0);
    if (stacks == MAP_FAILED) return 0;
    fiber_t fibers = malloc(sizeof *fibers * FIBER_CHUNK);
    if (fibers == NULL) return 0;
    for (int i = FIBER_CHUNK - 1; i >= 0; i--) {
        fiber_t fiber = &fibers[i];
        size_t colour = count++ % FIBER_COLOURS * FIBER_COLOUR_BYTES;
        fiber->top = stacks + (size_t)(i + 1) * pool->stack_bytes - colour;
        fiber->pool = pool;
        fiber->next_free = pool->free;
        pool->free = fiber;
    }
    return 1;
}

static inline fiber_t fiber_of(struct fiber_pool *pool, fiber_entry_point_t entry) {
    if (pool == NULL || (pool->free == NULL && !fiber_grow_pool(pool))) return NULL;
    fiber_t fiber = pool->free;
    pool->free = fiber->next_free;
    fiber->state = FIBER_NEW;
    fiber->entry = entry;
    /* As behind a call: the address to return to would be on the stack. */
    fiber->own = (struct fiber_context){fiber->top - sizeof(void *), NULL, (void *)fiber_begin};
    return fiber;
}

fiber_t fiber_alloc(fiber_entry_point_t entry) { return fiber_of(&fiber_usual_pool, entry); }

fiber_t fiber_alloc_sized(fiber_entry_point_t entry, size_t stack_bytes) {
    return fiber_of(fiber_pool_of(FIBER_ROOM(stack_bytes)), entry);
}

void fiber_free(fiber_t fiber) {
    if (fiber == NULL) return;
    if (fiber->state == FIBER_RUNNING) __builtin_trap();
    fiber->next_free = fiber->pool->free;
    fiber->pool->free = fiber;
}

void fiber_cancel(fiber_t fiber) {
    if (fiber->state != FIBER_RUNNING) fiber->state = FIBER_FINISHED;
}

void *fiber_yield(void *arg) {
    fiber_t self = fiber_current;
    if (self == NULL) __builtin_trap();
    self->state = FIBER_SUSPENDED;
    return fiber_change(&self->own, &self->resumer, arg);
}

void *fiber_resume(fiber_t fiber, void *arg, fiber_result_t *result) {
    if (fiber->state != FIBER_NEW && fiber->state != FIBER_SUSPENDED) {
        *result = FIBER_ERROR;
        return NULL;
    }
    fiber_t resumer = fiber_current;
    fiber_current = fiber;
    fiber->state = FIBER_RUNNING;
    void *value = fiber_change(&fiber->resumer, &fiber->own, arg);
    fiber_current = resumer;
    *result = fiber->state == FIBER_FINISHED ? FIBER_OK : FIBER_YIELD;
    return value;
}
