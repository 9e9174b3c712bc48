/* What the three programs of ten million connections share: a window of fibers that run
 * at once, each yielding once (the talk's; its worker touches its stack). */
#ifndef FATHOM_C10M_H
#define FATHOM_C10M_H

#include "fibers.h"

enum { WINDOW = 10000 };

static char byte_of(uint32_t connection) { return (char)('a' + connection % 26); }

/* The I/O call: a byte to standard output. */
static inline void say(uint32_t connection) {
    char text = byte_of(connection);
    if (write(STDOUT_FILENO, &text, 1) != 1) fail("standard output is closed");
}

#endif
