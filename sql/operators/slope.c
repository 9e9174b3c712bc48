/* CREATE AGGREGATE FUNCTION slope(double, double) RETURNS double LANGUAGE wasm AS 'slope.wasm';
 *
 * The slope of a line of least squares through points (x, y), by one pass: means and moments
 * are corrected by each point, and merged after Chan, Golub and LeVeque, "Updating formulae
 * and a pairwise algorithm for computing sample variances", 1979. Rows with a null do not
 * count; without two points that differ in x it is null. */
#include <string.h>

#include "fathom_sql.h"

struct state {
    double points, x, y, xx, xy;
};

struct groups {
    struct state *state;
    uint32_t count;
};

FATHOM_EXPORT(slope_columns) const char *slope_columns(void) {
    return "points double, x double, y double, xx double, xy double";
}

FATHOM_EXPORT(slope_open) struct groups *slope_open(void) { return calloc(1, sizeof(struct groups)); }

FATHOM_EXPORT(slope_close) void slope_close(struct groups *groups) {
    free(groups->state);
    free(groups);
}

/* New groups begin with no points. */
static int grow(struct groups *groups, uint32_t count) {
    if (count <= groups->count) return 1;
    struct state *state = realloc(groups->state, 2 * count * sizeof *state);
    if (state == NULL) return 0;
    memset(state + groups->count, 0, (2 * count - groups->count) * sizeof *state);
    groups->state = state;
    groups->count = 2 * count;
    return 1;
}

static void merge(struct state *into, const struct state *from) {
    double points = into->points + from->points;
    if (from->points == 0) return;
    double dx = from->x - into->x, dy = from->y - into->y, share = from->points / points;
    into->xx += from->xx + dx * dx * into->points * share;
    into->xy += from->xy + dx * dy * into->points * share;
    into->x += dx * share;
    into->y += dy * share;
    into->points = points;
}

FATHOM_EXPORT(slope_update)
int32_t slope_update(struct groups *groups, uint32_t count, const struct fathom_batch *in) {
    if (!grow(groups, count)) return fathom_fail("no memory for so many groups");
    const struct fathom_column *x = &in->column[0], *y = &in->column[1];
    const double *xs = x->values, *ys = y->values;
    const int32_t *group = in->column[2].values;
    for (uint32_t i = 0; i < in->rows; i++) {
        if (!fathom_is_valid(x, i) || !fathom_is_valid(y, i)) continue;
        struct state point = {.points = 1, .x = xs[i], .y = ys[i]};
        merge(&groups->state[group[i]], &point);
    }
    return FATHOM_OK;
}

FATHOM_EXPORT(slope_merge)
int32_t slope_merge(struct groups *groups, uint32_t count, const struct fathom_batch *in) {
    if (!grow(groups, count)) return fathom_fail("no memory for so many groups");
    const double *part[5];
    for (int k = 0; k < 5; k++) part[k] = in->column[k].values;
    const int32_t *group = in->column[5].values;
    for (uint32_t i = 0; i < in->rows; i++) {
        struct state state = {part[0][i], part[1][i], part[2][i], part[3][i], part[4][i]};
        merge(&groups->state[group[i]], &state);
    }
    return FATHOM_OK;
}

FATHOM_EXPORT(slope_state)
int32_t slope_state(struct groups *groups, uint32_t first, struct fathom_batch *out) {
    double *part[5];
    for (int k = 0; k < 5; k++) part[k] = out->column[k].values;
    for (uint32_t i = 0; i < out->rows; i++) {
        const struct state *state = &groups->state[first + i];
        part[0][i] = state->points;
        part[1][i] = state->x;
        part[2][i] = state->y;
        part[3][i] = state->xx;
        part[4][i] = state->xy;
    }
    return FATHOM_OK;
}

FATHOM_EXPORT(slope_finish)
int32_t slope_finish(struct groups *groups, uint32_t first, struct fathom_batch *out) {
    double *slope = out->column[0].values;
    for (uint32_t i = 0; i < out->rows; i++) {
        const struct state *state = &groups->state[first + i];
        if (state->points < 2 || state->xx == 0)
            fathom_set_null(&out->column[0], i);
        else
            slope[i] = state->xy / state->xx;
    }
    return FATHOM_OK;
}
