// WASI: paths. The kernel resolves them beneath their folder (openat2), so that
// neither "..", nor a link, nor an absolute path leaves it.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "wasi_host.h"

enum { FOLLOW = 1 };
// What a guest wants to do with a file, of the many rights it may ask for.
enum { RIGHT_READ = 1 << 1, RIGHT_WRITE = 1 << 6, RIGHT_ALLOCATE = 1 << 8, RIGHT_READDIR = 1 << 14, RIGHT_SET_SIZE = 1 << 22 };

// The folder that holds a path's last name, opened, and that name.
struct place {
    int folder;
    char name[NAME_MAX + 1];
};

static int open_beneath(int folder, const char *path, uint64_t flags, uint64_t mode) {
    struct open_how how = {
        .flags = flags | O_CLOEXEC, .mode = mode, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

// Copies a path out of the guest: 0, or an error number.
static uint32_t take_path(const struct guest *guest, uint64_t at, uint64_t length, char path[PATH_MAX]) {
    const void *bytes = guest_at(guest, at, (uint32_t)length);
    if (bytes == NULL) return E_FAULT;
    if ((uint32_t)length >= PATH_MAX) return 37;
    if (memchr(bytes, 0, (uint32_t)length) != NULL) return E_INVAL;
    memcpy(path, bytes, (uint32_t)length);
    path[(uint32_t)length] = '\0';
    return 0;
}

// Splits off the last name; a path that ends in "/", "." or ".." names a folder.
static uint32_t find(const struct wasi *wasi, const struct guest *guest, uint64_t folder, uint64_t at, uint64_t length,
                     struct place *place) {
    char path[PATH_MAX];
    uint32_t error = take_path(guest, at, length, path);
    if (error != 0) return error;
    int root = host_fd(wasi, folder);
    if (root < 0) return E_BADF;
    if (path[0] == '/') return E_NOTCAPABLE;
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/') path[--end] = '\0';
    char *slash = strrchr(path, '/');
    const char *last = slash == NULL ? path : slash + 1;
    if (strlen(last) > NAME_MAX) return 37;
    strcpy(place->name, last);
    if (slash != NULL) *slash = '\0';
    // A last name of ".." must be resolved, not handed to the kernel as it is.
    bool upward = strcmp(last, "..") == 0;
    if (upward && slash != NULL) *slash = '/';
    const char *before = slash != NULL || upward ? path : ".";
    place->folder = open_beneath(root, before, O_PATH | O_DIRECTORY, 0);
    if (upward) strcpy(place->name, ".");
    return place->folder < 0 ? wasi_error(errno) : 0;
}

// Closes the place and turns an outcome into an error number.
static uint32_t leave(struct place *place, long outcome) {
    uint32_t error = outcome < 0 ? wasi_error(errno) : 0;
    close(place->folder);
    return error;
}

uint32_t path_open(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    char path[PATH_MAX];
    uint32_t error = take_path(guest, args[2], args[3], path);
    if (error != 0) return error;
    int root = host_fd(wasi, args[0]);
    if (root < 0) return E_BADF;
    uint64_t rights = args[5], asked = args[4], wanted = args[7];
    bool reads = rights & (RIGHT_READ | RIGHT_READDIR);
    bool writes = rights & (RIGHT_WRITE | RIGHT_ALLOCATE | RIGHT_SET_SIZE);
    int flags = writes ? (reads ? O_RDWR : O_WRONLY) : O_RDONLY;
    if (asked & 1) flags |= O_CREAT;
    if (asked & 2) flags = (flags & ~O_ACCMODE) | O_DIRECTORY;
    if (asked & 4) flags |= O_EXCL;
    if (asked & 8) flags |= O_TRUNC;
    if (wanted & 1) flags |= O_APPEND;
    if (wanted & 4) flags |= O_NONBLOCK;
    if (wanted & 2) flags |= O_DSYNC;
    if (wanted & (8 | 16)) flags |= O_SYNC;
    if (!(args[1] & FOLLOW)) flags |= O_NOFOLLOW;
    uint64_t mode = flags & O_CREAT ? 0644 : 0;
    int fd = open_beneath(root, path, (uint64_t)flags, mode);
    // A folder opened with every right, as programs do that do not know it is one.
    if (fd < 0 && errno == EISDIR && !(asked & (1 | 8))) {
        fd = open_beneath(root, path, (uint64_t)((flags & ~O_ACCMODE) | O_DIRECTORY), 0);
    }
    if (fd < 0) return wasi_error(errno);
    int number = wasi_adopt(wasi, fd, NULL);
    if (number < 0) close(fd);
    return number < 0 ? E_NFILE : put_u32(guest, args[8], (uint32_t)number);
}

uint32_t path_create_directory(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    struct place place;
    uint32_t error = find(wasi, guest, args[0], args[1], args[2], &place);
    return error != 0 ? error : leave(&place, mkdirat(place.folder, place.name, 0755));
}

uint32_t path_remove_directory(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    struct place place;
    uint32_t error = find(wasi, guest, args[0], args[1], args[2], &place);
    return error != 0 ? error : leave(&place, unlinkat(place.folder, place.name, AT_REMOVEDIR));
}

uint32_t path_unlink_file(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    struct place place;
    uint32_t error = find(wasi, guest, args[0], args[1], args[2], &place);
    return error != 0 ? error : leave(&place, unlinkat(place.folder, place.name, 0));
}

// Opens what a path names, following a last link or not, for its facts alone.
static int open_named(const struct wasi *wasi, const struct guest *guest, uint64_t folder, uint64_t lookup, uint64_t at,
                      uint64_t length, uint32_t *error) {
    char path[PATH_MAX];
    *error = take_path(guest, at, length, path);
    if (*error != 0) return -1;
    int root = host_fd(wasi, folder);
    int fd = open_beneath(root, path, O_PATH | (lookup & FOLLOW ? 0 : O_NOFOLLOW), 0);
    if (fd < 0) *error = root < 0 ? E_BADF : wasi_error(errno);
    return fd;
}

uint32_t path_filestat_get(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    struct stat stat;
    uint32_t error;
    int fd = open_named(wasi, guest, args[0], args[1], args[2], args[3], &error);
    if (fd < 0) return error;
    error = fstat(fd, &stat) < 0 ? wasi_error(errno) : put_filestat(guest, args[4], &stat);
    close(fd);
    return error;
}

uint32_t path_filestat_set_times(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    struct timespec times[2];
    uint32_t error;
    if (!times_of(args[4], args[5], args[6], times)) return E_INVAL;
    int fd = open_named(wasi, guest, args[0], args[1], args[2], args[3], &error);
    if (fd < 0) return error;
    // What is open for its facts alone is reached by its number.
    char itself[32];
    snprintf(itself, sizeof itself, "/proc/self/fd/%d", fd);
    error = utimensat(AT_FDCWD, itself, times, 0) < 0 ? wasi_error(errno) : 0;
    close(fd);
    return error;
}

uint32_t path_readlink(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    struct place place;
    char *to = guest_at(guest, args[3], (uint32_t)args[4]);
    if (to == NULL) return E_FAULT;
    uint32_t error = find(wasi, guest, args[0], args[1], args[2], &place);
    if (error != 0) return error;
    ssize_t length = readlinkat(place.folder, place.name, to, (uint32_t)args[4]);
    error = leave(&place, length);
    return error != 0 ? error : put_u32(guest, args[5], (uint32_t)length);
}

uint32_t path_symlink(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    struct place place;
    char target[PATH_MAX];
    uint32_t error = take_path(guest, args[0], args[1], target);
    if (error != 0) return error;
    if (target[0] == '/') return E_NOTCAPABLE;
    error = find(wasi, guest, args[2], args[3], args[4], &place);
    return error != 0 ? error : leave(&place, symlinkat(target, place.folder, place.name));
}

// Two places at once; `act` gets both.
static uint32_t with_two(struct wasi *wasi, struct guest *guest, const uint64_t from[3], const uint64_t to[3],
                         int (*act)(const struct place *from, const struct place *to)) {
    struct place first, second;
    uint32_t error = find(wasi, guest, from[0], from[1], from[2], &first);
    if (error != 0) return error;
    error = find(wasi, guest, to[0], to[1], to[2], &second);
    if (error == 0) error = leave(&second, act(&first, &second));
    close(first.folder);
    return error;
}

static int do_rename(const struct place *from, const struct place *to) {
    return renameat(from->folder, from->name, to->folder, to->name);
}

static int do_link(const struct place *from, const struct place *to) {
    return linkat(from->folder, from->name, to->folder, to->name, 0);
}

uint32_t path_rename(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    return with_two(wasi, guest, args, args + 3, do_rename);
}

uint32_t path_link(struct wasi *wasi, struct guest *guest, const uint64_t *args) {
    // A link that is followed could be replaced meanwhile: not offered.
    if (args[1] & FOLLOW) return E_NOTSUP;
    const uint64_t from[3] = {args[0], args[2], args[3]};
    return with_two(wasi, guest, from, args + 4, do_link);
}
