// From a module's bytes to WAMR's own format of compiled code, by its compiler wamrc.

#ifndef FATHOM_WAMR_AHEAD_H
#define FATHOM_WAMR_AHEAD_H

#include "runner.h"

// Whether the compiler was built when this runner was: it needs LLVM.
bool can_compile_ahead(void);
// The compiled file; the caller's to free.
uint8_t *compile_ahead(struct choice choice, const uint8_t *bytes, size_t size, size_t *made_size);

#endif
