/* atax: y := A^T (A x). */
#include "harness.h"

enum {
    M = EXTENT(38, 116, 390, 1900, 1800),
    N = EXTENT(42, 124, 410, 2100, 2200),
};

static void init(double A[M][N], double x[N]) {
    double n = N;
    for (int i = 0; i < N; i++) x[i] = 1 + (i / n);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) A[i][j] = (double)((i + j) % N) / (5 * M);
}

KERNEL kernel_atax(double A[M][N], double x[N], double y[N], double tmp[M]) {
    for (int i = 0; i < N; i++) y[i] = 0;
    for (int i = 0; i < M; i++) {
        tmp[i] = 0.0;
        for (int j = 0; j < N; j++) tmp[i] = tmp[i] + A[i][j] * x[j];
        for (int j = 0; j < N; j++) y[j] = y[j] + A[i][j] * tmp[i];
    }
}

int main(void) {
    NEW_2D(double, A, M, N);
    NEW_1D(double, x, N);
    NEW_1D(double, y, N);
    NEW_1D(double, tmp, M);
    init(A, x);
    MEASURE(kernel_atax(A, x, y, tmp));
    answer_doubles(y, N);
    return report();
}
