/* Clocks, sleeping, polling, random numbers. */
#include "check.h"
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

static long long now(clockid_t clock) {
    struct timespec time;
    if (clock_gettime(clock, &time) != 0)
        return -1;
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(void) {
    struct timespec time;
    TRY(clock_getres(CLOCK_REALTIME, &time));
    HOLDS(time.tv_sec == 0 && time.tv_nsec >= 1);
    TRY(clock_getres(CLOCK_MONOTONIC, &time));
    HOLDS(now(CLOCK_REALTIME) > 1700000000LL * 1000000000LL);
    long long start = now(CLOCK_MONOTONIC);
    struct timespec wait = {0, 30000000};
    TRY(nanosleep(&wait, NULL));
    long long slept = now(CLOCK_MONOTONIC) - start;
    HOLDS(slept >= 30000000LL && slept < 20000000000LL);
    time.tv_sec = 0;
    time.tv_nsec = 1;
    TRY(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL));
    HOLDS(sched_yield() == 0);
    unsigned char random[300] = {0};
    TRY(getentropy(random, 256));
    int zeros = 0;
    for (int i = 0; i < 256; i++)
        zeros += random[i] == 0;
    HOLDS(zeros < 32);
    HOLDS(random[256] == 0);
    int fd = open("polled", O_RDWR | O_CREAT, 0644);
    struct pollfd fds[1] = {{fd, POLLIN | POLLOUT, 0}};
    VALUE(poll(fds, 1, 1000));
    HOLDS(fds[0].revents & POLLIN);
    start = now(CLOCK_MONOTONIC);
    VALUE(poll(NULL, 0, 20));
    HOLDS(now(CLOCK_MONOTONIC) - start >= 20000000LL);
    return 0;
}
