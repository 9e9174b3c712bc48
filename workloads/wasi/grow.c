/* grow [PAGES [STEP]]: grows memory to PAGES Wasm pages, STEP at a time, and
 * writes to every 4 KiB of what it got.
 *
 * What an instance costs that starts small and grows: protection changes,
 * page faults, and on some engines a lock on the address space that all
 * threads share. Natively the same sizes are mapped and unprotected. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef __wasm__
#include <sys/mman.h>
#endif

enum { WASM_PAGE = 65536, TOUCH = 4096, PAGES_MAX = 32768 };

/* The start of STEP new pages behind the previous ones, NULL when there are no more. */
static volatile unsigned char *more(long step) {
#ifdef __wasm__
    size_t old = __builtin_wasm_memory_grow(0, (size_t)step);
    return old == (size_t)-1 ? NULL : (volatile unsigned char *)(old * WASM_PAGE);
#else
    static unsigned char *reserved, *next;
    if (reserved == NULL) {
        void *space = mmap(NULL, (size_t)PAGES_MAX * WASM_PAGE, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (space == MAP_FAILED) return NULL;
        reserved = next = space;
    }
    unsigned char *start = next;
    next += (size_t)step * WASM_PAGE;
    return mprotect(start, (size_t)step * WASM_PAGE, PROT_READ | PROT_WRITE) == 0 ? start : NULL;
#endif
}

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int main(int argc, char **argv) {
    long pages = argc > 1 ? atol(argv[1]) : 256, step = argc > 2 ? atol(argv[2]) : 1;
    uint64_t sum = 0, start_ns = now_ns();
    if (pages < 1 || pages > PAGES_MAX || step < 1 || step > pages) {
        fprintf(stderr, "usage: grow [PAGES [STEP]], STEP <= PAGES <= %d\n", PAGES_MAX);
        return 2;
    }
    for (long done = 0; done + step <= pages; done += step) {
        volatile unsigned char *memory = more(step);
        if (memory == NULL) {
            fprintf(stderr, "grow: no more memory after %ld pages\n", done);
            return 1;
        }
        for (long at = 0; at < step * WASM_PAGE; at += TOUCH) {
            sum = sum * 31 + memory[at] + 1; /* new memory is zero */
            memory[at] = (unsigned char)sum;
        }
    }
    printf("fathom: answer=%016llx kernel_ns=%llu\n", (unsigned long long)sum,
           (unsigned long long)(now_ns() - start_ns));
    return 0;
}
