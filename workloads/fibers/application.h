/* What the sessions of an application wait for: answers of services, in the order of their
 * times. */
#ifndef FATHOM_APPLICATION_H
#define FATHOM_APPLICATION_H

#include "fibers.h"

enum { SESSIONS = 1000, ROWS = 4, WHEEL = 256 };
enum { SERVICE_USER, SERVICE_ROWS, SERVICE_ROW, SERVICE_LOG };

/* A wheel of times: the sessions that wait, by when their answer is there. */
static uint32_t wheel[WHEEL], next_of[SESSIONS], asked_of[SESSIONS], now, waiting;

/* A service is asked: some time later the session is gone on with. */
static inline void ask_later(uint32_t session, uint32_t question) {
    uint32_t latency = 1 + (question * 2654435761u >> 25) % (WHEEL - 1);
    uint32_t *place = &wheel[(now + latency) % WHEEL];
    asked_of[session] = question;
    next_of[session] = *place;
    *place = session + 1;
    waiting++;
}

/* The next session whose answer is there, at whatever time that is. */
static inline uint32_t next_answered(void) {
    while (wheel[now % WHEEL] == 0) now++;
    uint32_t session = wheel[now % WHEEL] - 1;
    wheel[now % WHEEL] = next_of[session];
    waiting--;
    return session;
}

static inline uint32_t question(uint32_t service, uint32_t about) { return about << 2 | service; }

static inline uint32_t answer_to(uint32_t question) { return question * 2246822519u ^ (question >> 13); }

static inline uint32_t hashed(uint32_t sum, uint32_t value) { return sum * 16777619u ^ value; }

#endif
