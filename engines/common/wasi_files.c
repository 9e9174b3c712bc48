// WASI: what is done with an open descriptor.

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "wasi_host.h"

#define VECTORS_MAX 1024
#define ALL_RIGHTS 0x1fffffffu

static uint32_t told(long outcome) {
    return outcome < 0 ? wasi_error(errno) : E_SUCCESS;
}

uint8_t filetype_of(uint32_t mode) {
    switch (mode & S_IFMT) {
    case S_IFBLK: return 1;
    case S_IFCHR: return 2;
    case S_IFDIR: return 3;
    case S_IFREG: return 4;
    case S_IFSOCK: return 6;
    case S_IFLNK: return 7;
    default: return 0;
    }
}

static uint64_t as_ns(struct timespec time) {
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint32_t put_filestat(const struct guest *guest, uint64_t at, const struct stat *stat) {
    const uint64_t facts[8] = {
        stat->st_dev, stat->st_ino, filetype_of(stat->st_mode), stat->st_nlink, (uint64_t)stat->st_size,
        as_ns(stat->st_atim), as_ns(stat->st_mtim), as_ns(stat->st_ctim),
    };
    return put(guest, at, facts, sizeof facts) ? E_SUCCESS : E_FAULT;
}

bool times_of(uint64_t accessed, uint64_t modified, uint64_t flags, struct timespec times[2]) {
    const uint64_t given[2] = {accessed, modified};
    for (int i = 0; i < 2; i++, flags >>= 2) {
        if ((flags & 3) == 3) return false;
        times[i] = (struct timespec){.tv_sec = (time_t)(given[i] / 1000000000u), .tv_nsec = (long)(given[i] % 1000000000u)};
        if ((flags & 3) == 0) times[i].tv_nsec = UTIME_OMIT;
        if ((flags & 3) == 2) times[i].tv_nsec = UTIME_NOW;
    }
    return true;
}

uint32_t fd_close(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    (void)guest;
    int fd = host_fd(wasi, args[0]);
    if (fd < 0) return E_BADF;
    wasi->descriptors[args[0]] = (struct descriptor){-1, NULL};
    return told(close(fd));
}

uint32_t fd_renumber(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    (void)guest;
    int from = host_fd(wasi, args[0]), to = host_fd(wasi, args[1]);
    if (from < 0 || to < 0) return E_BADF;
    if (args[0] == args[1]) return E_SUCCESS;
    close(to);
    wasi->descriptors[args[1]] = wasi->descriptors[args[0]];
    wasi->descriptors[args[0]] = (struct descriptor){-1, NULL};
    return E_SUCCESS;
}

uint32_t fd_advise(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    (void)guest;
    // Only advice: nothing depends on it.
    return host_fd(wasi, args[0]) < 0 ? E_BADF : E_SUCCESS;
}

uint32_t fd_allocate(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    (void)guest;
    int error = posix_fallocate(host_fd(wasi, args[0]), (off_t)args[1], (off_t)args[2]);
    return wasi_error(error);
}

uint32_t fd_sync(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    (void)guest;
    return told(fsync(host_fd(wasi, args[0])));
}

uint32_t fd_datasync(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    (void)guest;
    return told(fdatasync(host_fd(wasi, args[0])));
}

uint32_t fd_fdstat_get(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    struct stat stat;
    int fd = host_fd(wasi, args[0]), flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fstat(fd, &stat) < 0) return wasi_error(errno);
    uint8_t facts[24] = {filetype_of(stat.st_mode)};
    if (flags & O_APPEND) facts[2] |= 1;
    if (flags & O_NONBLOCK) facts[2] |= 4;
    if ((flags & O_SYNC) == O_SYNC) facts[2] |= 16;
    uint64_t rights = ALL_RIGHTS;
    memcpy(facts + 8, &rights, sizeof rights);
    memcpy(facts + 16, &rights, sizeof rights);
    return put(guest, args[1], facts, sizeof facts) ? E_SUCCESS : E_FAULT;
}

uint32_t fd_fdstat_set_flags(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    (void)guest;
    int flags = (args[1] & 1 ? O_APPEND : 0) | (args[1] & 4 ? O_NONBLOCK : 0);
    return told(fcntl(host_fd(wasi, args[0]), F_SETFL, flags));
}

uint32_t fd_fdstat_set_rights(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    (void)guest;
    return host_fd(wasi, args[0]) < 0 ? E_BADF : E_SUCCESS;
}

uint32_t fd_filestat_get(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    struct stat stat;
    if (fstat(host_fd(wasi, args[0]), &stat) < 0) return wasi_error(errno);
    return put_filestat(guest, args[1], &stat);
}

uint32_t fd_filestat_set_size(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    (void)guest;
    return told(ftruncate(host_fd(wasi, args[0]), (off_t)args[1]));
}

uint32_t fd_filestat_set_times(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    (void)guest;
    struct timespec times[2];
    if (!times_of(args[1], args[2], args[3], times)) return E_INVAL;
    return told(futimens(host_fd(wasi, args[0]), times));
}

