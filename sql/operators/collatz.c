/* CREATE FUNCTION collatz(bigint) RETURNS int LANGUAGE wasm AS 'collatz.wasm';
 *
 * Steps until 1. What is below 1, or leaves 64 bits, fails the query. */
#include "fathom_sql.h"

FATHOM_EXPORT(collatz) int32_t collatz(const struct fathom_batch *in, struct fathom_batch *out) {
    const int64_t *starts = in->column[0].values;
    int32_t *result = out->column[0].values;
    for (uint32_t i = 0; i < in->rows; i++) {
        if (!fathom_is_valid(&in->column[0], i)) {
            fathom_set_null(&out->column[0], i);
            continue;
        }
        if (starts[i] < 1) return fathom_fail("collatz of a number below 1");
        int32_t steps = 0;
        for (uint64_t n = (uint64_t)starts[i]; n != 1; steps++) {
            if (n % 2 == 1 && n > (UINT64_MAX - 1) / 3) return fathom_fail("collatz: more than 64 bits");
            n = n % 2 == 0 ? n / 2 : 3 * n + 1;
        }
        result[i] = steps;
    }
    return FATHOM_OK;
}
