/* An HTTP/1.1 server of one static page, a fiber for each connection: `/` is the page, `/quit`
 * ends the server once the answer is out.
 *
 *     main ─ poll ─▶ ready ─ resume ─▶ a connection's fiber ─ yields what it waits for ─▶ main
 *
 * WebAssembly: listens on descriptor 3, which the host has opened (`fathom run --tcplisten`).
 * Natively: `server PORT` listens on loopback.
 *
 * What must stay true: a fiber waits in one place alone, `wait_for`; requests that came
 * together are answered in order and by one write where they fit; a connection that breaks
 * takes nothing with it but its fiber. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fiber.h"
#include "request.h"

#ifndef __wasi__
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#endif

enum { CONNECTIONS_MAX = 20480, INPUT_BYTES = 4096, OUTPUT_BYTES = 4096, STACK_BYTES = 16384, ACCEPTED_AT_ONCE = 64 };
enum { LINGERING_BYTES = 65536 };

static const char PAGE[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 52\r\n\r\n"
    "<!doctype html><title>Fathom</title><p>Hello, fibers";

typedef struct {
    int socket;
    fiber_t fiber;
    size_t in_bytes, out_bytes;
    char in[INPUT_BYTES], out[OUTPUT_BYTES];
} connection_t;

/* The listener, then a connection each. */
static struct pollfd polled[CONNECTIONS_MAX + 1];
static connection_t *connections[CONNECTIONS_MAX + 1];
static nfds_t polled_count;
static uint64_t served, refused, broken;
static bool is_over;

static void wait_for(short events) { fiber_yield((void *)(intptr_t)events); }

/* Writes what is to be written; whether there is still somebody to read it. */
static bool flush(connection_t *self) {
    for (size_t at = 0; at < self->out_bytes;) {
        ssize_t sent = send(self->socket, self->out + at, self->out_bytes - at, 0);
        if (sent > 0) at += (size_t)sent;
        else if (sent < 0 && errno == EAGAIN) wait_for(POLLOUT);
        else if (sent == 0 || errno != EINTR) return false;
    }
    self->out_bytes = 0;
    return true;
}

static bool answer(connection_t *self, const char *text, size_t bytes) {
    if (self->out_bytes + bytes > OUTPUT_BYTES && !flush(self)) return false;
    memcpy(self->out + self->out_bytes, text, bytes);
    self->out_bytes += bytes;
    return true;
}

static bool refuse(connection_t *self, int status) {
    char line[] = "HTTP/1.1 000 Refused\r\n";  /* no printf: a fiber's stack is small */
    for (int at = 11; at > 8; at--, status /= 10) line[at] = (char)('0' + status % 10);
    static const char length[] = "Content-Length: 0\r\n\r\n";
    refused++;
    return answer(self, line, sizeof line - 1) && answer(self, length, sizeof length - 1);
}

/* Answers a whole request; whether the connection goes on. */
static bool serve(connection_t *self, const request_t *request) {
    bool is_head = request_is(request->method, request->method_bytes, "HEAD");
    if (!is_head && !request_is(request->method, request->method_bytes, "GET")) {
        return refuse(self, 405) && request->keeps_alive;
    }
    bool quits = request_is(request->target, request->target_bytes, "/quit");
    if (!quits && !request_is(request->target, request->target_bytes, "/")) {
        return refuse(self, 404) && request->keeps_alive;
    }
    served++;
    size_t head = (size_t)(strstr(PAGE, "\r\n\r\n") + 4 - PAGE);
    if (!answer(self, PAGE, is_head ? head : sizeof PAGE - 1)) return false;
    if (quits && flush(self)) is_over = true;
    return request->keeps_alive && !quits;
}

/* Answers all requests that are there; whether the connection goes on. */
static bool serve_all(connection_t *self) {
    size_t at = 0;
    for (;;) {
        request_t request;
        request_state_t state = request_parse(&request, self->in + at, self->in_bytes - at);
        if (state == REQUEST_PART) break;
        if (state == REQUEST_BAD) return refuse(self, request.status) && flush(self) && false;
        at += request.head_bytes + request.body_bytes;
        if (!serve(self, &request)) return flush(self) && false;
    }
    memmove(self->in, self->in + at, self->in_bytes - at);
    self->in_bytes -= at;
    if (!flush(self)) return false;
    if (self->in_bytes < INPUT_BYTES) return true;
    return refuse(self, 431) && flush(self) && false;
}

