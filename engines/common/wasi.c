// WASI: the table of functions; arguments, environment, clocks, random bytes, waiting,
// the program's end.

#define _GNU_SOURCE
#include "preview1.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "wasi_host.h"

uint32_t wasi_error(int number) {
    static const struct {
        int host;
        uint32_t guest;
    } numbers[] = {
        {0, 0}, {E2BIG, 1}, {EACCES, 2}, {EAGAIN, 6}, {EBADF, 8}, {EBUSY, 10}, {EDEADLK, 16}, {EDQUOT, 19},
        {EEXIST, 20}, {EFAULT, 21}, {EFBIG, 22}, {EILSEQ, 25}, {EINTR, 27}, {EINVAL, 28}, {EIO, 29}, {EISDIR, 31},
        {ELOOP, 32}, {EMFILE, 33}, {EMLINK, 34}, {ENAMETOOLONG, 37}, {ENFILE, 41}, {ENODEV, 43}, {ENOENT, 44},
        {ENOMEM, 48}, {ENOSPC, 51}, {ENOSYS, 52}, {ENOTDIR, 54}, {ENOTEMPTY, 55}, {ENOTSUP, 58}, {ENOTTY, 59},
        {ENXIO, 60}, {EOVERFLOW, 61}, {EPERM, 63}, {EPIPE, 64}, {ERANGE, 68}, {EROFS, 69}, {ESPIPE, 70},
        {ETXTBSY, 74},
        // What the kernel says of a path that leaves its folder.
        {EXDEV, E_NOTCAPABLE},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (numbers[i].host == number) return numbers[i].guest;
    }
    return 29;
}

int wasi_adopt(struct wasi *wasi, int fd, const char *guest) {
    for (int number = 0; number < DESCRIPTORS_MAX; number++) {
        if (wasi->descriptors[number].fd >= 0) continue;
        wasi->descriptors[number] = (struct descriptor){fd, guest};
        return number;
    }
    return -1;
}

static void open_for(struct wasi *wasi, const char *path, int flags, const char *guest, const char *what) {
    int fd = open(path, flags | O_CLOEXEC, 0644);
    if (fd < 0) fail("io", "cannot %s %s: %s", what, path, strerror(errno));
    wasi_adopt(wasi, fd, guest);
}

struct wasi *wasi_new(const struct world *world) {
    struct wasi *wasi = calloc(1, sizeof *wasi);
    if (wasi == NULL) fail("internal", "out of memory");
    wasi->world = *world;
    for (size_t i = 0; i < DESCRIPTORS_MAX; i++) wasi->descriptors[i].fd = -1;
    const char *input = world->stdin_path == NULL ? "/dev/null" : world->stdin_path;
    open_for(wasi, input, O_RDONLY, NULL, "read");
    open_for(wasi, world->stdout_path, O_WRONLY | O_CREAT | O_TRUNC, NULL, "write");
    open_for(wasi, world->stderr_path, O_WRONLY | O_CREAT | O_TRUNC, NULL, "write");
    for (size_t i = 0; i < world->folder_count; i++) {
        open_for(wasi, world->folder_hosts[i], O_RDONLY | O_DIRECTORY, world->folder_guests[i], "open the folder");
    }
    return wasi;
}

void wasi_delete(struct wasi *wasi) {
    for (size_t i = 0; i < DESCRIPTORS_MAX; i++) {
        if (wasi->descriptors[i].fd >= 0) close(wasi->descriptors[i].fd);
    }
    free(wasi);
}

bool wasi_exited(const struct wasi *wasi) {
    return wasi->exited;
}

int wasi_exit_code(const struct wasi *wasi) {
    return wasi->exit_code;
}

// The i-th argument, or variable as NAME=VALUE.
static const char *text_of(const struct world *world, bool variables, size_t i, char **made) {
    *made = NULL;
    if (!variables) return world->args[i];
    if (asprintf(made, "%s=%s", world->env_names[i], world->env_values[i]) < 0) fail("internal", "out of memory");
    return *made;
}

