// What the parts of WASI share: descriptors, error numbers, a guest's memory.

#ifndef FATHOM_WASI_HOST_H
#define FATHOM_WASI_HOST_H

#include <stdint.h>
#include <string.h>

#include "preview1.h"

#define DESCRIPTORS_MAX 256

// Error numbers that are needed by name.
enum { E_SUCCESS = 0, E_BADF = 8, E_FAULT = 21, E_INVAL = 28, E_NFILE = 41, E_NOSYS = 52, E_NOTDIR = 54, E_NOTSUP = 58, E_NOTCAPABLE = 76 };

struct descriptor {
    int fd;            // of the host; -1: free
    const char *guest; // a preopened folder's name, or NULL
};

struct wasi {
    struct world world; // its lists are the request's and live on
    struct descriptor descriptors[DESCRIPTORS_MAX];
    bool exited;
    int exit_code;
};

typedef uint32_t wasi_call(struct wasi *wasi, struct guest *guest, const uint64_t *args);

// The number for an `errno`.
uint32_t wasi_error(int number);
// The host's descriptor, or -1.
static inline int host_fd(const struct wasi *wasi, uint64_t number) {
    return number < DESCRIPTORS_MAX ? wasi->descriptors[number].fd : -1;
}
// Gives a host's descriptor a number in the guest; a negative one where none is free.
int wasi_adopt(struct wasi *wasi, int fd, const char *guest);

// Bytes of the guest, or NULL where they are not all inside its memory.
static inline void *guest_at(const struct guest *guest, uint64_t at, uint64_t size) {
    at = (uint32_t)at;
    return at <= guest->size && size <= guest->size - at ? guest->base + at : NULL;
}
static inline bool put(const struct guest *guest, uint64_t at, const void *value, size_t size) {
    void *to = guest_at(guest, at, size);
    if (to != NULL) memcpy(to, value, size);
    return to != NULL;
}
static inline uint32_t put_u32(const struct guest *guest, uint64_t at, uint32_t value) {
    return put(guest, at, &value, sizeof value) ? E_SUCCESS : E_FAULT;
}
static inline uint32_t put_u64(const struct guest *guest, uint64_t at, uint64_t value) {
    return put(guest, at, &value, sizeof value) ? E_SUCCESS : E_FAULT;
}

// A file's facts, as the guest reads them.
struct stat;
uint32_t put_filestat(const struct guest *guest, uint64_t at, const struct stat *stat);
uint8_t filetype_of(uint32_t mode);

wasi_call fd_advise, fd_allocate, fd_close, fd_datasync, fd_fdstat_get, fd_fdstat_set_flags, fd_fdstat_set_rights,
    fd_filestat_get, fd_filestat_set_size, fd_filestat_set_times, fd_pread, fd_prestat_get, fd_prestat_dir_name,
    fd_pwrite, fd_read, fd_readdir, fd_renumber, fd_seek, fd_sync, fd_tell, fd_write, path_create_directory,
    path_filestat_get, path_filestat_set_times, path_link, path_open, path_readlink, path_remove_directory,
    path_rename, path_symlink, path_unlink_file;

struct timespec;
// Fills two times from the flags of a call that sets them; false for wrong flags.
bool times_of(uint64_t accessed, uint64_t modified, uint64_t flags, struct timespec times[2]);

#endif
