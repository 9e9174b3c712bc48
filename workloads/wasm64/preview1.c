/* WASI preview 1 for programs with 64-bit memories.
 *
 * Preview 1 is defined for 32-bit pointers only, and hosts know nothing else.
 * This file stands between wasi-libc and such a host: every import keeps its
 * 32-bit signature, and what contains a pointer or a size is translated:
 *
 *   libc (wasm64)                 host
 *   pointer, size_t   8 bytes  →  4 bytes
 *   iovec            16 bytes  →  8 bytes, copied to the stack
 *   size result       8 bytes  ←  4 bytes
 *   argv, environ     8 bytes  ←  4 bytes each, widened in place
 *
 * What must stay true: nothing at or above 4 GiB is handed to the host. Such a
 * buffer is refused with EFAULT; the stack and static data lie below, and so
 * does the heap until it has grown that far. */
#define _WASI_EMULATED_PROCESS_CLOCKS
#include <string.h>
#include <time.h>
#include <wasi/api.h>

/* Vectors handed over in one call; a longer request is cut short, as POSIX allows. */
#define VECTORS_MAX 16

#define IMPORT(name, ...) \
    __attribute__((import_module("wasi_snapshot_preview1"), import_name(#name))) int32_t host_##name(__VA_ARGS__)

typedef struct {
    uint32_t buffer;
    uint32_t length;
} vector32;

_Static_assert(sizeof(void *) == 8 && sizeof(vector32) == 8, "for 64-bit memories only");

/* Whether all of a range lies below 4 GiB. */
static int is_low(const void *start, size_t length) {
    uintptr_t at = (uintptr_t)start;
    return at <= UINT32_MAX && length <= UINT32_MAX - at;
}

/* An address that is_low has accepted, or that of a variable on the stack. */
static int32_t low(const void *pointer) {
    return (int32_t)(uintptr_t)pointer;
}

#define REFUSE_HIGH(pointer, length) \
    if (!is_low(pointer, length)) return __WASI_ERRNO_FAULT

/* Translates iovecs. Returns how many, or -1 where a buffer lies too high. */
static int translate(vector32 *to, const __wasi_iovec_t *from, size_t count) {
    if (count > VECTORS_MAX) count = VECTORS_MAX;
    for (size_t i = 0; i < count; i++) {
        if (!is_low(from[i].buf, from[i].buf_len)) return -1;
        to[i] = (vector32){(uint32_t)(uintptr_t)from[i].buf, (uint32_t)from[i].buf_len};
    }
    return (int)count;
}

/* Widens `count` 32-bit pointers at the start of `array`, from its end backwards. */
static void widen(uint8_t **array, uint32_t count) {
    while (count-- > 0) {
        uint32_t pointer;
        memcpy(&pointer, (char *)array + 4 * (size_t)count, sizeof pointer);
        array[count] = (uint8_t *)(uintptr_t)pointer;
    }
}

/* Arguments and environment. */

IMPORT(args_get, int32_t, int32_t);
IMPORT(args_sizes_get, int32_t, int32_t);
IMPORT(environ_get, int32_t, int32_t);
IMPORT(environ_sizes_get, int32_t, int32_t);

#define STRINGS(name)                                                              \
    __wasi_errno_t __wasi_##name##_sizes_get(__wasi_size_t *count, __wasi_size_t *bytes) { \
        uint32_t sizes[2] = {0, 0};                                                \
        int32_t error = host_##name##_sizes_get(low(&sizes[0]), low(&sizes[1]));   \
        *count = sizes[0];                                                         \
        *bytes = sizes[1];                                                         \
        return (__wasi_errno_t)error;                                              \
    }                                                                              \
    __wasi_errno_t __wasi_##name##_get(uint8_t **pointers, uint8_t *text) {        \
        __wasi_size_t count, bytes;                                                \
        __wasi_errno_t error = __wasi_##name##_sizes_get(&count, &bytes);          \
        if (error != 0) return error;                                              \
        REFUSE_HIGH(pointers, count * sizeof *pointers);                           \
        REFUSE_HIGH(text, bytes);                                                  \
        error = (__wasi_errno_t)host_##name##_get(low(pointers), low(text));       \
        if (error == 0) widen(pointers, (uint32_t)count);                          \
        return error;                                                              \
    }

STRINGS(args)
STRINGS(environ)

/* Clocks, chance, the end. */

IMPORT(clock_res_get, int32_t, int32_t);
IMPORT(clock_time_get, int32_t, int64_t, int32_t);
IMPORT(random_get, int32_t, int32_t);
IMPORT(sched_yield, void);
IMPORT(poll_oneoff, int32_t, int32_t, int32_t, int32_t);
__attribute__((import_module("wasi_snapshot_preview1"), import_name("proc_exit"))) _Noreturn void host_proc_exit(int32_t);

__wasi_errno_t __wasi_clock_res_get(__wasi_clockid_t id, __wasi_timestamp_t *result) {
    REFUSE_HIGH(result, sizeof *result);
    return (__wasi_errno_t)host_clock_res_get((int32_t)id, low(result));
}

__wasi_errno_t __wasi_clock_time_get(__wasi_clockid_t id, __wasi_timestamp_t precision, __wasi_timestamp_t *result) {
    REFUSE_HIGH(result, sizeof *result);
    return (__wasi_errno_t)host_clock_time_get((int32_t)id, (int64_t)precision, low(result));
}

__wasi_errno_t __wasi_random_get(uint8_t *buffer, __wasi_size_t length) {
    REFUSE_HIGH(buffer, length);
    return (__wasi_errno_t)host_random_get(low(buffer), (int32_t)length);
}

__wasi_errno_t __wasi_sched_yield(void) {
    return (__wasi_errno_t)host_sched_yield();
}

__wasi_errno_t __wasi_poll_oneoff(const __wasi_subscription_t *in, __wasi_event_t *out, __wasi_size_t count,
                                  __wasi_size_t *result) {
    uint32_t happened = 0;
    if (count > UINT32_MAX / sizeof *in) return __WASI_ERRNO_INVAL;
    REFUSE_HIGH(in, count * sizeof *in);
    REFUSE_HIGH(out, count * sizeof *out);
    int32_t error = host_poll_oneoff(low(in), low(out), (int32_t)count, low(&happened));
    *result = happened;
    return (__wasi_errno_t)error;
}

_Noreturn void __wasi_proc_exit(__wasi_exitcode_t code) {
    host_proc_exit((int32_t)code);
}

/* Reading and writing: everything with iovecs. */

IMPORT(fd_read, int32_t, int32_t, int32_t, int32_t);
IMPORT(fd_write, int32_t, int32_t, int32_t, int32_t);
IMPORT(fd_pread, int32_t, int32_t, int32_t, int64_t, int32_t);
IMPORT(fd_pwrite, int32_t, int32_t, int32_t, int64_t, int32_t);
IMPORT(sock_recv, int32_t, int32_t, int32_t, int32_t, int32_t, int32_t);
IMPORT(sock_send, int32_t, int32_t, int32_t, int32_t, int32_t);

/* `call` may use `vectors`, `many` and `moved`. */
#define MOVE(from, count, result, call)                                   \
    vector32 vectors[VECTORS_MAX];                                        \
    uint32_t moved = 0;                                                   \
    int many = translate(vectors, (const __wasi_iovec_t *)(from), count); \
    if (many < 0) return __WASI_ERRNO_FAULT;                              \
    int32_t error = call;                                                 \
    *(result) = moved;                                                    \
    return (__wasi_errno_t)error

__wasi_errno_t __wasi_fd_read(__wasi_fd_t fd, const __wasi_iovec_t *to, size_t count, __wasi_size_t *result) {
    MOVE(to, count, result, host_fd_read(fd, low(vectors), many, low(&moved)));
}

__wasi_errno_t __wasi_fd_write(__wasi_fd_t fd, const __wasi_ciovec_t *from, size_t count, __wasi_size_t *result) {
    MOVE(from, count, result, host_fd_write(fd, low(vectors), many, low(&moved)));
}

__wasi_errno_t __wasi_fd_pread(__wasi_fd_t fd, const __wasi_iovec_t *to, size_t count, __wasi_filesize_t offset,
                               __wasi_size_t *result) {
    MOVE(to, count, result, host_fd_pread(fd, low(vectors), many, (int64_t)offset, low(&moved)));
}

__wasi_errno_t __wasi_fd_pwrite(__wasi_fd_t fd, const __wasi_ciovec_t *from, size_t count, __wasi_filesize_t offset,
                                __wasi_size_t *result) {
    MOVE(from, count, result, host_fd_pwrite(fd, low(vectors), many, (int64_t)offset, low(&moved)));
}

__wasi_errno_t __wasi_sock_recv(__wasi_fd_t fd, const __wasi_iovec_t *to, size_t count, __wasi_riflags_t flags,
                                __wasi_size_t *result, __wasi_roflags_t *out_flags) {
    REFUSE_HIGH(out_flags, sizeof *out_flags);
    MOVE(to, count, result, host_sock_recv(fd, low(vectors), many, flags, low(&moved), low(out_flags)));
}

__wasi_errno_t __wasi_sock_send(__wasi_fd_t fd, const __wasi_ciovec_t *from, size_t count, __wasi_siflags_t flags,
                                __wasi_size_t *result) {
    MOVE(from, count, result, host_sock_send(fd, low(vectors), many, flags, low(&moved)));
}

/* Descriptors: numbers only, or a structure without pointers. */

#define PLAIN(name, types, parameters, arguments)             \
    IMPORT(name, ENCLOSED types);                             \
    __wasi_errno_t __wasi_##name(ENCLOSED parameters) {       \
        return (__wasi_errno_t)host_##name(ENCLOSED arguments); \
    }
