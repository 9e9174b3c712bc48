// Events: lines of JSON on the descriptor that the parent named; and failures.

#ifndef FATHOM_EVENTS_H
#define FATHOM_EVENTS_H

#include <stdbool.h>

#include "json.h"

// Remembers where events go; false where the parent named no descriptor.
bool events_open(void);
// Sends one line (without its newline) whole, also among threads; frees it.
void events_send(struct json_out *line);
// Sends the error event and ends the process with status 1. Any thread may.
// `kind` is the protocol's: invalid, unsupported, link, trap, io, internal.
_Noreturn void fail(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Called before the process ends by `fail`, to take away what it left on the disk.
extern void (*before_fail)(void);

#endif
