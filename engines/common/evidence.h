// How a runner finds out what is in force: one load outside a memory, watched; and
// which memory of the process is machine code.

#ifndef FATHOM_EVIDENCE_H
#define FATHOM_EVIDENCE_H

#include "runner.h"

// (module (memory (export "m") 1) (func (export "f") (param i32) (result i32)
//   local.get 0  i32.load))
extern const uint8_t tiny_module[];
extern const size_t tiny_module_size;
// An address outside the tiny module's memory.
#define TINY_OUTSIDE 0x20000

// Watches how `load_outside` is caught: it loads at TINY_OUTSIDE, says whether that
// trapped and, where it can, where the memory begins (else 0). Sets `checks` and
// appends to the evidence.
void observe_checks(struct hello *hello, bool (*load_outside)(uintptr_t *base));

// For an engine that sets its fault handler at each call: while a load is watched,
// keeps the handler as the one behind the watching, and returns true.
struct sigaction;
bool watch_behind(int number, const struct sigaction *action);

// Appends a clause to the evidence, "; " between.
void add_evidence(struct hello *hello, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Bytes of executable memory in this process that belong to no file: what a
// compiler inside it has made. 0 says that whatever runs is interpreted, or is
// code of a file.
uint64_t made_code_bytes(void);

#endif