/* Ends a conversation so that its last answer arrives: what still comes is read, or the host
 * would reset the connection. No more than so much of it. */
static void linger(connection_t *self) {
    size_t left = LINGERING_BYTES;
    if (shutdown(self->socket, SHUT_WR) != 0) return;
    while (left > INPUT_BYTES) {
        ssize_t got = recv(self->socket, self->in, INPUT_BYTES, 0);
        if (got > 0) left -= (size_t)got;
        else if (got < 0 && errno == EAGAIN) wait_for(POLLIN);
        else if (got == 0 || errno != EINTR) return;
    }
}

static void *converse(void *connection) {
    connection_t *self = connection;
    for (;;) {
        ssize_t got = recv(self->socket, self->in + self->in_bytes, INPUT_BYTES - self->in_bytes, 0);
        if (got > 0) {
            self->in_bytes += (size_t)got;
            if (serve_all(self)) continue;
            if (!is_over) linger(self);
            return NULL;
        } else if (got < 0 && errno == EAGAIN) {
            wait_for(POLLIN);
        } else if (got == 0 || errno != EINTR) {
            if (got < 0 || self->in_bytes > 0) broken++;
            return NULL;
        }
    }
}

static void close_connection(nfds_t place) {
    connection_t *self = connections[place];
    fiber_free(self->fiber);
    close(self->socket);
    free(self);
    polled_count--;
    polled[place] = polled[polled_count];
    connections[place] = connections[polled_count];
}

/* Lets a connection go on; whether it is still there. */
static bool advance(nfds_t place) {
    fiber_result_t result;
    connection_t *self = connections[place];
    void *events = fiber_resume(self->fiber, self, &result);
    if (result != FIBER_YIELD) {
        close_connection(place);
        return false;
    }
    polled[place].events = (short)(intptr_t)events;
    return true;
}

static void welcome(int listener) {
    for (int i = 0; i < ACCEPTED_AT_ONCE && polled_count <= CONNECTIONS_MAX; i++) {
#ifdef __wasi__
        int socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
#else
        int socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
#endif
        if (socket < 0) return;
        connection_t *self = calloc(1, sizeof *self);
        fiber_t fiber = fiber_alloc_sized(converse, STACK_BYTES);
        if (self == NULL || fiber == NULL) {
            fiber_free(fiber);
            free(self);
            close(socket);
            return;
        }
        self->socket = socket;
        self->fiber = fiber;
        polled[polled_count] = (struct pollfd){socket, POLLIN, 0};
        connections[polled_count] = self;
        polled_count++;
        advance(polled_count - 1);
    }
}

static int listener_of(int count, char **words) {
#ifdef __wasi__
    (void)count;
    (void)words;
    return 3;
#else
    signal(SIGPIPE, SIG_IGN);
    int port = count == 2 ? atoi(words[1]) : 0, yes = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (port <= 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, INT_MAX) != 0) {
        fprintf(stderr, "usage: server PORT, a free one of loopback\n");
        exit(2);
    }
    return listener;
#endif
}

int main(int count, char **words) {
    int listener = listener_of(count, words);
    polled[0] = (struct pollfd){listener, POLLIN, 0};
    polled_count = 1;
    while (!is_over) {
        if (poll(polled, polled_count, -1) < 0) {
            if (errno == EINTR) continue;
            fprintf(stderr, "cannot wait on the sockets: error %d; is descriptor 3 a listener?\n", errno);
            return 1;
        }
        if (polled[0].revents & POLLNVAL) {
            fprintf(stderr, "descriptor %d is no listener\n", listener);
            return 1;
        }
        bool has_new = polled[0].revents != 0;
        for (nfds_t place = polled_count; place-- > 1;)
            if (polled[place].revents != 0) advance(place);
        if (has_new) welcome(listener);
    }
    while (polled_count > 1) close_connection(polled_count - 1);
    printf("fathom: served=%llu refused=%llu broken=%llu\n", (unsigned long long)served, (unsigned long long)refused,
           (unsigned long long)broken);
    return 0;
}
