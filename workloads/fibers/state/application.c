/* application as state machines: the functions of a session folded into one machine. */
#include "../application.h"

enum { USER = 1, USER_AGAIN, COUNT, ROW, ROW_AGAIN, LOG };

typedef struct {
    machine_t machine;
    uint32_t sum, request, user, body, row, count, found;
} session_t;

static uint32_t requests;

static uint32_t goes(session_t *self, int to, uint32_t service, uint32_t about) {
    self->machine.at = to;
    return question(service, about);
}

/* The user is known: how many rows? */
static uint32_t knows(session_t *self, uint32_t user) {
    self->user = self->body = user;
    return goes(self, COUNT, SERVICE_ROWS, user & 1023);
}

/* Asks for the next row, or writes the log. */
static uint32_t next(session_t *self) {
    if (self->row < self->count) return goes(self, ROW, SERVICE_ROW, (self->user + self->row) & 4095);
    return goes(self, LOG, SERVICE_LOG, self->body & 255);
}

static uint32_t has(session_t *self, uint32_t row) {
    self->body = hashed(self->body, row);
    self->row++;
    return next(self);
}

static uint32_t session(machine_t *machine, uint32_t in) {
    session_t *self = (session_t *)machine;
    switch (self->machine.at) {
    case AT_START:
        self->sum = in;
        self->request = 0;
        return goes(self, USER, SERVICE_USER, self->sum & 1023);
    case USER: return in % 7 == 0 ? goes(self, USER_AGAIN, SERVICE_USER, in & 1023) : knows(self, in);
    case USER_AGAIN: return knows(self, in);
    case COUNT:
        self->count = 1 + in % ROWS;
        self->row = 0;
        return next(self);
    case ROW:
        self->found = in;
        return in % 5 == 0 ? goes(self, ROW_AGAIN, SERVICE_ROW, in & 4095) : has(self, in);
    case ROW_AGAIN: return has(self, hashed(self->found, in));
    case LOG:
        self->sum = hashed(self->sum, hashed(self->body, in));
        if (++self->request < requests) return goes(self, USER, SERVICE_USER, (self->sum + self->request) & 1023);
        self->machine.at = AT_END;
        return self->sum;
    default: fail("resumed at its end");
    }
}

KERNEL kernel_application(machine_t *sessions[SESSIONS], uint32_t *sum) {
    machine_t *pool = NULL;
    for (uint32_t i = 0; i < SESSIONS; i++) {
        sessions[i] = new_machine(&pool, sizeof(session_t), session);
        ask_later(i, resume(sessions[i], i));
    }
    while (waiting > 0) {
        uint32_t at = next_answered(), out = resume(sessions[at], answer_to(asked_of[at]));
        if (sessions[at]->at != AT_END) {
            ask_later(at, out);
        } else {
            *sum = hashed(*sum, out);
            free_machine(&pool, sessions[at]);
        }
    }
}

int main(int count, char **words) {
    uint32_t sum = 0;
    NEW_1D(machine_t *, sessions, SESSIONS);
    requests = argument(count, words, 1);
    if (requests == 0) fail("no requests");
    MEASURE(kernel_application(sessions, &sum));
    mix(sum);
    return finish();
}
