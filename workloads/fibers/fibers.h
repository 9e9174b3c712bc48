/* What the programs of this suite share: words that go in and out of fibers, and sizes
 * that are arguments.
 *
 * Each program is there twice: NAME.c on fibers, and state/NAME.c as state machines
 * written by hand. Both are one program in the frame of polybench/harness.h, and print the
 * same answer.
 *
 * What must stay true:
 * - What goes in and out of a fiber is 32 bits wide, whatever a pointer is.
 * - Every fiber that is made is also freed, finished or cancelled.
 * - The last argument is how much there is to do, so that one build serves every size. */
#ifndef FATHOM_FIBERS_H
#define FATHOM_FIBERS_H

#include <stdbool.h>

#include "../polybench/harness.h"

/* The argument at a place, a number. */
static inline uint32_t argument(int count, char **words, int place) {
    if (place >= count) fail("an argument is missing");
    uint32_t value = 0;
    for (const char *at = words[place]; *at != '\0'; at++) {
        if (*at < '0' || *at > '9') fail("an argument is no number");
        value = value * 10 + (uint32_t)(*at - '0');
    }
    return value;
}

/* Not every program allocates anything itself. */
static inline void allocates(void) { (void)allocate; }

/* A pseudo-random number from a state that is not 0 (xorshift32). */
static inline uint32_t chance(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* With -DFATHOM_TRIPS the number of resumptions is printed above the answer: what
 * `trips` of suite.toml is made of. */
#ifdef FATHOM_TRIPS
static uint64_t trips;
static inline void count_trip(void) { trips++; }
static inline int finish(void) {
    char line[LINE_BYTES], *at = append(line, "trips=");
    at = append_number(at, trips, 10, 1);
    at = append(at, "\n");
    *at = '\0';
    print(line);
    return report();
}
#else
static inline void count_trip(void) {}
static inline int finish(void) { return report(); }
#endif

#ifndef FATHOM_STATE
#include "lib/fiber.h"

/* A new fiber, or the end of the program. */
static inline fiber_t must_be(fiber_t fiber) {
    if (fiber == NULL) fail("no memory for a fiber");
    return fiber;
}

static inline fiber_t spawn_sized(fiber_entry_point_t entry, size_t stack_bytes) {
    return must_be(fiber_alloc_sized(entry, stack_bytes));
}

static inline fiber_t spawn(fiber_entry_point_t entry) { return must_be(fiber_alloc(entry)); }

static inline uint32_t word(void *value) { return (uint32_t)(uintptr_t)value; }

static inline void *value(uint32_t word) { return (void *)(uintptr_t)word; }

static inline uint32_t yield(uint32_t out) { return word(fiber_yield(value(out))); }

/* Resumes a fiber that must yield. */
static inline uint32_t resume(fiber_t fiber, uint32_t in) {
    fiber_result_t result;
    count_trip();
    void *out = fiber_resume(fiber, value(in), &result);
    if (result != FIBER_YIELD) fail("a fiber did not yield");
    return word(out);
}

/* Resumes a fiber that must end, and frees it. */
static inline uint32_t conclude(fiber_t fiber, uint32_t in) {
    fiber_result_t result;
    count_trip();
    void *out = fiber_resume(fiber, value(in), &result);
    if (result != FIBER_OK) fail("a fiber did not end");
    fiber_free(fiber);
    return word(out);
}

/* Resumes a fiber; whether it yielded. */
static inline bool advance(fiber_t fiber, uint32_t in, uint32_t *out) {
    fiber_result_t result;
    count_trip();
    *out = word(fiber_resume(fiber, value(in), &result));
    if (result == FIBER_ERROR) fail("there is nothing to resume");
    return result == FIBER_YIELD;
}
#else

/* A state machine, as compilers emit them: a function that is entered anew each time, and
 * what it keeps meanwhile. It says with `at` where it goes on. */
typedef struct machine machine_t;
typedef uint32_t (*step_t)(machine_t *, uint32_t in);

enum { AT_START = 0, AT_END = -1 };

struct machine {
    step_t step;
    int at;
    machine_t *next;  /* of the free ones */
};

/* Machines of one kind, used again last in, first out. */
static inline void *new_machine(machine_t **pool, size_t bytes, step_t step) {
    machine_t *machine = *pool;
    if (machine != NULL) {
        *pool = machine->next;
    } else {
        machine = malloc(bytes);
        if (machine == NULL) fail("no memory for a state machine");
    }
    machine->step = step;
    machine->at = AT_START;
    return machine;
}

static inline void free_machine(machine_t **pool, machine_t *machine) {
    machine->next = *pool;
    *pool = machine;
}

static inline uint32_t resume(machine_t *machine, uint32_t in) {
    count_trip();
    return machine->step(machine, in);
}

#endif
#endif
