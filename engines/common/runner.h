// What every runner in C has in common: the request, the phases and their times,
// threads pinned and kept together, probes, the process's figures. An engine fills
// in `the_engine`; everything else of the protocol is done here.
//
//   main.c     request, hello, load and compile, process figures
//   crew.c     measured threads: instantiate, run, tear down
//   probe.c    probe mode: calls on one instance
//   evidence.c what is in force
//   events.c   the protocol's events, and failures
//   json.c     JSON
//   program.c  where the runner lies, and compilers that are programs
//   preview1.h WASI, for engines that bring none

#ifndef FATHOM_RUNNER_H
#define FATHOM_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"

#define VALUES_MAX 16

// What of the request decides how the engine is made. Never NULL.
struct choice {
    const char *strategy, *backend, *opt;
};

// What is in force, as the engine found it; "unknown" where it cannot.
struct hello {
    const char *version, *tier, *checks;
    char evidence[1024];
};

// What one guest sees of the host. `args` begins with the program's name.
struct world {
    size_t arg_count, env_count, folder_count;
    const char **args;
    const char **env_names, **env_values;
    const char **folder_hosts, **folder_guests;
    const char *stdin_path; // NULL: empty
    const char *stdout_path, *stderr_path;
};

enum kind { I32, I64, F32, F64 };
// A value by its bits.
struct value {
    enum kind kind;
    uint64_t bits;
};

// What an engine is to the runner. Any of them ends the process by `fail` where it
// cannot go on; a trap's message is in the words of the official test suite.
struct engine {
    const char *name;
    // The strategy and the backend where the request names none.
    const char *strategy, *backend;
    // Makes the engine, refusing what it does not know.
    void (*configure)(struct choice choice);
    // Finds out what is in force, on a module of its own where one is needed.
    void (*observe)(struct hello *hello);
    // From bytes to a module that is ready to be instantiated: the compile phase.
    void (*compile)(const uint8_t *bytes, size_t size);
    // Whatever is done once for all instances, before any clock runs. May be NULL.
    void (*link)(void);
    // A guest's world (files opened, …), made before the clock starts. May be NULL
    // where `instantiate` needs nothing but the description.
    void *(*enter)(const struct world *world);
    // A fresh instance; with its world, which is then the instance's.
    void *(*instantiate)(void *world);
    // A fresh instance of a module that imports nothing, without a world; NULL for
    // other modules. May be NULL where the engine does not offer it.
    void *(*instantiate_bare)(void);
    // Runs `_start`, returns the program's exit status.
    int (*run)(void *instance);
    void (*teardown)(void *instance);
    // What a thread of the runner does before its first instance. May be NULL.
    void (*enter_thread)(void);

    // An instance without WASI, its imported memories made fresh.
    void *(*probed)(void);
    // Calls an export. Returns NULL and the results, or the trap's message.
    const char *(*call)(void *instance, const char *export, const struct value *args, size_t count,
                        struct value *results, size_t *result_count);

    // Figures; 0 where unknown. May be NULL.
    uint64_t (*code_bytes)(void);
};
extern const struct engine the_engine;
// Whether a program is measured; else exports are probed.
extern bool measuring;

// crew.c --------------------------------------------------------------------
void measure(const struct json *request, const char *path);
// probe.c -------------------------------------------------------------------
void probe(const struct json *request);

// Wall and CPU nanoseconds of an interval.
struct cost {
    uint64_t wall_ns, cpu_ns;
};
// Which CPU clock a stopwatch reads: compiling uses many threads (and, where the
// compiler is a program of its own, children), a guest one.
enum cpu_clock { CPU_OF_PROCESS, CPU_OF_THREAD };
struct cost stopwatch_start(enum cpu_clock clock);
struct cost stopwatch_stop(enum cpu_clock clock, struct cost start);

// What the C library replaces in the name of a fresh file or folder.
#define FRESH "XX" "XX" "XX"
// Where temporary files are, and a name there.
char *in_temporary(const char *name);
// The whole file, or an `io` failure that names it.
char *read_file(const char *path, size_t *size);

#endif
