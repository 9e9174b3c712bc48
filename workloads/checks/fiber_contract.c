/* What fiber.h promises, asked of an implementation: prints "kept" or what was not. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fiber.h"

#define HOLDS(what)                                        \
    do {                                                   \
        if (!(what)) {                                     \
            printf("line %d: not so: %s\n", __LINE__, #what); \
            exit(1);                                       \
        }                                                  \
    } while (0)

static fiber_t outer;
static int ended;

static void *twice(void *arg) {
    char text[32];  /* on C's own stack, kept over a yield */
    snprintf(text, sizeof text, "%d", (int)(intptr_t)arg);
    intptr_t given = (intptr_t)fiber_yield((void *)((intptr_t)arg + 1));
    HOLDS(atoi(text) == (int)(intptr_t)arg);
    ended++;
    return (void *)(given * 2);
}

static void *asks_itself(void *arg) {
    fiber_result_t result;
    HOLDS(fiber_resume(outer, arg, &result) == NULL && result == FIBER_ERROR);
    fiber_cancel(outer);
    return arg;
}

static void *nests(void *depth) {
    if (depth == NULL) return fiber_yield((void *)1);
    fiber_t inner = fiber_alloc(nests);
    fiber_result_t result;
    intptr_t sum = (intptr_t)fiber_resume(inner, (void *)((intptr_t)depth - 1), &result);
    HOLDS(result == FIBER_YIELD);
    intptr_t more = (intptr_t)fiber_yield((void *)(sum + 1));
    sum += (intptr_t)fiber_resume(inner, (void *)more, &result);
    HOLDS(result == FIBER_OK);
    fiber_free(inner);
    return (void *)sum;
}

static __attribute__((noinline)) int deep(int depth) {
    volatile int kept = depth;
    if (depth == 0) return (int)(intptr_t)fiber_yield(NULL);
    return deep(depth - 1) + (kept == depth);
}

static void *dives(void *depth) { return (void *)(intptr_t)deep((int)(intptr_t)depth); }

static void values_go_both_ways(void) {
    fiber_result_t result = FIBER_ERROR;
    fiber_t fiber = fiber_alloc(twice);
    HOLDS(fiber_resume(fiber, (void *)7, &result) == (void *)8 && result == FIBER_YIELD);
    HOLDS(fiber_resume(fiber, (void *)21, &result) == (void *)42 && result == FIBER_OK);
    HOLDS(fiber_resume(fiber, NULL, &result) == NULL && result == FIBER_ERROR);
    fiber_cancel(fiber);
    HOLDS(fiber_resume(fiber, NULL, &result) == NULL && result == FIBER_ERROR);
    fiber_free(fiber);
    fiber_free(NULL);
}

static void a_fiber_cannot_resume_or_end_itself(void) {
    fiber_result_t result;
    outer = fiber_alloc(asks_itself);
    HOLDS(fiber_resume(outer, (void *)5, &result) == (void *)5 && result == FIBER_OK);
    fiber_free(outer);
}

static void cancelled_fibers_run_no_further(void) {
    fiber_result_t result;
    int before = ended;
    for (int i = 0; i < 1000; i++) {
        fiber_t fiber = fiber_alloc(twice);
        if (i % 3 != 0) fiber_resume(fiber, (void *)1, &result);
        if (i % 2 == 0) {
            fiber_cancel(fiber);
            HOLDS(fiber_resume(fiber, NULL, &result) == NULL && result == FIBER_ERROR);
        }
        fiber_free(fiber);
    }
    HOLDS(ended == before);
}

static void fibers_nest(void) {
    enum { DEPTH = 20 };
    fiber_result_t result;
    fiber_t fiber = fiber_alloc(nests);
    HOLDS(fiber_resume(fiber, (void *)DEPTH, &result) == (void *)(DEPTH + 1) && result == FIBER_YIELD);
    HOLDS(fiber_resume(fiber, (void *)3, &result) != NULL && result == FIBER_OK);
    fiber_free(fiber);
}

static void stacks_are_as_deep_as_they_were_asked_for(void) {
    enum { DEPTH = 2000 };
    fiber_result_t result;
    fiber_t fiber = fiber_alloc_sized(dives, 1 << 18);
    fiber_resume(fiber, (void *)DEPTH, &result);
    HOLDS(result == FIBER_YIELD);
    HOLDS(fiber_resume(fiber, (void *)1, &result) == (void *)(DEPTH + 1) && result == FIBER_OK);
    fiber_free(fiber);
}

static void many_keep_apart(void) {
    enum { MANY = 5000 };
    static fiber_t fibers[MANY];
    fiber_result_t result;
    for (intptr_t i = 0; i < MANY; i++) {
        fibers[i] = fiber_alloc(twice);
        HOLDS(fiber_resume(fibers[i], (void *)i, &result) == (void *)(i + 1));
    }
    for (intptr_t i = MANY - 1; i >= 0; i--) {
        HOLDS(fiber_resume(fibers[i], (void *)i, &result) == (void *)(i * 2) && result == FIBER_OK);
        fiber_free(fibers[i]);
    }
}

int main(void) {
    values_go_both_ways();
    a_fiber_cannot_resume_or_end_itself();
    cancelled_fibers_run_no_further();
    fibers_nest();
    stacks_are_as_deep_as_they_were_asked_for();
    many_keep_apart();
    puts("kept");
    return 0;
}