#define ENCLOSED(...) __VA_ARGS__
#define FILLS(name, type, types, parameters, arguments)                        \
    IMPORT(name, ENCLOSED types, int32_t);                                     \
    __wasi_errno_t __wasi_##name(ENCLOSED parameters, type *result) {          \
        REFUSE_HIGH(result, sizeof *result);                                   \
        return (__wasi_errno_t)host_##name(ENCLOSED arguments, low(result));   \
    }

PLAIN(fd_close, (int32_t), (__wasi_fd_t fd), (fd))
PLAIN(fd_sync, (int32_t), (__wasi_fd_t fd), (fd))
PLAIN(fd_datasync, (int32_t), (__wasi_fd_t fd), (fd))
PLAIN(fd_renumber, (int32_t, int32_t), (__wasi_fd_t fd, __wasi_fd_t to), (fd, to))
PLAIN(fd_advise, (int32_t, int64_t, int64_t, int32_t),
      (__wasi_fd_t fd, __wasi_filesize_t offset, __wasi_filesize_t length, __wasi_advice_t advice),
      (fd, (int64_t)offset, (int64_t)length, advice))
PLAIN(fd_allocate, (int32_t, int64_t, int64_t), (__wasi_fd_t fd, __wasi_filesize_t offset, __wasi_filesize_t length),
      (fd, (int64_t)offset, (int64_t)length))
