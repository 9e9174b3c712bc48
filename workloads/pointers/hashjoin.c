/* hashjoin: joins two tables by a hash table with chains, and adds up by group. */
#include "pointers.h"

enum {
    KEYS = EXTENT(200, 10000, 500000, 2000000, 8000000),
    ROWS_EACH = 2, /* of the table that is built, with one key */
    PROBES = EXTENT(1000, 60000, 6000000, 20000000, 80000000),
    BUCKETS = EXTENT(1 << 8, 1 << 14, 1 << 20, 1 << 22, 1 << 24),
    GROUPS = 256,
};

typedef struct row row;

struct row {
    row *next; /* in its bucket */
    uint32_t key;
    uint32_t value;
};

typedef struct {
    uint32_t key;
    uint32_t value;
} probe;

static uint32_t bucket_of(uint32_t key) { return (uint32_t)(key * 0x9e3779b1u) >> 7 & (BUCKETS - 1); }

/* Keys are odd where they are in the built table. Returns how many pairs must match. */
static uint64_t init(row rows[KEYS * ROWS_EACH], probe probes[PROBES]) {
    uint32_t *order = random_order(KEYS * ROWS_EACH);
    uint64_t matches = 0;
    for (uint32_t i = 0; i < KEYS * ROWS_EACH; i++)
        rows[i] = (row){NULL, order[i] % KEYS * 2 + 1, (uint32_t)next_random() & 0xffff};
    for (uint32_t i = 0; i < PROBES; i++) {
        probes[i] = (probe){random_below(2 * KEYS), (uint32_t)next_random() & 0xffff};
        if (probes[i].key % 2 == 1) matches += ROWS_EACH;
    }
    free(order);
    return matches;
}

KERNEL kernel_hashjoin(row rows[KEYS * ROWS_EACH], probe probes[PROBES], row *buckets[BUCKETS],
                       uint64_t groups[GROUPS], uint64_t *found) {
    uint64_t matches = 0;
    for (uint32_t i = 0; i < KEYS * ROWS_EACH; i++) {
        row **bucket = &buckets[bucket_of(rows[i].key)];
        rows[i].next = *bucket;
        *bucket = &rows[i];
    }
    for (uint32_t i = 0; i < PROBES; i++)
        for (row *at = buckets[bucket_of(probes[i].key)]; at != NULL; at = at->next)
            if (at->key == probes[i].key) {
                groups[at->value % GROUPS] += (uint64_t)at->value * probes[i].value;
                matches++;
            }
    *found = matches;
}

int main(void) {
    NEW_1D(row, rows, KEYS * ROWS_EACH);
    NEW_1D(probe, probes, PROBES);
    NEW_1D(row *, buckets, BUCKETS);
    NEW_1D(uint64_t, groups, GROUPS);
    uint64_t found = 0, expected = init(rows, probes);
    MEASURE(kernel_hashjoin(rows, probes, buckets, groups, &found));
    if (found != expected) fail("pairs are missing or too many");
    mix(found);
    for (uint32_t i = 0; i < GROUPS; i++) mix(groups[i]);
    return report();
}
