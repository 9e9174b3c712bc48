// From a module's bytes to a shared object that is loaded: wasm2c, the C compiler,
// and between them the glue, C that gives every module the same few entries.

#ifndef FATHOM_WASM2C_TRANSLATE_H
#define FATHOM_WASM2C_TRANSLATE_H

#include "module.h"
#include "rt.h"
#include "runner.h"

// What the glue offers.
struct made {
    const struct module *facts;
    char *file;        // of the shared object, which may be gone
    uint64_t code_bytes; // of machine code in it
    char record[8192]; // what its compiler wrote down of itself in it
    size_t (*size)(void);
    // With what the WASI functions get, and a memory for each that is imported.
    void (*instantiate)(void *instance, void *wasi, void **memories);
    void (*free)(void *instance);
    void *(*memory)(void *instance); // the exported "memory", or NULL
    // Calls the exported function by its place among `facts->exports`.
    void (*call)(uint32_t place, void *instance, const uint64_t *args, uint64_t *results);
};

// Sets what translations are made with; refuses what it does not know.
void translate_with(struct choice choice);
// `only_start`: no other export can be called, so that no time goes into them.
// `keep`: a name under which the object is kept beside this program, and taken from
// there the next time; NULL to make it anew.
struct made *translate(const uint8_t *bytes, size_t size, bool only_start, const char *keep);

#endif