PLAIN(fd_fdstat_set_flags, (int32_t, int32_t), (__wasi_fd_t fd, __wasi_fdflags_t flags), (fd, flags))
PLAIN(fd_fdstat_set_rights, (int32_t, int64_t, int64_t), (__wasi_fd_t fd, __wasi_rights_t base, __wasi_rights_t more),
      (fd, (int64_t)base, (int64_t)more))
PLAIN(fd_filestat_set_size, (int32_t, int64_t), (__wasi_fd_t fd, __wasi_filesize_t size), (fd, (int64_t)size))
PLAIN(fd_filestat_set_times, (int32_t, int64_t, int64_t, int32_t),
      (__wasi_fd_t fd, __wasi_timestamp_t accessed, __wasi_timestamp_t modified, __wasi_fstflags_t flags),
      (fd, (int64_t)accessed, (int64_t)modified, flags))
PLAIN(sock_shutdown, (int32_t, int32_t), (__wasi_fd_t fd, __wasi_sdflags_t how), (fd, how))

FILLS(fd_fdstat_get, __wasi_fdstat_t, (int32_t), (__wasi_fd_t fd), (fd))
FILLS(fd_filestat_get, __wasi_filestat_t, (int32_t), (__wasi_fd_t fd), (fd))
FILLS(fd_tell, __wasi_filesize_t, (int32_t), (__wasi_fd_t fd), (fd))
FILLS(fd_seek, __wasi_filesize_t, (int32_t, int64_t, int32_t),
      (__wasi_fd_t fd, __wasi_filedelta_t offset, __wasi_whence_t whence), (fd, offset, whence))
