/* What both k-means have: where clusters begin, and which is the nearest.
 *
 * They begin at the points with the least of a hash of their places, so that the answer does not
 * depend on the order of rows, which many threads change. */
#ifndef KMEANS_H
#define KMEANS_H

#include "fathom_sql.h"

enum { CLUSTERS = 8, ITERATIONS = 10 };

/* Points that differ, by rising hash. */
struct seeds {
    uint64_t hash[CLUSTERS];
    double x[CLUSTERS], y[CLUSTERS];
    uint32_t count;
};

static inline uint64_t bits_of(double value) {
    union {
        double value;
        uint64_t bits;
    } both = {value};
    return both.bits;
}

/* Other bits of one factor reach all bits of the product's upper half. */
static inline uint64_t hash_of(double x, double y) {
    uint64_t hash = (bits_of(x) ^ bits_of(y) << 32 ^ bits_of(y) >> 32) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
    return hash ^ hash >> 32;
}

/* Keeps the point if it is one of those, and not there yet. */
static void keep_seed(struct seeds *seeds, uint64_t hash, double x, double y) {
    uint32_t at = 0;
    while (at < seeds->count && seeds->hash[at] < hash) at++;
    for (uint32_t i = at; i < seeds->count && seeds->hash[i] == hash; i++)
        if (bits_of(seeds->x[i]) == bits_of(x) && bits_of(seeds->y[i]) == bits_of(y)) return;
    if (at == CLUSTERS) return;
    if (seeds->count < CLUSTERS) seeds->count++;
    for (uint32_t i = seeds->count - 1; i > at; i--) {
        seeds->hash[i] = seeds->hash[i - 1];
        seeds->x[i] = seeds->x[i - 1];
        seeds->y[i] = seeds->y[i - 1];
    }
    seeds->hash[at] = hash;
    seeds->x[at] = x;
    seeds->y[at] = y;
}

static void seeds_of(struct seeds *seeds, const struct fathom_batch *in) {
    const double *x = in->column[0].values, *y = in->column[1].values;
    for (uint32_t i = 0; i < in->rows; i++) {
        uint64_t hash = hash_of(x[i], y[i]);
        if (seeds->count < CLUSTERS || hash <= seeds->hash[CLUSTERS - 1]) keep_seed(seeds, hash, x[i], y[i]);
    }
}

static int32_t nearest(double x, double y, const double *cx, const double *cy, int count) {
    int32_t best = 0;
    double least = (x - cx[0]) * (x - cx[0]) + (y - cy[0]) * (y - cy[0]);
    for (int c = 1; c < count; c++) {
        double distance = (x - cx[c]) * (x - cx[c]) + (y - cy[c]) * (y - cy[c]);
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    return best;
}

/* Whether these are points; says why not. */
static int kmeans_takes(const struct fathom_batch *in) {
    if (in->columns != 3 || in->column[0].type != FATHOM_DOUBLE || in->column[1].type != FATHOM_DOUBLE
        || in->column[2].type != FATHOM_BIGINT) {
        fathom_fail("k-means takes (x double, y double, payload bigint)");
        return 0;
    }
    for (uint32_t i = 0; i < in->rows; i++)
        if (!fathom_is_valid(&in->column[0], i) || !fathom_is_valid(&in->column[1], i)
            || !fathom_is_valid(&in->column[2], i)) {
            fathom_fail("k-means of a null");
            return 0;
        }
    return 1;
}

#endif
