/* application: a thousand sessions of a service, each of which asks others for a user, for
 * rows and for each row, in functions that call each other, and writes a log: many states, few
 * calls deep, all waiting at once (the fifth of Kotlin's five patterns). */
#include "application.h"

static uint32_t ask(uint32_t service, uint32_t about) { return yield(question(service, about)); }

static __attribute__((noinline)) uint32_t user_of(uint32_t request) {
    uint32_t user = ask(SERVICE_USER, request & 1023);
    return user % 7 == 0 ? ask(SERVICE_USER, user & 1023) : user;
}

static __attribute__((noinline)) uint32_t row_of(uint32_t user, uint32_t row) {
    uint32_t found = ask(SERVICE_ROW, (user + row) & 4095);
    return found % 5 == 0 ? hashed(found, ask(SERVICE_ROW, found & 4095)) : found;
}

static __attribute__((noinline)) uint32_t rows_of(uint32_t user) {
    uint32_t count = 1 + ask(SERVICE_ROWS, user & 1023) % ROWS, sum = user;
    for (uint32_t row = 0; row < count; row++) sum = hashed(sum, row_of(user, row));
    return sum;
}

static __attribute__((noinline)) uint32_t serve(uint32_t request) {
    uint32_t body = rows_of(user_of(request));
    return hashed(body, ask(SERVICE_LOG, body & 255));
}

static uint32_t requests;

static void *session(void *number) {
    uint32_t sum = word(number);
    for (uint32_t i = 0; i < requests; i++) sum = hashed(sum, serve(sum + i));
    return value(sum);
}

KERNEL kernel_application(fiber_t sessions[SESSIONS], uint32_t *sum) {
    for (uint32_t i = 0; i < SESSIONS; i++) {
        sessions[i] = spawn(session);
        ask_later(i, resume(sessions[i], i));
    }
    while (waiting > 0) {
        uint32_t at = next_answered(), out;
        if (advance(sessions[at], answer_to(asked_of[at]), &out)) {
            ask_later(at, out);
        } else {
            *sum = hashed(*sum, out);
            fiber_free(sessions[at]);
        }
    }
}

int main(int count, char **words) {
    uint32_t sum = 0;
    NEW_1D(fiber_t, sessions, SESSIONS);
    requests = argument(count, words, 1);
    if (requests == 0) fail("no requests");
    MEASURE(kernel_application(sessions, &sum));
    mix(sum);
    return finish();
}
