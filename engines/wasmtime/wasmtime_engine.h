// What the parts of wasmtime's runner share.
//
//   engine.c     configuration, compile, instances, calls
//   evidence.c   which checks and tier are really in force

#ifndef FATHOM_WASMTIME_ENGINE_H
#define FATHOM_WASMTIME_ENGINE_H

#include <stdint.h>
#include <wasm.h>
#include <wasmtime.h>

#include "runner.h"

// What made the code of a compiled module: its image says so.
enum made_by { MADE_BY_UNKNOWN, MADE_BY_OPTIMISER, MADE_BY_OTHER, MADE_FOR_INTERPRETER };

// Compiles a tiny module, makes one access outside its memory and watches how it
// is caught; says what made that module's code.
enum made_by observe(wasm_engine_t *engine, struct hello *hello);
// Bytes of machine code in a compiled module, or 0 where its image has none.
uint64_t code_bytes(const wasmtime_module_t *module);

#endif
