/* The interface itself, where the C library does not reach. */
#include "check.h"
#include <wasi/api.h>

static __wasi_fd_t folder = 3;

static void preopens(void) {
    __wasi_prestat_t prestat;
    ERRNO(__wasi_fd_prestat_get(folder, &prestat));
    printf("tag %d, length %d\n", prestat.tag, (int)prestat.u.dir.pr_name_len);
    uint8_t name[16] = {0};
    ERRNO(__wasi_fd_prestat_dir_name(folder, name, prestat.u.dir.pr_name_len));
    printf("name '%s'\n", (char *)name);
    ERRNO(__wasi_fd_prestat_get(99, &prestat));
    ERRNO(__wasi_fd_prestat_get(0, &prestat) != 0);
}

static __wasi_fd_t open_file(const char *path, __wasi_oflags_t oflags, __wasi_rights_t rights) {
    __wasi_fd_t fd = 0;
    ERRNO(__wasi_path_open(folder, 0, path, oflags, rights, rights, 0, &fd));
    return fd;
}

static void rights(void) {
    __wasi_rights_t both = __WASI_RIGHTS_FD_READ | __WASI_RIGHTS_FD_WRITE;
    __wasi_fd_t fd = open_file("rights", __WASI_OFLAGS_CREAT, both);
    __wasi_fdstat_t stat;
    ERRNO(__wasi_fd_fdstat_get(fd, &stat));
    HOLDS((stat.fs_rights_base & both) == both);
    HOLDS(!(stat.fs_rights_base & __WASI_RIGHTS_FD_SEEK));
    HOLDS(stat.fs_filetype == __WASI_FILETYPE_REGULAR_FILE);
    __wasi_filesize_t at;
    ERRNO(__wasi_fd_seek(fd, 0, __WASI_WHENCE_SET, &at));
    ERRNO(__wasi_fd_fdstat_set_rights(fd, __WASI_RIGHTS_FD_READ, 0));
    __wasi_ciovec_t out = {(const uint8_t *)"x", 1};
    __wasi_size_t count;
    ERRNO(__wasi_fd_write(fd, &out, 1, &count));
    ERRNO(__wasi_fd_fdstat_set_rights(fd, both, 0));
    ERRNO(__wasi_fd_close(fd));
    ERRNO(__wasi_fd_close(fd));
}

static void renumber(void) {
    __wasi_rights_t all = __WASI_RIGHTS_FD_READ | __WASI_RIGHTS_FD_WRITE | __WASI_RIGHTS_FD_SEEK |
                          __WASI_RIGHTS_FD_TELL | __WASI_RIGHTS_FD_FILESTAT_GET;
    __wasi_fd_t one = open_file("one", __WASI_OFLAGS_CREAT, all);
    __wasi_fd_t two = open_file("two", __WASI_OFLAGS_CREAT, all);
    __wasi_filestat_t before, after;
    ERRNO(__wasi_fd_filestat_get(one, &before));
    ERRNO(__wasi_fd_renumber(one, two));
    ERRNO(__wasi_fd_filestat_get(one, &after));
    ERRNO(__wasi_fd_filestat_get(two, &after));
    HOLDS(before.ino == after.ino);
    ERRNO(__wasi_fd_renumber(two, 98));
    ERRNO(__wasi_fd_close(two));
}

static void sockets(void) {
    __wasi_fd_t accepted;
    __wasi_size_t count;
    __wasi_roflags_t flags;
    uint8_t byte;
    __wasi_iovec_t in = {&byte, 1};
    __wasi_ciovec_t out = {&byte, 1};
    HOLDS(__wasi_sock_accept(folder, 0, &accepted) != 0);
    HOLDS(__wasi_sock_recv(folder, &in, 1, 0, &count, &flags) != 0);
    HOLDS(__wasi_sock_send(folder, &out, 1, 0, &count) != 0);
    HOLDS(__wasi_sock_shutdown(folder, __WASI_SDFLAGS_RD) != 0);
    ERRNO(__wasi_sock_shutdown(97, __WASI_SDFLAGS_RD));
}

static void polls(void) {
    __wasi_subscription_t subs[3] = {0};
    subs[0].userdata = 10;
    subs[0].u.tag = __WASI_EVENTTYPE_CLOCK;
    subs[0].u.u.clock.id = __WASI_CLOCKID_MONOTONIC;
    subs[0].u.u.clock.timeout = 5000000;
    subs[1].userdata = 11;
    subs[1].u.tag = __WASI_EVENTTYPE_CLOCK;
    subs[1].u.u.clock.id = __WASI_CLOCKID_REALTIME;
    subs[1].u.u.clock.timeout = 60000000000ULL;
    __wasi_event_t events[3];
    __wasi_size_t count = 0;
    ERRNO(__wasi_poll_oneoff(subs, events, 2, &count));
    printf("%d events, user data %d, error %d, type %d\n", (int)count, (int)events[0].userdata,
           events[0].error, events[0].type);
}

int main(void) {
    preopens();
    rights();
    renumber();
    sockets();
    polls();
    return 0;
}