uint32_t fd_prestat_get(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    if (host_fd(wasi, args[0]) < 0 || wasi->descriptors[args[0]].guest == NULL) return E_BADF;
    const uint32_t facts[2] = {0, (uint32_t)strlen(wasi->descriptors[args[0]].guest)};
    return put(guest, args[1], facts, sizeof facts) ? E_SUCCESS : E_FAULT;
}

uint32_t fd_prestat_dir_name(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    if (host_fd(wasi, args[0]) < 0 || wasi->descriptors[args[0]].guest == NULL) return E_BADF;
    const char *name = wasi->descriptors[args[0]].guest;
    size_t length = strlen(name);
    if ((uint32_t)args[2] < length) return 37;
    return put(guest, args[1], name, length) ? E_SUCCESS : E_FAULT;
}

// The guest's list of buffers as the host's: how many, or -1 where one is outside.
static int vectors_of(const struct guest *guest, const uint64_t *args, struct iovec *vectors) {
    uint32_t count = (uint32_t)args[2] < VECTORS_MAX ? (uint32_t)args[2] : VECTORS_MAX;
    const uint8_t *list = guest_at(guest, args[1], (uint64_t)count * 8);
    if (list == NULL) return -1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t pair[2];
        memcpy(pair, list + 8 * i, sizeof pair);
        vectors[i] = (struct iovec){guest_at(guest, pair[0], pair[1]), pair[1]};
        if (vectors[i].iov_base == NULL) return -1;
    }
    return (int)count;
}

static uint32_t moved(const struct guest *guest, uint64_t at, ssize_t bytes) {
    return bytes < 0 ? wasi_error(errno) : put_u32(guest, at, (uint32_t)bytes);
}

uint32_t fd_read(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    struct iovec vectors[VECTORS_MAX];
    int count = vectors_of(guest, args, vectors);
    return count < 0 ? E_FAULT : moved(guest, args[3], readv(host_fd(wasi, args[0]), vectors, count));
}

uint32_t fd_write(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    struct iovec vectors[VECTORS_MAX];
    int count = vectors_of(guest, args, vectors);
    return count < 0 ? E_FAULT : moved(guest, args[3], writev(host_fd(wasi, args[0]), vectors, count));
}

uint32_t fd_pread(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    struct iovec vectors[VECTORS_MAX];
    int count = vectors_of(guest, args, vectors);
    return count < 0 ? E_FAULT : moved(guest, args[4], preadv(host_fd(wasi, args[0]), vectors, count, (off_t)args[3]));
}

uint32_t fd_pwrite(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    struct iovec vectors[VECTORS_MAX];
    int count = vectors_of(guest, args, vectors);
    return count < 0 ? E_FAULT : moved(guest, args[4], pwritev(host_fd(wasi, args[0]), vectors, count, (off_t)args[3]));
}

uint32_t fd_seek(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    static const int whences[] = {SEEK_SET, SEEK_CUR, SEEK_END};
    if (args[2] > 2) return E_INVAL;
    off_t at = lseek(host_fd(wasi, args[0]), (off_t)args[1], whences[args[2]]);
    return at < 0 ? wasi_error(errno) : put_u64(guest, args[3], (uint64_t)at);
}

uint32_t fd_tell(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    off_t at = lseek(host_fd(wasi, args[0]), 0, SEEK_CUR);
    return at < 0 ? wasi_error(errno) : put_u64(guest, args[1], (uint64_t)at);
}

// Copies as much of a directory's entries as fits; the last may be cut, by which
// the guest knows that there are more. A cookie is the kernel's own offset.
uint32_t fd_readdir(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    static const uint8_t types[] = {[DT_BLK] = 1, [DT_CHR] = 2, [DT_DIR] = 3, [DT_REG] = 4, [DT_SOCK] = 6, [DT_LNK] = 7};
    uint32_t room = (uint32_t)args[2], used = 0;
    uint8_t *to = guest_at(guest, args[1], room);
    int fd = host_fd(wasi, args[0]);
    if (to == NULL) return E_FAULT;
    if (lseek(fd, (off_t)args[3], SEEK_SET) < 0) return wasi_error(errno);
    _Alignas(struct dirent64) char batch[16 << 10];
    long got = 0;
    while (used < room && (got = syscall(SYS_getdents64, fd, batch, sizeof batch)) > 0) {
        for (long at = 0; at < got && used < room;) {
            const struct dirent64 *entry = (const struct dirent64 *)(batch + at);
            uint32_t length = (uint32_t)strlen(entry->d_name);
            uint8_t head[24] = {0};
            uint64_t next = (uint64_t)entry->d_off, inode = entry->d_ino;
            memcpy(head, &next, 8), memcpy(head + 8, &inode, 8), memcpy(head + 16, &length, 4);
            head[20] = entry->d_type < sizeof types ? types[entry->d_type] : 0;
            uint32_t part = room - used < sizeof head ? room - used : (uint32_t)sizeof head;
            memcpy(to + used, head, part), used += part;
            part = room - used < length ? room - used : length;
            memcpy(to + used, entry->d_name, part), used += part;
            at += entry->d_reclen;
        }
    }
    return got < 0 ? wasi_error(errno) : put_u32(guest, args[4], used);
}
