/* For authors of functions in SQL: what a module sees of a batch, and what it exports.
 *
 *     FATHOM_EXPORT(double_it) int32_t double_it(const struct fathom_batch *in, struct fathom_batch *out) {
 *         const int64_t *x = in->column[0].values;
 *         int64_t *y = out->column[0].values;
 *         for (uint32_t i = 0; i < in->rows; i++) y[i] = 2 * x[i];
 *         return FATHOM_OK;
 *     }
 *
 *     CREATE FUNCTION double_it(bigint) RETURNS bigint LANGUAGE wasm AS 'double_it.wasm';
 *
 * A function of rows has as many results as rows, in `out`, whose columns have room for
 * values of a fixed width and say that every row has one; text is put anywhere, and `values`
 * and `offsets` say where. An operator from a table to a table exports four functions:
 *
 *     NAME_columns   what comes out, "name type, …"; not needed where the statement says it
 *     NAME_open      a state, or NULL
 *     NAME_consume   a batch of the input
 *     NAME_produce   sets `out->rows` and where its columns are; FATHOM_END where there is
 *                    no more. It may be called with memory of its own until it is called again.
 *
 * An aggregate exports seven, for the states of groups of rows, numbered from 0 (slope.c):
 *
 *     NAME_columns   the columns of a state, "name type, …", by which partitions exchange it
 *     NAME_open      room for groups, or NULL
 *     NAME_update    (groups, count, batch): arguments, and behind them an `int` column with the
 *                    group of each row; there are `count` groups now, and new ones are empty
 *     NAME_merge     (groups, count, batch): the same with states
 *     NAME_state     (groups, first, out): states of `out->rows` groups from `first` on
 *     NAME_finish    (groups, first, out): values of the same; they may be asked for again
 *     NAME_close     (groups), returns nothing
 *
 * An operator over a shared memory has one state for all threads: each has an instance of its
 * own, and all have one memory. sql/guest makes them (Pool::crew) and sql/suite runs them so; in a
 * query such a module has one instance so far. Define FATHOM_SHARED for it (udo_kmeans_shared.c).
 * NAME_open is called once, NAME_consume and NAME_produce on all threads at once, and between them, if there is
 * one:
 *
 *     NAME_work      (state, step): on each thread with step 0; once all have returned, with 1, and
 *                    so on, until all return FATHOM_END
 *
 * Nobody consumes any more where one works, nor works where one produces. A thread may wait for
 * another (fathom_lock) that is in the same call, but not for its next one. Variables are the same
 * for all threads unless they are FATHOM_OF_THREAD. There is no libc; fathom_alloc gives memory.
 *
 * A status below 0 is a failure: the query ends with what `fathom_message` returns.
 * Include this in one source file only. Compile it so (docs/SQL.md):
 *
 *     zig cc --target=wasm32-wasi -mexec-model=reactor -O3 -o f.wasm f.c
 *
 * Memories of 64 bits and shared ones do as well: build.py has the commands. */
#ifndef FATHOM_SQL_H
#define FATHOM_SQL_H

#include <stddef.h>
#include <stdint.h>

#ifdef FATHOM_SHARED
#define FATHOM_OF_THREAD _Thread_local
#else
#include <stdlib.h>
#define FATHOM_OF_THREAD
#endif

#define FATHOM_EXPORT(name) __attribute__((export_name(#name)))

enum { FATHOM_FAILED = -1, FATHOM_END = 0, FATHOM_OK = 1 };

enum fathom_type {
    FATHOM_BOOLEAN = 1,  /* uint8_t */
    FATHOM_SMALLINT = 2, /* int16_t */
    FATHOM_INT = 3,      /* int32_t */
    FATHOM_BIGINT = 4,   /* int64_t */
    FATHOM_REAL = 5,     /* float */
    FATHOM_DOUBLE = 6,   /* double */
    FATHOM_VARCHAR = 7,  /* char, and `offsets` */
};

/* The first row is the lowest bit of the first byte of `valid`: 1 where it has a value. NULL
 * where all have one. Text of row i is from offsets[i] to offsets[i + 1] of `values`. */
struct fathom_column {
    uint32_t type;
    uint8_t *valid;
    void *values;
    uint32_t *offsets;
};

struct fathom_batch {
    uint32_t rows;
    uint32_t columns;
    struct fathom_column *column;
#ifndef __wasm64__
    uint32_t unused;
#endif
};

_Static_assert(sizeof(struct fathom_column) == 4 * sizeof(void *) && sizeof(struct fathom_batch) == 16,
               "as the host has them");

static inline int fathom_is_valid(const struct fathom_column *column, uint32_t row) {
    return column->valid == NULL || (column->valid[row / 8] >> row % 8 & 1);
}

static inline void fathom_set_null(struct fathom_column *column, uint32_t row) {
    column->valid[row / 8] &= (uint8_t)~(1u << row % 8);
}

