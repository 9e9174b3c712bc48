// Events: lines of JSON on the descriptor that the parent named.

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "events.h"

void (*before_fail)(void) = NULL;

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
    // Nobody reads events in a check.
    if (descriptor < 0) {
        if (before_fail != NULL) before_fail();
        fprintf(stderr, "%s\n", message);
        _exit(1);
    }
    struct json_out line = {0};
    json_append(&line, "{\"event\":\"error\",\"kind\":\"%s\",\"message\":", kind);
    json_append_text(&line, message);
    json_append(&line, "}");
    events_send(&line);
    if (before_fail != NULL) before_fail();
    // Other threads may be inside the guest: no destructors.
    _exit(1);
}
