/* CREATE FUNCTION wasm_udo_kmeans(table) RETURNS TABLE LANGUAGE 'udo-wasm' SECURITY DEFINER
 *     AS 'udo_kmeans.wasm', 'KMeans';
 *
 * 2-D k-means after Lloyd: points (x double, y double, payload bigint) in, the same with the
 * number of their cluster out. As many clusters as CLUSTERS, which begin at points that kmeans.h
 * chooses; ITERATIONS rounds, fewer where no point moves. */
#include <string.h>

#include "fathom_sql.h"
#include "kmeans.h"

enum { ROWS = 8192 };

/* Columns, so that a batch of the output is a slice of each. */
struct points {
    double *x, *y;
    int64_t *payload;
    int32_t *cluster;
    uint32_t count, room, produced;
    int is_assigned;
    struct seeds seeds;
};

FATHOM_EXPORT(KMeans_columns) const char *KMeans_columns(void) {
    return "x double, y double, payload bigint, clusterId int";
}

FATHOM_EXPORT(KMeans_open) struct points *KMeans_open(void) { return calloc(1, sizeof(struct points)); }

static int grow(struct points *points, uint32_t wanted) {
    uint32_t room = points->room == 0 ? ROWS : points->room;
    while (room < wanted) room *= 2;
    if (room == points->room) return 1;
    double *x = realloc(points->x, room * sizeof *x);
    if (x != NULL) points->x = x;
    double *y = realloc(points->y, room * sizeof *y);
    if (y != NULL) points->y = y;
    int64_t *payload = realloc(points->payload, room * sizeof *payload);
    if (payload != NULL) points->payload = payload;
    int32_t *cluster = realloc(points->cluster, room * sizeof *cluster);
    if (cluster != NULL) points->cluster = cluster;
    if (x == NULL || y == NULL || payload == NULL || cluster == NULL) return 0;
    points->room = room;
    return 1;
}

FATHOM_EXPORT(KMeans_consume) int32_t KMeans_consume(struct points *points, const struct fathom_batch *in) {
    if (!kmeans_takes(in)) return FATHOM_FAILED;
    if (in->rows > UINT32_MAX / 32 - points->count || !grow(points, points->count + in->rows))
        return fathom_fail("no memory for so many points");
    memcpy(points->x + points->count, in->column[0].values, in->rows * sizeof(double));
    memcpy(points->y + points->count, in->column[1].values, in->rows * sizeof(double));
    memcpy(points->payload + points->count, in->column[2].values, in->rows * sizeof(int64_t));
    points->count += in->rows;
    seeds_of(&points->seeds, in);
    return FATHOM_OK;
}

static void assign(struct points *points) {
    double cx[CLUSTERS], cy[CLUSTERS];
    int count = (int)points->seeds.count;
    for (int c = 0; c < count; c++) {
        cx[c] = points->seeds.x[c];
        cy[c] = points->seeds.y[c];
    }
    for (uint32_t i = 0; i < points->count; i++) points->cluster[i] = -1;
    for (int round = 0; round < ITERATIONS; round++) {
        double sx[CLUSTERS] = {0}, sy[CLUSTERS] = {0};
        uint32_t members[CLUSTERS] = {0}, moved = 0;
        for (uint32_t i = 0; i < points->count; i++) {
            int32_t c = nearest(points->x[i], points->y[i], cx, cy, count);
            moved += c != points->cluster[i];
            points->cluster[i] = c;
            sx[c] += points->x[i];
            sy[c] += points->y[i];
            members[c]++;
        }
        if (moved == 0) break;
        for (int c = 0; c < count; c++) {
            if (members[c] == 0) continue;
            cx[c] = sx[c] / members[c];
            cy[c] = sy[c] / members[c];
        }
    }
}

FATHOM_EXPORT(KMeans_produce) int32_t KMeans_produce(struct points *points, struct fathom_batch *out) {
    if (!points->is_assigned && points->count > 0) assign(points);
    points->is_assigned = 1;
    uint32_t from = points->produced, rows = points->count - from;
    if (rows == 0) {
        free(points->x);
        free(points->y);
        free(points->payload);
        free(points->cluster);
        free(points);
        return FATHOM_END;
    }
    if (rows > ROWS) rows = ROWS;
    points->produced += rows;
    out->rows = rows;
    out->column[0].values = points->x + from;
    out->column[1].values = points->y + from;
    out->column[2].values = points->payload + from;
    out->column[3].values = points->cluster + from;
    return FATHOM_OK;
}
