/* Fibers: functions that can be left in the middle and gone on with later.
 *
 *     static void *count(void *from) {
 *         for (intptr_t at = (intptr_t)from;; at++) fiber_yield((void *)at);
 *     }
 *
 *     fiber_t fiber = fiber_alloc(count);
 *     fiber_result_t result;
 *     void *first = fiber_resume(fiber, (void *)7, &result);   // 7, FIBER_YIELD
 *     void *second = fiber_resume(fiber, NULL, &result);       // 8, FIBER_YIELD
 *     fiber_free(fiber);
 *
 * One interface, three implementations; link one of them (docs/FIBERS.md):
 *
 *     fiber_switch.c + switch.wat   WebAssembly's stack switching
 *     fiber_asyncify.c              Binaryen's Asyncify, buffers from a pool
 *     fiber_native.c                this machine's own stacks (x86-64, Linux)
 *
 *            fiber_alloc        fiber_resume            the entry returns
 *      -  ───────────────▶ new ─────────────▶ running ────────────────────▶ finished
 *                           │                 │    ▲                            │
 *                           │      fiber_yield▼    │fiber_resume                │
 *                           │                suspended                          │
 *                           └──────fiber_cancel──┴──▶ finished ──fiber_free──▶  -
 *
 * What must stay true:
 * - Fibers are one thread's. A fiber may resume others; what it yields goes to whoever
 *   resumed it.
 * - Every fiber has a stack of its own, of the size that it was made with. What
 *   outgrows it is not noticed everywhere: see docs/FIBERS.md.
 * - A fiber that is cancelled or freed while it is suspended runs no further: what it
 *   holds besides its stack is its user's to give back.
 */
#ifndef FIBER_H
#define FIBER_H

#include <stddef.h>

/* The function that a fiber runs: it is given what the first resumption says, and what
 * it returns is what the last one gives. */
typedef void *(*fiber_entry_point_t)(void *);
/* A fiber. */
typedef struct fiber *fiber_t;

/* How a resumption ended: the entry returned; it yielded; there was nothing to resume. */
typedef enum { FIBER_OK, FIBER_YIELD, FIBER_ERROR } fiber_result_t;

/* The size of a stack unless another is asked for. */
#ifndef FIBER_STACK_BYTES
#define FIBER_STACK_BYTES 4096
#endif

/* A new fiber with a stack of the usual size; NULL where there is no memory for it. */
fiber_t fiber_alloc(fiber_entry_point_t entry);

/* A new fiber whose stack has so many bytes. Stacks of one size are used again, the last
 * one freed first. */
fiber_t fiber_alloc_sized(fiber_entry_point_t entry, size_t stack_bytes);

/* Gives the fiber and its stack back. It must not be running. */
void fiber_free(fiber_t fiber);

/* Leaves the fiber that runs; whoever resumed it gets `arg`. Returns what the next
 * resumption says. Outside of fibers it traps. */
void *fiber_yield(void *arg);

/* Lets the fiber run until it yields or returns, and gives what it yielded or returned.
 * FIBER_ERROR and NULL for one that is running or finished: nothing has happened then. */
void *fiber_resume(fiber_t fiber, void *arg, fiber_result_t *result);

/* Ends a fiber where it stands. One that is running or finished stays what it is. */
void fiber_cancel(fiber_t fiber);

/* -DFIBER_INLINE='"fiber_switch.c"' in a program of one file compiles the implementation
 * into it, so that resumptions and yields are no calls: a processor predicts where a call
 * returns to, and behind a switch it is wrong. */
#ifdef FIBER_INLINE
#include FIBER_INLINE
#endif

#endif
