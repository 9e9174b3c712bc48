/* Calls on descriptors at the interface itself: what each does, and its errors. */
#include "check.h"
#include <wasi/api.h>

enum { FOLDER = 3, NONE = 99 };

static const __wasi_rights_t FILE_RIGHTS =
    __WASI_RIGHTS_FD_READ | __WASI_RIGHTS_FD_WRITE | __WASI_RIGHTS_FD_SEEK |
    __WASI_RIGHTS_FD_TELL | __WASI_RIGHTS_FD_FILESTAT_GET | __WASI_RIGHTS_FD_FILESTAT_SET_SIZE |
    __WASI_RIGHTS_FD_FILESTAT_SET_TIMES | __WASI_RIGHTS_FD_ALLOCATE |
    __WASI_RIGHTS_FD_FDSTAT_SET_FLAGS | __WASI_RIGHTS_FD_SYNC | __WASI_RIGHTS_FD_DATASYNC |
    __WASI_RIGHTS_FD_ADVISE | __WASI_RIGHTS_POLL_FD_READWRITE;

static __wasi_fd_t create(const char *path, int fdflags) {
    __wasi_fd_t fd = NONE;
    ERRNO(__wasi_path_open(FOLDER, 0, path, __WASI_OFLAGS_CREAT, FILE_RIGHTS, 0, fdflags, &fd));
    return fd;
}

static int put(__wasi_fd_t fd, const char *text) {
    __wasi_ciovec_t range = {(const uint8_t *)text, strlen(text)};
    __wasi_size_t count = 0;
    int error = __wasi_fd_write(fd, &range, 1, &count);
    return error ? -error : (int)count;
}

static int get(__wasi_fd_t fd, __wasi_filesize_t at, int len) {
    char text[32] = {0};
    __wasi_iovec_t range = {(uint8_t *)text, len};
    __wasi_size_t count = 0;
    int error = __wasi_fd_pread(fd, &range, 1, at, &count);
    if (error == 0)
        printf("'%.*s' ", (int)count, text);
    return error;
}

static void nothing_there(void) {
    __wasi_fdstat_t fdstat;
    __wasi_filestat_t stat;
    __wasi_filesize_t at;
    __wasi_size_t used;
    uint8_t byte;
    ERRNO(__wasi_fd_close(NONE));
    ERRNO(__wasi_fd_sync(NONE));
    ERRNO(__wasi_fd_datasync(NONE));
    ERRNO(__wasi_fd_fdstat_get(NONE, &fdstat));
    ERRNO(__wasi_fd_fdstat_set_flags(NONE, 0));
    ERRNO(__wasi_fd_filestat_get(NONE, &stat));
    ERRNO(__wasi_fd_filestat_set_size(NONE, 0));
    ERRNO(__wasi_fd_filestat_set_times(NONE, 0, 0, 0));
    ERRNO(__wasi_fd_seek(NONE, 0, __WASI_WHENCE_SET, &at));
    ERRNO(__wasi_fd_tell(NONE, &at));
    ERRNO(__wasi_fd_readdir(NONE, &byte, 1, 0, &used));
    ERRNO(__wasi_fd_renumber(NONE, FOLDER));
    ERRNO(-put(NONE, "x"));
    ERRNO(get(NONE, 0, 1));
}

static void positions(void) {
    __wasi_fd_t fd = create("positions", 0);
    __wasi_filesize_t at = 0;
    __wasi_filestat_t stat;
    VALUE(put(fd, "0123456789"));
    ERRNO(__wasi_fd_seek(fd, -4, __WASI_WHENCE_END, &at));
    VALUE(at);
    ERRNO(__wasi_fd_seek(fd, -2, __WASI_WHENCE_CUR, &at));
    VALUE(at);
    ERRNO(__wasi_fd_seek(fd, -5, __WASI_WHENCE_CUR, &at));
    ERRNO(__wasi_fd_tell(fd, &at));
    VALUE(at);
    ERRNO(get(fd, 2, 3));
    ERRNO(get(fd, 8, 9));
    ERRNO(get(fd, 20, 3));
    ERRNO(__wasi_fd_seek(fd, 15, __WASI_WHENCE_SET, &at));
    VALUE(put(fd, "end"));
    ERRNO(__wasi_fd_filestat_get(fd, &stat));
    VALUE(stat.size);
    ERRNO(__wasi_fd_filestat_set_size(fd, 4));
    ERRNO(__wasi_fd_filestat_get(fd, &stat));
    VALUE(stat.size);
    ERRNO(__wasi_fd_allocate(fd, 0, 64));
    ERRNO(__wasi_fd_filestat_get(fd, &stat));
    VALUE(stat.size);
    ERRNO(__wasi_fd_allocate(fd, 0, 0));
    ERRNO(__wasi_fd_advise(fd, 0, 64, __WASI_ADVICE_SEQUENTIAL));
    ERRNO(__wasi_fd_sync(fd));
    ERRNO(__wasi_fd_datasync(fd));
    ERRNO(__wasi_fd_filestat_set_times(fd, 3, 4, __WASI_FSTFLAGS_ATIM | __WASI_FSTFLAGS_MTIM));
    ERRNO(__wasi_fd_filestat_get(fd, &stat));
    printf("read at %d, written at %d\n", (int)stat.atim, (int)stat.mtim);
    ERRNO(__wasi_fd_close(fd));
}

