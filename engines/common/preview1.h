// WASI preview 1 for engines that bring none: functions of whole numbers over a
// guest's memory. A guest sees the folders of its world and nothing else: paths
// are resolved by the kernel, beneath their folder.
//
//   wasi.c         the table of functions; arguments, clocks, random bytes, the end
//   wasi_files.c   descriptors
//   wasi_paths.c   paths
//   wasi_host.h    what these three share

#ifndef FATHOM_PREVIEW1_H
#define FATHOM_PREVIEW1_H

#include "runner.h"

#define WASI_MODULE "wasi_snapshot_preview1"
#define WASI_ARGS_MAX 9

struct wasi;

// Opens the files of a world; an `io` failure names what cannot be opened.
struct wasi *wasi_new(const struct world *world);
void wasi_delete(struct wasi *wasi);

// A guest's memory, as it is during one call.
struct guest {
    uint8_t *base;
    uint64_t size;
};

// One function: its parameters as letters ('i' 32 bits, 'I' 64), and what it does.
// All but proc_exit return an error number of WASI's.
struct wasi_function {
    const char *name, *params;
    uint32_t (*call)(struct wasi *wasi, struct guest *guest, const uint64_t *args);
};
extern const struct wasi_function wasi_functions[];
extern const size_t wasi_function_count;
// NULL where there is none.
const struct wasi_function *wasi_find(const char *name);

// Whether a call has ended the program, which the engine then must unwind, and the
// status it ended with.
bool wasi_exited(const struct wasi *wasi);
int wasi_exit_code(const struct wasi *wasi);

#endif
