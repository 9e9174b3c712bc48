// What the parts of the runner share.
//
//   runner.c    request, configuration, hello, load, compile, process metrics
//   guest.c     measured threads: instantiate, run, tear down
//   probe.c     probe mode: calls on one instance
//   evidence.c  which checks and tier are really in force
//   events.c    the protocol's events, and failures
//   json.c      JSON

#ifndef FATHOM_RUNNER_H
#define FATHOM_RUNNER_H

#include <stdint.h>
#include <wasm.h>
#include <wasmtime.h>

#include "json.h"

// events.c ------------------------------------------------------------------

// Remembers where events go; false where the parent named no descriptor.
bool events_open(void);
// Sends one line (without its newline) whole, also among threads; frees it.
void events_send(struct json_out *line);
// Sends the error event and ends the process with status 1. Any thread may.
// `kind` is the protocol's: invalid, unsupported, link, trap, io, internal.
_Noreturn void fail(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The same with an engine's error; takes the error.
_Noreturn void fail_with(const char *kind, wasmtime_error_t *error);
// A trap in the official test suite's words. The text is static or leaks.
const char *trap_message(const wasm_trap_t *trap);

// Wall and CPU nanoseconds of an interval.
struct cost {
    uint64_t wall_ns, cpu_ns;
};
// Which CPU clock a stopwatch reads: compiling uses many threads, a guest one.
enum cpu_clock { CPU_OF_PROCESS, CPU_OF_THREAD };
struct cost stopwatch_start(enum cpu_clock clock);
struct cost stopwatch_stop(enum cpu_clock clock, struct cost start);

// runner.c ------------------------------------------------------------------

// What all threads read and none changes.
struct program {
    const struct json *request;
    const char *path;
    wasm_engine_t *engine;
    wasmtime_module_t *module;
};

// guest.c -------------------------------------------------------------------
void measure(const struct program *program);

// probe.c -------------------------------------------------------------------
void probe(const struct program *program);

// evidence.c ----------------------------------------------------------------

struct evidence {
    const char *checks; // in the protocol's words
    char text[512];     // how we know
    bool optimised;     // the compiled module itself says so
};
// Compiles a tiny module, makes one access outside its memory and watches how it
// is caught.
struct evidence observe(wasm_engine_t *engine);
// Bytes of machine code in a compiled module, or 0 where its image has none.
uint64_t code_bytes(const wasmtime_module_t *module);

#endif
