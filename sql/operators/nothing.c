/* CREATE FUNCTION nothing(bigint) RETURNS bigint LANGUAGE wasm AS 'nothing.wasm';
 *
 * Looks at nothing and writes nothing, for any types: what a call costs by itself. */
#include "fathom_sql.h"

FATHOM_EXPORT(nothing) int32_t nothing(const struct fathom_batch *in, struct fathom_batch *out) {
    (void)in, (void)out;
    return FATHOM_OK;
}