/* Why a call fails. */
static FATHOM_OF_THREAD const char *fathom_why = "";

FATHOM_EXPORT(fathom_message) const char *fathom_message(void) { return fathom_why; }

static inline int32_t fathom_fail(const char *why) {
    fathom_why = why;
    return FATHOM_FAILED;
}

#ifdef FATHOM_SHARED
#define FATHOM_PAGE_BYTES ((uintptr_t)65536)

/* Whether the memory reaches so far, or can be made to. */
static int fathom_reach(uintptr_t end) {
    size_t wanted = end / FATHOM_PAGE_BYTES + (end % FATHOM_PAGE_BYTES != 0);
    for (;;) {
        size_t pages = __builtin_wasm_memory_size(0);
        if (pages >= wanted) return 1;
        /* Seldom, and as much as is needed where more is too much. */
        size_t more = wanted - pages + 64;
        if (__builtin_wasm_memory_grow(0, more) != (size_t)-1) return 1;
        if (__builtin_wasm_memory_grow(0, wanted - pages) == (size_t)-1) return __builtin_wasm_memory_size(0) >= wanted;
    }
}

/* Memory, aligned to 16 bytes, or NULL; from any thread. It is given back with all of its query. */
static void *fathom_alloc(size_t bytes) {
    extern unsigned char __heap_base;
    static uintptr_t taken;
    uintptr_t first = ((uintptr_t)&__heap_base + 15) & ~(uintptr_t)15;
    uintptr_t from = __atomic_load_n(&taken, __ATOMIC_RELAXED);
    do {
        uintptr_t room = UINTPTR_MAX - 15 - first - from;
        if (bytes > room || !fathom_reach(first + from + bytes)) return NULL;
    } while (!__atomic_compare_exchange_n(&taken, &from, from + ((bytes + 15) & ~(uintptr_t)15), 0, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return (void *)(first + from);
}

/* 0 is free, 1 is taken, 2 is taken with others waiting. */
static inline void fathom_lock(uint32_t *lock) {
    uint32_t is_free = 0;
    if (__atomic_compare_exchange_n(lock, &is_free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
    while (__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE) != 0)
        __builtin_wasm_memory_atomic_wait32((int *)lock, 2, -1);
}

static inline void fathom_unlock(uint32_t *lock) {
    if (__atomic_exchange_n(lock, 0, __ATOMIC_RELEASE) == 2) __builtin_wasm_memory_atomic_notify((int *)lock, 1);
}

enum { FATHOM_STACK_BYTES = 256 << 10 };

/* Room for a thread: its stack, and behind that its variables. The host calls it. */
FATHOM_EXPORT(fathom_thread_open) void *fathom_thread_open(void) {
    return fathom_alloc(FATHOM_STACK_BYTES + __builtin_wasm_tls_size() + __builtin_wasm_tls_align());
}

void __wasm_init_tls(void *variables);

#ifdef __wasm64__
__asm__(".globaltype __stack_pointer, i64\n");
#else
__asm__(".globaltype __stack_pointer, i32\n");
#endif

/* The first that runs in a further thread: it has no stack before. */
FATHOM_EXPORT(fathom_thread_start) void fathom_thread_start(char *room) {
    char *stack = room + FATHOM_STACK_BYTES;
    uintptr_t align = __builtin_wasm_tls_align();
    __asm__ volatile("local.get %0\n\tglobal.set __stack_pointer" : : "r"(stack) : "memory");
    __wasm_init_tls((void *)(align == 0 ? (uintptr_t)stack : ((uintptr_t)stack + align - 1) & ~(align - 1)));
}

/* Where the host writes the next batch of a thread: the same place again, if it is large enough. */
FATHOM_EXPORT(fathom_reserve) void *fathom_reserve(uint32_t bytes) {
    static FATHOM_OF_THREAD void *room;
    static FATHOM_OF_THREAD uint32_t size;
    if (bytes > size || room == NULL) {
        size = bytes > UINT32_MAX / 2 ? UINT32_MAX : 2 * (bytes | 1023);
        room = fathom_alloc(size);
        if (room == NULL) size = 0;
    }
    return room;
}
#else
/* Where the host writes the next batch: the same place again, if it is large enough. */
FATHOM_EXPORT(fathom_reserve) void *fathom_reserve(uint32_t bytes) {
    static void *room;
    static uint32_t size;
    if (bytes > size || room == NULL) {
        free(room);
        size = (bytes | 1023) + 1;
        room = size == 0 ? NULL : aligned_alloc(16, size);
        if (room == NULL) size = 0;
    }
    return room;
}
#endif

#if defined(__wasm64__) && !defined(FATHOM_SHARED)
void __wasm_call_ctors(void);

/* A libc for 64-bit memories brings no start of a reactor. */
FATHOM_EXPORT(_initialize) void fathom_initialize(void) { __wasm_call_ctors(); }
#endif

#endif
