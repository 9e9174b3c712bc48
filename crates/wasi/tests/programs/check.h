/* What the test programs share: every line they print is the same on every
 * correct runtime, so outputs can be compared byte by byte. */
#ifndef CHECK_H
#define CHECK_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints the outcome of a call: "what: ok" or "what: the error". */
#define TRY(call)                                                              \
    do {                                                                       \
        errno = 0;                                                             \
        long outcome_ = (long)(call);                                          \
        printf("%s: %s\n", #call,                                              \
               outcome_ < 0 ? strerror(errno) : "ok");                         \
    } while (0)

/* Prints the value of a call, or its error. */
#define VALUE(call)                                                            \
    do {                                                                       \
        errno = 0;                                                             \
        long long outcome_ = (long long)(call);                                \
        if (outcome_ < 0)                                                      \
            printf("%s: %s\n", #call, strerror(errno));                        \
        else                                                                   \
            printf("%s = %lld\n", #call, outcome_);                            \
    } while (0)

/* Prints the error number of a call of the interface itself. */
#define ERRNO(call)                                                            \
    do {                                                                       \
        int error_ = (int)(call);                                              \
        printf("%s = %d\n", #call, error_);                                    \
    } while (0)

/* Prints whether a condition holds. */
#define HOLDS(condition) printf("%s: %s\n", #condition, (condition) ? "yes" : "NO")

/* Runtimes differ in how they refuse an escape; all that matters is that they do. */
#define REFUSED(call)                                                          \
    do {                                                                       \
        errno = 0;                                                             \
        long outcome_ = (long)(call);                                          \
        printf("%s: %s\n", #call, outcome_ < 0 ? "refused" : "ALLOWED");       \
    } while (0)

#endif
