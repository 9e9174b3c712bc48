// Events: lines of JSON on the descriptor that the parent named.

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runner.h"

static int descriptor = -1;
static pthread_mutex_t sending = PTHREAD_MUTEX_INITIALIZER;

bool events_open(void) {
    const char *number = getenv("FATHOM_EVENTS_FD");
    char *end = NULL;
    long value = number == NULL ? -1 : strtol(number, &end, 10);
    if (value <= 0 || *end != '\0') return false;
    descriptor = (int)value;
    return true;
}

void events_send(struct json_out *line) {
    json_append(line, "\n");
    pthread_mutex_lock(&sending);
    for (size_t sent = 0; sent < line->length;) {
        ssize_t wrote = write(descriptor, line->bytes + sent, line->length - sent);
        if (wrote < 0 && errno == EINTR) continue;
        // The parent has gone: nobody is left to tell.
        if (wrote < 0) _exit(1);
        sent += (size_t)wrote;
    }
    pthread_mutex_unlock(&sending);
    free(line->bytes);
    *line = (struct json_out){0};
}

_Noreturn void fail(const char *kind, const char *format, ...) {
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    message[strcspn(message, "\n")] = '\0';
    struct json_out line = {0};
    json_append(&line, "{\"event\":\"error\",\"kind\":\"%s\",\"message\":", kind);
    json_append_text(&line, message);
    json_append(&line, "}");
    events_send(&line);
    // Other threads may be inside the guest: no destructors.
    _exit(1);
}

_Noreturn void fail_with(const char *kind, wasmtime_error_t *error) {
    wasm_name_t message;
    wasmtime_error_message(error, &message);
    // The message is a headline, then "Caused by:" and a list. One line holds both.
    for (size_t i = 0; i < message.size; i++) {
        if (message.data[i] == '\n') message.data[i] = ' ';
    }
    fail(kind, "%.*s", (int)message.size, message.data);
}

const char *trap_message(const wasm_trap_t *trap) {
    static const char *const known[] = {
        [WASMTIME_TRAP_CODE_STACK_OVERFLOW] = "call stack exhausted",
        [WASMTIME_TRAP_CODE_MEMORY_OUT_OF_BOUNDS] = "out of bounds memory access",
        [WASMTIME_TRAP_CODE_TABLE_OUT_OF_BOUNDS] = "out of bounds table access",
        [WASMTIME_TRAP_CODE_INDIRECT_CALL_TO_NULL] = "uninitialized element",
        [WASMTIME_TRAP_CODE_BAD_SIGNATURE] = "indirect call type mismatch",
        [WASMTIME_TRAP_CODE_INTEGER_OVERFLOW] = "integer overflow",
        [WASMTIME_TRAP_CODE_INTEGER_DIVISION_BY_ZERO] = "integer divide by zero",
        [WASMTIME_TRAP_CODE_BAD_CONVERSION_TO_INTEGER] = "invalid conversion to integer",
        [WASMTIME_TRAP_CODE_UNREACHABLE_CODE_REACHED] = "unreachable",
    };
    wasmtime_trap_code_t code;
    if (wasmtime_trap_code(trap, &code) && code < sizeof known / sizeof *known && known[code] != NULL) {
        return known[code];
    }
    wasm_message_t message;
    wasm_trap_message(trap, &message);
    return message.data;
}

static uint64_t nanoseconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static clockid_t id_of(enum cpu_clock clock) {
    return clock == CPU_OF_THREAD ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID;
}

struct cost stopwatch_start(enum cpu_clock clock) {
    struct cost start;
    start.cpu_ns = nanoseconds(id_of(clock));
    start.wall_ns = nanoseconds(CLOCK_MONOTONIC);
    return start;
}

struct cost stopwatch_stop(enum cpu_clock clock, struct cost start) {
    struct cost cost;
    cost.wall_ns = nanoseconds(CLOCK_MONOTONIC) - start.wall_ns;
    cost.cpu_ns = nanoseconds(id_of(clock)) - start.cpu_ns;
    return cost;
}