static uint32_t list_sizes(struct wasi *wasi, struct guest *guest, const uint64_t *args, bool variables) {
    size_t count = variables ? wasi->world.env_count : wasi->world.arg_count, bytes = 0;
    for (size_t i = 0; i < count; i++) {
        char *made;
        bytes += strlen(text_of(&wasi->world, variables, i, &made)) + 1;
        free(made);
    }
    uint32_t error = put_u32(guest, args[0], (uint32_t)count);
    return error != 0 ? error : put_u32(guest, args[1], (uint32_t)bytes);
}

static uint32_t list(struct wasi *wasi, struct guest *guest, const uint64_t *args, bool variables) {
    size_t count = variables ? wasi->world.env_count : wasi->world.arg_count;
    uint32_t at = (uint32_t)args[1], error = 0;
    for (size_t i = 0; i < count && error == 0; i++) {
        char *made;
        const char *text = text_of(&wasi->world, variables, i, &made);
        size_t size = strlen(text) + 1;
        error = put_u32(guest, args[0] + 4 * i, at);
        if (error == 0 && !put(guest, at, text, size)) error = E_FAULT;
        at += (uint32_t)size;
        free(made);
    }
    return error;
}

static uint32_t args_sizes_get(struct wasi *w, struct guest *g, const uint64_t *a) { return list_sizes(w, g, a, false); }
static uint32_t args_get(struct wasi *w, struct guest *g, const uint64_t *a) { return list(w, g, a, false); }
static uint32_t environ_sizes_get(struct wasi *w, struct guest *g, const uint64_t *a) { return list_sizes(w, g, a, true); }
static uint32_t environ_get(struct wasi *w, struct guest *g, const uint64_t *a) { return list(w, g, a, true); }

static bool clock_of(uint64_t number, clockid_t *clock) {
    static const clockid_t clocks[] = {
        CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID};
    if (number < 4) *clock = clocks[number];
    return number < 4;
}

static uint64_t as_ns(struct timespec time) {
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint32_t clock_res_get_(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    (void)wasi;
    clockid_t clock;
    struct timespec time;
    if (!clock_of(args[0], &clock)) return E_INVAL;
    if (clock_getres(clock, &time) != 0) return wasi_error(errno);
    return put_u64(guest, args[1], as_ns(time));
}

static uint32_t clock_time_get(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    (void)wasi;
    clockid_t clock;
    struct timespec time;
    if (!clock_of(args[0], &clock)) return E_INVAL;
    if (clock_gettime(clock, &time) != 0) return wasi_error(errno);
    return put_u64(guest, args[2], as_ns(time));
}

static uint32_t random_get(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    (void)wasi;
    uint32_t left = (uint32_t)args[1];
    uint8_t *to = guest_at(guest, args[0], left);
    if (to == NULL) return E_FAULT;
    while (left > 0) {
        ssize_t got = getrandom(to, left, 0);
        if (got < 0 && errno != EINTR) return wasi_error(errno);
        if (got > 0) to += got, left -= (uint32_t)got;
    }
    return E_SUCCESS;
}

static uint32_t sched_yield_(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    (void)wasi, (void)guest, (void)args;
    sched_yield();
    return E_SUCCESS;
}

static uint32_t proc_exit(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    (void)guest;
    wasi->exited = true;
    wasi->exit_code = (int)(uint32_t)args[0];
    return E_SUCCESS;
}

// What a guest waits for: 48 bytes; and what came of it: 32.
#define SUBSCRIPTION_SIZE 48
#define EVENT_SIZE 32
enum { WAIT_CLOCK, WAIT_READ, WAIT_WRITE };

// When the earliest clock of the subscriptions rings, from now.
static uint64_t wait_ns(const uint8_t *subscriptions, uint32_t count) {
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *one = subscriptions + (size_t)i * SUBSCRIPTION_SIZE;
        // Files are always ready.
        if (one[8] != WAIT_CLOCK) return 0;
        uint64_t timeout;
        uint32_t number;
        uint16_t flags;
        clockid_t clock;
        memcpy(&number, one + 16, sizeof number);
        memcpy(&timeout, one + 24, sizeof timeout);
        memcpy(&flags, one + 40, sizeof flags);
        struct timespec now = {0};
        if ((flags & 1) != 0 && clock_of(number, &clock) && clock_gettime(clock, &now) == 0) {
            timeout = timeout > as_ns(now) ? timeout - as_ns(now) : 0;
        }
        if (timeout < least) least = timeout;
    }
    return least;
}