FILLS(sock_accept, __wasi_fd_t, (int32_t, int32_t), (__wasi_fd_t fd, __wasi_fdflags_t flags), (fd, flags))

IMPORT(fd_prestat_get, int32_t, int32_t);
IMPORT(fd_prestat_dir_name, int32_t, int32_t, int32_t);
IMPORT(fd_readdir, int32_t, int32_t, int32_t, int64_t, int32_t);

__wasi_errno_t __wasi_fd_prestat_get(__wasi_fd_t fd, __wasi_prestat_t *result) {
    struct {
        uint8_t tag;
        uint32_t name_length;
    } found = {0, 0};
    int32_t error = host_fd_prestat_get(fd, low(&found));
    result->tag = found.tag;
    result->u.dir.pr_name_len = found.name_length;
    return (__wasi_errno_t)error;
}

__wasi_errno_t __wasi_fd_prestat_dir_name(__wasi_fd_t fd, uint8_t *path, __wasi_size_t length) {
    REFUSE_HIGH(path, length);
    return (__wasi_errno_t)host_fd_prestat_dir_name(fd, low(path), (int32_t)length);
}

__wasi_errno_t __wasi_fd_readdir(__wasi_fd_t fd, uint8_t *buffer, __wasi_size_t length, __wasi_dircookie_t cookie,
                                 __wasi_size_t *result) {
    uint32_t used = 0;
    REFUSE_HIGH(buffer, length);
    int32_t error = host_fd_readdir(fd, low(buffer), (int32_t)length, (int64_t)cookie, low(&used));
    *result = used;
    return (__wasi_errno_t)error;
}

/* Paths: each goes as address and length. */

IMPORT(path_create_directory, int32_t, int32_t, int32_t);
IMPORT(path_filestat_get, int32_t, int32_t, int32_t, int32_t, int32_t);
IMPORT(path_filestat_set_times, int32_t, int32_t, int32_t, int32_t, int64_t, int64_t, int32_t);
IMPORT(path_link, int32_t, int32_t, int32_t, int32_t, int32_t, int32_t, int32_t);
IMPORT(path_open, int32_t, int32_t, int32_t, int32_t, int32_t, int64_t, int64_t, int32_t, int32_t);
IMPORT(path_readlink, int32_t, int32_t, int32_t, int32_t, int32_t, int32_t);
IMPORT(path_remove_directory, int32_t, int32_t, int32_t);
IMPORT(path_rename, int32_t, int32_t, int32_t, int32_t, int32_t, int32_t);
IMPORT(path_symlink, int32_t, int32_t, int32_t, int32_t, int32_t);
IMPORT(path_unlink_file, int32_t, int32_t, int32_t);

