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
 * A status below 0 is a failure: the query ends with what `fathom_message` returns.
 * Include this in one source file only. Compile it so (docs/SQL.md):
 *
 *     zig cc --target=wasm32-wasi -mexec-model=reactor -O3 -o f.wasm f.c
 *
 * Memories of 64 bits do as well: build.py has the commands. */
#ifndef FATHOM_SQL_H
#define FATHOM_SQL_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

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
static const char *fathom_why = "";

FATHOM_EXPORT(fathom_message) const char *fathom_message(void) { return fathom_why; }

static inline int32_t fathom_fail(const char *why) {
    fathom_why = why;
    return FATHOM_FAILED;
}

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

#ifdef __wasm64__
void __wasm_call_ctors(void);

/* A libc for 64-bit memories brings no start of a reactor. */
FATHOM_EXPORT(_initialize) void fathom_initialize(void) { __wasm_call_ctors(); }
#endif

#endif
