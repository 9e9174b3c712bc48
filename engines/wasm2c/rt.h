// The runtime's side that depends on how bounds are checked: it is compiled with
// wasm2c's own runtime, once for each way, into a library that the runner loads.

#ifndef FATHOM_WASM2C_RT_H
#define FATHOM_WASM2C_RT_H

#include <stdbool.h>
#include <stdint.h>

// What a call came to that ended neither well nor in one of wasm2c's traps.
#define RT_EXITED 1000

struct runtime {
    // Once for the process, by its first thread.
    void (*begin)(void);
    // Once for every other thread that runs instances.
    void (*begin_thread)(void);
    // Calls, and returns 0, a number of wasm2c's traps, or RT_EXITED.
    int (*attempt)(void (*call)(void *), void *argument);
    // Ends the innermost `attempt` with RT_EXITED.
    void (*leave)(void);
    // A trap's message in the official test suite's words.
    const char *(*message)(int trap);
    // The bytes of a memory.
    uint8_t *(*data)(void *memory);
    uint64_t (*size)(void *memory);
    // A fresh memory.
    void *(*new_memory)(uint64_t pages, uint64_t pages_max, bool wide);
};
extern const struct runtime fathom_runtime;

#endif
