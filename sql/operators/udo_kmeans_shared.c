/* The k-means of udo_kmeans.c on all threads: rows are consumed, points assigned and batches produced on each,
 * over one memory. Sums are added in whatever order threads come: where they are not exact, the
 * last bits of a centre differ from run to run. */
#define FATHOM_SHARED
#include "fathom_sql.h"
#include "kmeans.h"

/* A batch of the input; no more than one thread has it at a time. */
struct block {
    struct block *next;
    uint32_t rows;
    double *x, *y;
    int64_t *payload;
    int32_t *cluster;
};

struct sums {
    double x[CLUSTERS], y[CLUSTERS];
    uint64_t members[CLUSTERS], moved;
};

struct kmeans {
    struct block *blocks;
    /* The next that nobody has in this step, or to produce. */
    struct block *next;
    uint32_t lock;
    /* Under the lock: what threads have found so far. */
    uint32_t threads, arrived;
    struct seeds seeds;
    struct sums sums;
    /* Written by the last of a step, and read in the next. */
    double cx[CLUSTERS], cy[CLUSTERS];
    int is_done;
};

/* Of those that this thread has consumed. */
static FATHOM_OF_THREAD struct seeds own_seeds;

FATHOM_EXPORT(KMeans_columns) const char *KMeans_columns(void) {
    return "x double, y double, payload bigint, clusterId int";
}

FATHOM_EXPORT(KMeans_open) struct kmeans *KMeans_open(void) { return fathom_alloc(sizeof(struct kmeans)); }

FATHOM_EXPORT(KMeans_consume) int32_t KMeans_consume(struct kmeans *all, const struct fathom_batch *in) {
    if (!kmeans_takes(in)) return FATHOM_FAILED;
    size_t rows = in->rows;
    if (rows == 0) return FATHOM_OK;
    if (rows > UINT32_MAX / 32) return fathom_fail("a batch of too many points");
    struct block *block = fathom_alloc(sizeof *block + rows * (3 * sizeof(double) + sizeof(int32_t)));
    if (block == NULL) return fathom_fail("no memory for so many points");
    block->rows = in->rows;
    block->x = (double *)(block + 1);
    block->y = block->x + rows;
    block->payload = (int64_t *)(block->y + rows);
    block->cluster = (int32_t *)(block->payload + rows);
    __builtin_memcpy(block->x, in->column[0].values, rows * sizeof(double));
    __builtin_memcpy(block->y, in->column[1].values, rows * sizeof(double));
    __builtin_memcpy(block->payload, in->column[2].values, rows * sizeof(int64_t));
    for (size_t i = 0; i < rows; i++) block->cluster[i] = -1;
    seeds_of(&own_seeds, in);
    block->next = __atomic_load_n(&all->blocks, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&all->blocks, &block->next, block, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {}
    return FATHOM_OK;
}

/* One that is this thread's; NULL where there is none any more. */
static struct block *take(struct kmeans *all) {
    struct block *block = __atomic_load_n(&all->next, __ATOMIC_ACQUIRE);
    while (block != NULL
           && !__atomic_compare_exchange_n(&all->next, &block, block->next, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {}
    return block;
}

/* Each thread counts itself, and adds what it has seen; with the last of them all is there. */
static void begin(struct kmeans *all) {
    fathom_lock(&all->lock);
    for (uint32_t i = 0; i < own_seeds.count; i++)
        keep_seed(&all->seeds, own_seeds.hash[i], own_seeds.x[i], own_seeds.y[i]);
    for (uint32_t i = 0; i < all->seeds.count; i++) {
        all->cx[i] = all->seeds.x[i];
        all->cy[i] = all->seeds.y[i];
    }
    all->threads++;
    all->next = all->blocks;
    fathom_unlock(&all->lock);
}

static void assign(const struct kmeans *all, struct block *block, struct sums *sums) {
    double cx[CLUSTERS], cy[CLUSTERS];
    int count = (int)all->seeds.count;
    for (int c = 0; c < count; c++) {
        cx[c] = all->cx[c];
        cy[c] = all->cy[c];
    }
    for (uint32_t i = 0; i < block->rows; i++) {
        int32_t c = nearest(block->x[i], block->y[i], cx, cy, count);
        sums->moved += c != block->cluster[i];
        block->cluster[i] = c;
        sums->x[c] += block->x[i];
        sums->y[c] += block->y[i];
        sums->members[c]++;
    }
}

/* The last of a step makes the next one ready. */
static void arrive(struct kmeans *all, uint32_t step, const struct sums *own) {
    fathom_lock(&all->lock);
    struct sums *sums = &all->sums;
    sums->moved += own->moved;
    for (uint32_t c = 0; c < all->seeds.count; c++) {
        sums->x[c] += own->x[c];
        sums->y[c] += own->y[c];
        sums->members[c] += own->members[c];
    }
    if (++all->arrived == all->threads) {
        all->is_done = sums->moved == 0 || step == ITERATIONS;
        for (uint32_t c = 0; c < all->seeds.count && !all->is_done; c++) {
            if (sums->members[c] == 0) continue;
            all->cx[c] = sums->x[c] / (double)sums->members[c];
            all->cy[c] = sums->y[c] / (double)sums->members[c];
        }
        *sums = (struct sums){0};
        all->arrived = 0;
        all->next = all->blocks;
    }
    fathom_unlock(&all->lock);
}

FATHOM_EXPORT(KMeans_work) int32_t KMeans_work(struct kmeans *all, uint32_t step) {
    if (all->is_done) return FATHOM_END;
    if (step == 0) {
        begin(all);
        return FATHOM_OK;
    }
    struct sums own = {0};
    for (struct block *block = take(all); block != NULL; block = take(all)) assign(all, block, &own);
    arrive(all, step, &own);
    return FATHOM_OK;
}

FATHOM_EXPORT(KMeans_produce) int32_t KMeans_produce(struct kmeans *all, struct fathom_batch *out) {
    if (!all->is_done) return fathom_fail("no cluster has its points yet: KMeans_work comes before");
    struct block *block = take(all);
    if (block == NULL) return FATHOM_END;
    out->rows = block->rows;
    out->column[0].values = block->x;
    out->column[1].values = block->y;
    out->column[2].values = block->payload;
    out->column[3].values = block->cluster;
    return FATHOM_OK;
}
