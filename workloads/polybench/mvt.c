/* mvt: x1 += A y1 and x2 += A^T y2. */
#include "harness.h"

enum { N = EXTENT(40, 120, 400, 2000, 4000) };

static void init(double x1[N], double x2[N], double y1[N], double y2[N], double A[N][N]) {
    for (int i = 0; i < N; i++) {
        x1[i] = (double)(i % N) / N;
        x2[i] = (double)((i + 1) % N) / N;
        y1[i] = (double)((i + 3) % N) / N;
        y2[i] = (double)((i + 4) % N) / N;
        for (int j = 0; j < N; j++) A[i][j] = (double)(i * j % N) / N;
    }
}

KERNEL kernel_mvt(double x1[N], double x2[N], double y1[N], double y2[N], double A[N][N]) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) x1[i] = x1[i] + A[i][j] * y1[j];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) x2[i] = x2[i] + A[j][i] * y2[j];
}

int main(void) {
    NEW_1D(double, x1, N);
    NEW_1D(double, x2, N);
    NEW_1D(double, y1, N);
    NEW_1D(double, y2, N);
    NEW_2D(double, A, N, N);
    init(x1, x2, y1, y2, A);
    MEASURE(kernel_mvt(x1, x2, y1, y2, A));
    answer_doubles(x1, N);
    answer_doubles(x2, N);
    return report();
}