/* Measures a path and refuses a high one. */
#define PATH(path)                \
    size_t path##_n = strlen(path); \
    REFUSE_HIGH(path, path##_n)
/* What the host takes for it. */
#define AS_PATH(path) low(path), (int32_t)path##_n

__wasi_errno_t __wasi_path_create_directory(__wasi_fd_t fd, const char *path) {
    PATH(path);
    return (__wasi_errno_t)host_path_create_directory(fd, AS_PATH(path));
}

__wasi_errno_t __wasi_path_filestat_get(__wasi_fd_t fd, __wasi_lookupflags_t flags, const char *path,
                                        __wasi_filestat_t *result) {
    PATH(path);
    REFUSE_HIGH(result, sizeof *result);
    return (__wasi_errno_t)host_path_filestat_get(fd, (int32_t)flags, AS_PATH(path), low(result));
}

__wasi_errno_t __wasi_path_filestat_set_times(__wasi_fd_t fd, __wasi_lookupflags_t flags, const char *path,
                                              __wasi_timestamp_t accessed, __wasi_timestamp_t modified,
                                              __wasi_fstflags_t which) {
    PATH(path);
    return (__wasi_errno_t)host_path_filestat_set_times(fd, (int32_t)flags, AS_PATH(path), (int64_t)accessed,
                                                        (int64_t)modified, which);
}

__wasi_errno_t __wasi_path_link(__wasi_fd_t old_fd, __wasi_lookupflags_t flags, const char *old_path,
                                __wasi_fd_t new_fd, const char *new_path) {
    PATH(old_path);
    PATH(new_path);
    return (__wasi_errno_t)host_path_link(old_fd, (int32_t)flags, AS_PATH(old_path), new_fd, AS_PATH(new_path));
}

__wasi_errno_t __wasi_path_open(__wasi_fd_t fd, __wasi_lookupflags_t flags, const char *path, __wasi_oflags_t how,
                                __wasi_rights_t base, __wasi_rights_t more, __wasi_fdflags_t fd_flags,
                                __wasi_fd_t *result) {
    PATH(path);
    REFUSE_HIGH(result, sizeof *result);
    return (__wasi_errno_t)host_path_open(fd, (int32_t)flags, AS_PATH(path), how, (int64_t)base, (int64_t)more,
                                          fd_flags, low(result));
}

__wasi_errno_t __wasi_path_readlink(__wasi_fd_t fd, const char *path, uint8_t *buffer, __wasi_size_t length,
                                    __wasi_size_t *result) {
    uint32_t used = 0;
    PATH(path);
    REFUSE_HIGH(buffer, length);
    int32_t error = host_path_readlink(fd, AS_PATH(path), low(buffer), (int32_t)length, low(&used));
    *result = used;
    return (__wasi_errno_t)error;
}

__wasi_errno_t __wasi_path_remove_directory(__wasi_fd_t fd, const char *path) {
    PATH(path);
    return (__wasi_errno_t)host_path_remove_directory(fd, AS_PATH(path));
}

__wasi_errno_t __wasi_path_rename(__wasi_fd_t old_fd, const char *old_path, __wasi_fd_t new_fd, const char *new_path) {
    PATH(old_path);
    PATH(new_path);
    return (__wasi_errno_t)host_path_rename(old_fd, AS_PATH(old_path), new_fd, AS_PATH(new_path));
}

__wasi_errno_t __wasi_path_symlink(const char *old_path, __wasi_fd_t fd, const char *new_path) {
    PATH(old_path);
    PATH(new_path);
    return (__wasi_errno_t)host_path_symlink(AS_PATH(old_path), fd, AS_PATH(new_path));
}

__wasi_errno_t __wasi_path_unlink_file(__wasi_fd_t fd, const char *path) {
    PATH(path);
    return (__wasi_errno_t)host_path_unlink_file(fd, AS_PATH(path));
}

/* The C library's clock of a process. WASI has none: it counts from the first call,
 * waiting included, as wasi-libc's emulation does from the start. */
clock_t clock(void) {
    static struct timespec start;
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return -1;
    if (start.tv_sec == 0 && start.tv_nsec == 0) start = now;
    return (now.tv_sec - start.tv_sec) * CLOCKS_PER_SEC + (now.tv_nsec - start.tv_nsec) / (1000000000 / CLOCKS_PER_SEC);
}
