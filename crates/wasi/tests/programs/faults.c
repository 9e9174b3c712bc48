/* Wrong pointers: an error number, not the end. Other runtimes may end the
 * program instead; what counts is that no memory but its own is touched. */
#include "check.h"
#include <wasi/api.h>

#define FAULT(call) printf("%s: %s\n", #call, (call) == __WASI_ERRNO_FAULT ? "fault" : "NO FAULT")

int main(void) {
    __wasi_size_t count;
    /* Static, so that the last page of the memory is not near. */
    void *beyond = (void *)0xfffffff0;
    __wasi_iovec_t in = {beyond, 64};
    __wasi_ciovec_t out = {beyond, 64};
    __wasi_ciovec_t good = {(const uint8_t *)"never written\n", 14};
    __wasi_filestat_t stat;
    FAULT(__wasi_random_get(beyond, 64));
    FAULT(__wasi_fd_filestat_get(1, beyond));
    FAULT(__wasi_fd_read(0, &in, 1, &count));
    FAULT(__wasi_fd_write(1, &out, 1, &count));
    FAULT(__wasi_fd_write(1, beyond, 8, &count));
    FAULT(__wasi_fd_write(1, (void *)16, 0x20000000, &count));
    FAULT(__wasi_fd_write(1, &good, 1, beyond));
    FAULT(__wasi_clock_time_get(__WASI_CLOCKID_REALTIME, 0, beyond));
    FAULT(__wasi_args_get(beyond, beyond));
    FAULT(__wasi_fd_readdir(3, beyond, 64, 0, &count));
    FAULT(__wasi_poll_oneoff(beyond, beyond, 1, &count));
    FAULT(__wasi_fd_prestat_get(3, beyond));
    FAULT(__wasi_path_filestat_get(3, 0, ".", beyond));
    __wasi_timestamp_t time;
    HOLDS(__wasi_clock_time_get(9, 0, &time) == __WASI_ERRNO_INVAL);
    HOLDS(__wasi_poll_oneoff(NULL, NULL, 0, &count) == __WASI_ERRNO_INVAL);
    HOLDS(__wasi_path_filestat_get(3, 0xff, "own", &stat) == __WASI_ERRNO_INVAL);
    HOLDS(__wasi_fd_allocate(3, 0, 1) != 0);
    return 0;
}
