/* CREATE FUNCTION wasm_gcd(bigint, bigint) RETURNS bigint LANGUAGE wasm AS 'gcd.wasm', 'gcd';
 *
 * Null where an argument is null. DataFusion has a gcd, too, which stays. */
#include "fathom_sql.h"

static uint64_t magnitude(int64_t x) { return x < 0 ? -(uint64_t)x : (uint64_t)x; }

FATHOM_EXPORT(gcd) int32_t gcd(const struct fathom_batch *in, struct fathom_batch *out) {
    const struct fathom_column *a = &in->column[0], *b = &in->column[1];
    const int64_t *as = a->values, *bs = b->values;
    uint64_t *result = out->column[0].values;
    for (uint32_t i = 0; i < in->rows; i++) {
        if (!fathom_is_valid(a, i) || !fathom_is_valid(b, i)) {
            fathom_set_null(&out->column[0], i);
            continue;
        }
        uint64_t x = magnitude(as[i]), y = magnitude(bs[i]);
        while (y != 0) {
            uint64_t rest = x % y;
            x = y;
            y = rest;
        }
        result[i] = x;
    }
    return FATHOM_OK;
}
