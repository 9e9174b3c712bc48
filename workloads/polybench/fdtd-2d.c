/* fdtd-2d: electromagnetic fields in a plane by finite differences in time. */
#include "harness.h"

enum {
    STEPS = EXTENT(20, 40, 100, 500, 1000),
    NX = EXTENT(20, 60, 200, 1000, 2000),
    NY = EXTENT(30, 80, 240, 1200, 2600),
};

static void init(double ex[NX][NY], double ey[NX][NY], double hz[NX][NY], double source[STEPS]) {
    for (int i = 0; i < STEPS; i++) source[i] = (double)i;
    for (int i = 0; i < NX; i++)
        for (int j = 0; j < NY; j++) {
            ex[i][j] = ((double)i * (j + 1)) / NX;
            ey[i][j] = ((double)i * (j + 2)) / NY;
            hz[i][j] = ((double)i * (j + 3)) / NX;
        }
}

KERNEL kernel_fdtd_2d(double ex[NX][NY], double ey[NX][NY], double hz[NX][NY],
                      double source[STEPS]) {
    for (int t = 0; t < STEPS; t++) {
        for (int j = 0; j < NY; j++) ey[0][j] = source[t];
        for (int i = 1; i < NX; i++)
            for (int j = 0; j < NY; j++) ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i - 1][j]);
        for (int i = 0; i < NX; i++)
            for (int j = 1; j < NY; j++) ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1]);
        for (int i = 0; i < NX - 1; i++)
            for (int j = 0; j < NY - 1; j++)
                hz[i][j] =
                    hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
    }
}

int main(void) {
    NEW_2D(double, ex, NX, NY);
    NEW_2D(double, ey, NX, NY);
    NEW_2D(double, hz, NX, NY);
    NEW_1D(double, source, STEPS);
    init(ex, ey, hz, source);
    MEASURE(kernel_fdtd_2d(ex, ey, hz, source));
    answer_doubles(&ex[0][0], (size_t)NX * NY);
    answer_doubles(&ey[0][0], (size_t)NX * NY);
    answer_doubles(&hz[0][0], (size_t)NX * NY);
    return report();
}
