/* kmeans: Lloyd's algorithm in two dimensions, as a database's operator runs it:
 * tuples point to their cluster, and clusters are visited through a list. */
#include "pointers.h"

enum { POINTS = EXTENT(300, 10000, 400000, 1500000, 6000000), CLUSTERS = 16, PASSES = 36 };

typedef struct cluster cluster;

struct cluster {
    cluster *next;
    double x, y, sum_x, sum_y;
    uint32_t members;
};

typedef struct {
    cluster *nearest;
    double x, y;
} point;

static void init(point points[POINTS], cluster clusters[CLUSTERS]) {
    for (uint32_t i = 0; i < POINTS; i++) {
        /* Around a grid of centres, the spread far larger than the rounding. */
        uint32_t centre = random_below(CLUSTERS);
        points[i].x = centre % 4 + random_unit() * 0.9;
        points[i].y = centre / 4 + random_unit() * 0.9;
    }
    for (uint32_t i = 0; i < CLUSTERS; i++) {
        const point *seed = &points[(uint64_t)i * POINTS / CLUSTERS];
        clusters[i] = (cluster){i > 0 ? &clusters[i - 1] : NULL, seed->x, seed->y, 0, 0, 0};
    }
}

KERNEL kernel_kmeans(point points[POINTS], cluster *clusters) {
    for (int pass = 0; pass < PASSES; pass++) {
        for (point *at = points; at < points + POINTS; at++) {
            double least = HUGE_VAL;
            cluster *nearest = clusters;
            for (cluster *one = clusters; one != NULL; one = one->next) {
                double dx = at->x - one->x, dy = at->y - one->y;
                double distance = dx * dx + dy * dy;
                if (distance < least) {
                    least = distance;
                    nearest = one;
                }
            }
            at->nearest = nearest;
            nearest->sum_x += at->x;
            nearest->sum_y += at->y;
            nearest->members++;
        }
        for (cluster *one = clusters; one != NULL; one = one->next) {
            if (one->members > 0) {
                one->x = one->sum_x / one->members;
                one->y = one->sum_y / one->members;
            }
            if (pass + 1 < PASSES) one->sum_x = one->sum_y = one->members = 0;
        }
    }
}

int main(void) {
    NEW_1D(point, points, POINTS);
    NEW_1D(cluster, clusters, CLUSTERS);
    init(points, clusters);
    MEASURE(kernel_kmeans(points, &clusters[CLUSTERS - 1]));
    double centres[2 * CLUSTERS];
    uint64_t members = 0;
    for (uint32_t i = 0; i < CLUSTERS; i++) {
        centres[2 * i] = clusters[i].x;
        centres[2 * i + 1] = clusters[i].y;
        members += clusters[i].members;
        mix(clusters[i].members);
    }
    if (members != POINTS) fail("points are missing");
    answer_doubles(centres, 2 * CLUSTERS);
    return report();
}
