/* CREATE FUNCTION haversine(double, double, double, double) RETURNS double
 *     LANGUAGE wasm AS 'haversine.wasm';
 *
 * Metres between two points on a sphere of the earth's mean radius, given as latitude and
 * longitude in degrees (R. W. Sinnott, "Virtues of the Haversine", 1984). */
#include <math.h>

#include "fathom_sql.h"

static const double RADIUS_M = 6371008.8, DEGREE = 3.14159265358979323846 / 180;

FATHOM_EXPORT(haversine) int32_t haversine(const struct fathom_batch *in, struct fathom_batch *out) {
    const double *argument[4];
    for (int k = 0; k < 4; k++) argument[k] = in->column[k].values;
    double *result = out->column[0].values;
    for (uint32_t i = 0; i < in->rows; i++) {
        int is_null = 0;
        for (int k = 0; k < 4; k++) is_null |= !fathom_is_valid(&in->column[k], i);
        if (is_null) {
            fathom_set_null(&out->column[0], i);
            continue;
        }
        double from = argument[0][i] * DEGREE, to = argument[2][i] * DEGREE;
        double up = sin((to - from) / 2), across = sin((argument[3][i] - argument[1][i]) * DEGREE / 2);
        double h = up * up + cos(from) * cos(to) * across * across;
        result[i] = 2 * RADIUS_M * asin(sqrt(h < 1 ? h : 1));
    }
    return FATHOM_OK;
}