static uint32_t poll_oneoff(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    (void)wasi;
    uint32_t count = (uint32_t)args[2], told = 0;
    if (count == 0) return E_INVAL;
    const uint8_t *subscriptions = guest_at(guest, args[0], (uint64_t)count * SUBSCRIPTION_SIZE);
    uint8_t *events = guest_at(guest, args[1], (uint64_t)count * EVENT_SIZE);
    if (subscriptions == NULL || events == NULL) return E_FAULT;
    uint64_t ns = wait_ns(subscriptions, count);
    struct timespec time = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
    while (ns > 0 && clock_nanosleep(CLOCK_MONOTONIC, 0, &time, &time) == EINTR) continue;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *one = subscriptions + (size_t)i * SUBSCRIPTION_SIZE;
        uint8_t event[EVENT_SIZE] = {0};
        if (ns == 0 && one[8] == WAIT_CLOCK) continue;
        memcpy(event, one, 8);
        event[10] = one[8];
        memcpy(events + (size_t)told++ * EVENT_SIZE, event, sizeof event);
    }
    return put_u32(guest, args[3], told);
}

static uint32_t refused(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    (void)wasi, (void)guest, (void)args;
    return E_NOTSUP;
}

const struct wasi_function wasi_functions[] = {
    {"args_get", "ii", args_get},
    {"args_sizes_get", "ii", args_sizes_get},
    {"clock_res_get", "ii", clock_res_get_},
    {"clock_time_get", "iIi", clock_time_get},
    {"environ_get", "ii", environ_get},
    {"environ_sizes_get", "ii", environ_sizes_get},
    {"fd_advise", "iIIi", fd_advise},
    {"fd_allocate", "iII", fd_allocate},
    {"fd_close", "i", fd_close},
    {"fd_datasync", "i", fd_datasync},
    {"fd_fdstat_get", "ii", fd_fdstat_get},
    {"fd_fdstat_set_flags", "ii", fd_fdstat_set_flags},
    {"fd_fdstat_set_rights", "iII", fd_fdstat_set_rights},
    {"fd_filestat_get", "ii", fd_filestat_get},
    {"fd_filestat_set_size", "iI", fd_filestat_set_size},
    {"fd_filestat_set_times", "iIIi", fd_filestat_set_times},
    {"fd_pread", "iiiIi", fd_pread},
    {"fd_prestat_dir_name", "iii", fd_prestat_dir_name},
    {"fd_prestat_get", "ii", fd_prestat_get},
    {"fd_pwrite", "iiiIi", fd_pwrite},
    {"fd_read", "iiii", fd_read},
    {"fd_readdir", "iiiIi", fd_readdir},
    {"fd_renumber", "ii", fd_renumber},
    {"fd_seek", "iIii", fd_seek},
    {"fd_sync", "i", fd_sync},
    {"fd_tell", "ii", fd_tell},
    {"fd_write", "iiii", fd_write},
    {"path_create_directory", "iii", path_create_directory},
    {"path_filestat_get", "iiiii", path_filestat_get},
    {"path_filestat_set_times", "iiiiIIi", path_filestat_set_times},
    {"path_link", "iiiiiii", path_link},
    {"path_open", "iiiiiIIii", path_open},
    {"path_readlink", "iiiiii", path_readlink},
    {"path_remove_directory", "iii", path_remove_directory},
    {"path_rename", "iiiiii", path_rename},
    {"path_symlink", "iiiii", path_symlink},
    {"path_unlink_file", "iii", path_unlink_file},
    {"poll_oneoff", "iiii", poll_oneoff},
    {"proc_exit", "i", proc_exit},
    {"proc_raise", "i", refused},
    {"random_get", "ii", random_get},
    {"sched_yield", "", sched_yield_},
    {"sock_accept", "iii", refused},
    {"sock_recv", "iiiiii", refused},
    {"sock_send", "iiiii", refused},
    {"sock_shutdown", "ii", refused},
};
const size_t wasi_function_count = sizeof wasi_functions / sizeof *wasi_functions;

const struct wasi_function *wasi_find(const char *name) {
    for (size_t i = 0; i < wasi_function_count; i++) {
        if (strcmp(wasi_functions[i].name, name) == 0) return &wasi_functions[i];
    }
    return NULL;
}
