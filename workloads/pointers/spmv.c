/* spmv: a sparse matrix times a vector, again and again: the ranks of linked pages. */
#include "pointers.h"

enum {
    PAGES = EXTENT(200, 10000, 400000, 1600000, 6000000),
    LINKS_EACH = 12, /* links that lead to a page, in the mean */
    PASSES = 16,
};

/* One page's row of the matrix: a run of columns and weights. */
typedef struct {
    const uint32_t *columns;
    const double *weights;
    uint32_t count;
} row;

/* Rows of different lengths; the weights of a column add up to 1. */
static void init(row rows[PAGES], uint32_t columns[PAGES * LINKS_EACH], double weights[PAGES * LINKS_EACH]) {
    NEW_1D(uint32_t, leaving, PAGES);
    uint32_t at = 0;
    for (uint32_t i = 0; i < PAGES; i++) {
        uint32_t left = PAGES * LINKS_EACH - at, rest = PAGES - 1 - i;
        uint32_t count = rest == 0 ? left : random_below(2 * LINKS_EACH + 1);
        if (count > left) count = left;
        rows[i] = (row){columns + at, weights + at, count};
        for (; count > 0; count--) leaving[columns[at++] = random_below(PAGES)]++;
    }
    for (uint32_t i = 0; i < at; i++) weights[i] = 1.0 / leaving[columns[i]];
    free(leaving);
}

KERNEL kernel_spmv(const row rows[PAGES], double ranks[PAGES], double next[PAGES]) {
    for (int pass = 0; pass < PASSES; pass++) {
        for (uint32_t i = 0; i < PAGES; i++) {
            const uint32_t *columns = rows[i].columns;
            const double *weights = rows[i].weights;
            double sum = 0.0;
            for (uint32_t k = 0; k < rows[i].count; k++) sum += weights[k] * ranks[columns[k]];
            next[i] = 0.15 + 0.85 * sum;
        }
        double *kept = ranks;
        ranks = next;
        next = kept;
    }
}

int main(void) {
    NEW_1D(row, rows, PAGES);
    NEW_1D(uint32_t, columns, PAGES * LINKS_EACH);
    NEW_1D(double, weights, PAGES * LINKS_EACH);
    NEW_1D(double, ranks, PAGES);
    NEW_1D(double, next, PAGES);
    init(rows, columns, weights);
    for (uint32_t i = 0; i < PAGES; i++) ranks[i] = 1.0;
    MEASURE(kernel_spmv(rows, ranks, next));
    double sum = 0.0;
    for (uint32_t i = 0; i < PAGES; i++) {
        if (!(ranks[i] >= 0.15)) fail("a rank is too small");
        sum += ranks[i];
    }
    /* Pages that nothing leaves lose their rank; nothing is gained. */
    if (!(sum > 0.5 * PAGES && sum < 1.000001 * PAGES)) fail("the ranks do not add up");
    answer_doubles(ranks, PAGES);
    return report();
}
