// What a runner must know of a module where its engine does not tell: types, imports,
// memories, exports. Not a validator: what is not well formed reads as NULL, and the
// engine says why.

#ifndef FATHOM_MODULE_H
#define FATHOM_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum external { EXTERNAL_FUNC, EXTERNAL_TABLE, EXTERNAL_MEMORY, EXTERNAL_GLOBAL, EXTERNAL_TAG };

// A letter for each value: i, I, f, F for the numbers of 32 and 64 bits, v a vector,
// r a reference.
struct signature {
    char *params, *results;
};

// Limits in pages.
struct memory_type {
    bool wide, shared, bounded;
    uint64_t pages_min, pages_max;
};

struct import {
    char *module, *name;
    enum external kind;
    uint32_t type;             // of a function
    struct memory_type memory; // of a memory
};

struct export {
    char *name;
    enum external kind;
    uint32_t index;
};

struct module {
    size_t type_count, import_count, function_count, memory_count, export_count;
    struct signature *types;
    struct import *imports;
    uint32_t *functions; // the type of each, imported ones first
    struct memory_type *memories; // imported ones first
    struct export *exports;
};

// Lives as long as the process.
const struct module *module_read(const uint8_t *bytes, size_t size);
// The exported item of that kind and name, or NULL.
const struct export *module_export(const struct module *module, enum external kind, const char *name);

#endif
