/* HTTP/1.x requests, parsed where they lie: as much of RFC 9112 as a server of a static page
 * needs, and a refusal for the rest.
 *
 *     GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi GET /quit …
 *     |<-------------- head_bytes ------------------->|  body_bytes, then the next one
 *
 * What must stay true: nothing behind `length` is read; what is not whole is REQUEST_PART, and
 * what can become none is refused at once, so that nobody waits for it. */
#ifndef FATHOM_REQUEST_H
#define FATHOM_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

typedef enum { REQUEST_WHOLE, REQUEST_PART, REQUEST_BAD } request_state_t;

typedef struct {
    const char *method, *target;
    size_t method_bytes, target_bytes;
    size_t head_bytes, body_bytes;
    bool keeps_alive;
    int status;  /* of a refusal */
} request_t;

static inline bool request_is(const char *text, size_t bytes, const char *word) {
    return strlen(word) == bytes && memcmp(text, word, bytes) == 0;
}

static inline bool request_names(const char *text, size_t bytes, const char *name) {
    return strlen(name) == bytes && strncasecmp(text, name, bytes) == 0;
}

static inline request_state_t request_refused(request_t *request, int status) {
    request->status = status;
    return REQUEST_BAD;
}

/* A character of a method's or a field's name (RFC 9110, section 5.6.2). */
static inline bool request_is_token(char one) {
    if ((one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') || (one >= '0' && one <= '9')) return true;
    return one != '\0' && strchr("!#$%&'*+-.^_`|~", one) != NULL;
}

/* The first line. `end` is where its \r\n begins. */
static inline request_state_t request_line(request_t *request, const char *at, const char *end) {
    request->method = at;
    while (at < end && request_is_token(*at)) at++;
    request->method_bytes = (size_t)(at - request->method);
    if (request->method_bytes == 0 || at == end || *at != ' ') return request_refused(request, 400);
    request->target = ++at;
    while (at < end && *at > ' ' && *at != 0x7f) at++;
    request->target_bytes = (size_t)(at - request->target);
    if (request->target_bytes == 0 || at == end || *at != ' ') return request_refused(request, 400);
    at++;
    if (end - at != 8 || memcmp(at, "HTTP/", 5) != 0 || at[6] != '.') return request_refused(request, 400);
    if (at[5] != '1' || at[7] < '0' || at[7] > '9') return request_refused(request, 505);
    request->keeps_alive = at[7] != '0';
    return REQUEST_WHOLE;
}

/* A field: only those are looked at that say where the request ends and what comes behind. */
static inline request_state_t request_field(request_t *request, const char *at, const char *end, bool *has_length) {
    const char *name = at;
    while (at < end && request_is_token(*at)) at++;
    size_t name_bytes = (size_t)(at - name);
    if (name_bytes == 0 || at == end || *at != ':') return request_refused(request, 400);
    at++;
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    while (end > at && (end[-1] == ' ' || end[-1] == '\t')) end--;
    size_t bytes = (size_t)(end - at);
    if (request_names(name, name_bytes, "connection")) {
        if (request_names(at, bytes, "close")) request->keeps_alive = false;
        if (request_names(at, bytes, "keep-alive")) request->keeps_alive = true;
    } else if (request_names(name, name_bytes, "content-length")) {
        if (bytes == 0 || bytes > 7 || *has_length) return request_refused(request, 400);
        for (size_t i = 0; i < bytes; i++) {
            if (at[i] < '0' || at[i] > '9') return request_refused(request, 400);
            request->body_bytes = request->body_bytes * 10 + (size_t)(at[i] - '0');
        }
        *has_length = true;
    } else if (request_names(name, name_bytes, "transfer-encoding")) {
        return request_refused(request, 501);
    }
    return REQUEST_WHOLE;
}

/* The request at the beginning of these bytes, head and body. */
static inline request_state_t request_parse(request_t *request, const char *text, size_t length) {
    const char *at = text, *end = text + length;
    bool has_length = false;
    *request = (request_t){0};
    for (bool is_first = true;; is_first = false) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        if (line_end == NULL) return REQUEST_PART;
        if (line_end == at || line_end[-1] != '\r') return request_refused(request, 400);
        if (line_end - 1 == at && !is_first) break;
        request_state_t state = is_first ? request_line(request, at, line_end - 1)
                                         : request_field(request, at, line_end - 1, &has_length);
        if (state != REQUEST_WHOLE) return state;
        at = line_end + 1;
    }
    request->head_bytes = (size_t)(at + 2 - text);
    return length - request->head_bytes < request->body_bytes ? REQUEST_PART : REQUEST_WHOLE;
}

#endif