static void flags(void) {
    __wasi_fdstat_t stat;
    __wasi_filesize_t at;
    __wasi_fd_t fd = create("flags", __WASI_FDFLAGS_APPEND);
    VALUE(put(fd, "one "));
    ERRNO(__wasi_fd_seek(fd, 0, __WASI_WHENCE_SET, &at));
    VALUE(put(fd, "two "));
    ERRNO(get(fd, 0, 16));
    ERRNO(__wasi_fd_fdstat_get(fd, &stat));
    VALUE(stat.fs_flags);
    VALUE(stat.fs_filetype);
    ERRNO(__wasi_fd_fdstat_set_flags(fd, 0));
    ERRNO(__wasi_fd_fdstat_get(fd, &stat));
    VALUE(stat.fs_flags);
    ERRNO(__wasi_fd_seek(fd, 0, __WASI_WHENCE_SET, &at));
    VALUE(put(fd, "ONE "));
    ERRNO(get(fd, 0, 16));
    ERRNO(__wasi_fd_close(fd));
}

static void renumbering(void) {
    __wasi_fd_t one = create("one", 0), two = create("two", 0);
    VALUE(put(one, "one"));
    ERRNO(__wasi_fd_renumber(one, two));
    ERRNO(get(two, 0, 3));
    ERRNO(get(one, 0, 3));
    __wasi_fd_t again = create("again", 0);
    HOLDS(again == one);
    ERRNO(__wasi_fd_close(again));
    ERRNO(__wasi_fd_close(two));
}

/* Entries from a cookie on; the cookie of the second is left in `next`. */
static int list(__wasi_dircookie_t cookie, __wasi_size_t room, __wasi_dircookie_t *next) {
    static uint8_t buffer[4096];
    __wasi_size_t used = 0;
    int error = __wasi_fd_readdir(FOLDER, buffer, room, cookie, &used), count = 0;
    if (error)
        return -error;
    for (__wasi_size_t at = 0; at + sizeof(__wasi_dirent_t) <= used;) {
        __wasi_dirent_t entry;
        memcpy(&entry, buffer + at, sizeof entry);
        at += sizeof entry + entry.d_namlen;
        if (++count == 2 && next)
            *next = entry.d_next;
    }
    return count;
}

static void listing(void) {
    __wasi_dircookie_t second = 0;
    /* ".", "..", two links that are there from the start, five files. */
    VALUE(list(0, 4096, &second));
    VALUE(list(second, 4096, NULL));
    VALUE(list(0, 4096, NULL));
    VALUE(list(0, 0, NULL));
    VALUE(list(0, 24, NULL));
}

/* Folders and files are not each other, and rights are kept. */
static void kinds(void) {
    __wasi_fd_t fd = create("kinds", 0), inner;
    __wasi_filesize_t at;
    ERRNO(__wasi_path_create_directory(fd, "x"));
    ERRNO(__wasi_path_open(fd, 0, "x", 0, 0, 0, 0, &inner));
    HOLDS(put(FOLDER, "x") < 0);
    HOLDS(get(FOLDER, 0, 1) != 0);
    HOLDS(__wasi_fd_seek(FOLDER, 0, __WASI_WHENCE_SET, &at) != 0);
    HOLDS(__wasi_fd_filestat_set_size(FOLDER, 0) != 0);
    ERRNO(__wasi_fd_close(fd));
    ERRNO(__wasi_path_open(FOLDER, 0, "kinds", 0, __WASI_RIGHTS_FD_READ, 0, 0, &fd));
    HOLDS(put(fd, "x") < 0);
    HOLDS(__wasi_fd_filestat_set_size(fd, 0) != 0);
    ERRNO(__wasi_fd_close(fd));
}

static void waits(void) {
    __wasi_subscription_t subs[4] = {0};
    __wasi_event_t events[4];
    __wasi_size_t count = 0;
    __wasi_fd_t fd = create("waits", 0);
    VALUE(put(fd, "12345"));
    /* A file, none, an unknown clock, and a clock that would come much later. */
    subs[0] = (__wasi_subscription_t){.userdata = 1, .u = {.tag = __WASI_EVENTTYPE_FD_WRITE}};
    subs[0].u.u.fd_write.file_descriptor = fd;
    subs[1] = (__wasi_subscription_t){.userdata = 2, .u = {.tag = __WASI_EVENTTYPE_FD_READ}};
    subs[1].u.u.fd_read.file_descriptor = NONE;
    subs[2] = (__wasi_subscription_t){.userdata = 3, .u = {.tag = __WASI_EVENTTYPE_CLOCK}};
    subs[2].u.u.clock.id = __WASI_CLOCKID_MONOTONIC;
    subs[2].u.u.clock.timeout = 3600000000000ULL;
    ERRNO(__wasi_poll_oneoff(subs, events, 3, &count));
    for (__wasi_size_t i = 0; i < count; i++)
        printf("user data %d, error %d, type %d\n", (int)events[i].userdata, events[i].error,
               events[i].type);
    ERRNO(__wasi_poll_oneoff(subs, events, 0, &count));
    ERRNO(__wasi_fd_close(fd));
}

int main(void) {
    nothing_there();
    positions();
    flags();
    renumbering();
    listing();
    kinds();
    waits();
    fflush(stdout);
    __wasi_proc_exit(33);
}
