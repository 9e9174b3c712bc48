/* quicksort: sorts pointers to rows by what the rows say. */
#include "pointers.h"

enum { ROWS = EXTENT(1000, 40000, 2000000, 6000000, 20000000), SMALL = 12 };

typedef struct {
    uint64_t key;
    uint32_t second; /* decides between equal keys */
    uint32_t value;
} row;

static int is_before(const row *a, const row *b) {
    return a->key != b->key ? a->key < b->key : a->second < b->second;
}

static void swap(row **a, row **b) {
    row *kept = *a;
    *a = *b;
    *b = kept;
}

static void sort_small(row **first, row **end) {
    for (row **at = first + 1; at < end; at++) {
        row *moved = *at, **to = at;
        for (; to > first && is_before(moved, to[-1]); to--) *to = to[-1];
        *to = moved;
    }
}

static const row *middle_of(const row *a, const row *b, const row *c) {
    if (is_before(a, b)) return is_before(b, c) ? b : is_before(a, c) ? c : a;
    return is_before(a, c) ? a : is_before(b, c) ? c : b;
}

/* Hoare's scheme: every row up to the result comes before every row behind it. */
static row **part(row **first, row **end) {
    const row *pivot = middle_of(*first, first[(end - first) / 2], end[-1]);
    row **low = first, **high = end - 1;
    for (;;) {
        while (is_before(*low, pivot)) low++;
        while (is_before(pivot, *high)) high--;
        if (low >= high) return high + 1;
        swap(low++, high--);
    }
}

static void sort(row **first, row **end) {
    while (end - first > SMALL) {
        row **cut = part(first, end);
        if (cut - first < end - cut) { /* the shorter part by recursion: the stack stays small */
            sort(first, cut);
            first = cut;
        } else {
            sort(cut, end);
            end = cut;
        }
    }
    sort_small(first, end);
}

KERNEL kernel_quicksort(row *order[ROWS]) { sort(order, order + ROWS); }

int main(void) {
    NEW_1D(row, rows, ROWS);
    NEW_1D(row *, order, ROWS);
    for (uint32_t i = 0; i < ROWS; i++) {
        rows[i] = (row){random_below(ROWS / 2), i, (uint32_t)next_random()};
        order[i] = &rows[i];
    }
    MEASURE(kernel_quicksort(order));
    for (uint32_t i = 0; i < ROWS; i++) {
        if (i > 0 && !is_before(order[i - 1], order[i])) fail("not sorted");
        if (i % 16 == 0) {
            mix(order[i]->key);
            mix(order[i]->value);
        }
    }
    return report();
}
