// Stopwatches.

#include <sys/resource.h>
#include <time.h>

#include "runner.h"

static uint64_t nanoseconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t of_timeval(struct timeval time) {
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

static uint64_t cpu_ns(enum cpu_clock clock) {
    if (clock == CPU_OF_THREAD) return nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    // A compiler may be a program of its own: children that ended count.
    struct rusage children;
    getrusage(RUSAGE_CHILDREN, &children);
    return nanoseconds(CLOCK_PROCESS_CPUTIME_ID) + of_timeval(children.ru_utime) + of_timeval(children.ru_stime);
}

struct cost stopwatch_start(enum cpu_clock clock) {
    struct cost start;
    start.cpu_ns = cpu_ns(clock);
    start.wall_ns = nanoseconds(CLOCK_MONOTONIC);
    return start;
}

struct cost stopwatch_stop(enum cpu_clock clock, struct cost start) {
    struct cost cost;
    cost.wall_ns = nanoseconds(CLOCK_MONOTONIC) - start.wall_ns;
    cost.cpu_ns = cpu_ns(clock) - start.cpu_ns;
    return cost;
}
