/* trisolv: solves L x = b for a lower triangular L. */
#include "harness.h"

enum { N = EXTENT(40, 120, 400, 2000, 4000) };

static void init(double L[N][N], double x[N], double b[N]) {
    for (int i = 0; i < N; i++) {
        x[i] = -999;
        b[i] = i;
        for (int j = 0; j <= i; j++) L[i][j] = (double)(i + N - j + 1) * 2 / N;
    }
}

KERNEL kernel_trisolv(double L[N][N], double x[N], double b[N]) {
    for (int i = 0; i < N; i++) {
        x[i] = b[i];
        for (int j = 0; j < i; j++) x[i] -= L[i][j] * x[j];
        x[i] = x[i] / L[i][i];
    }
}

int main(void) {
    NEW_2D(double, L, N, N);
    NEW_1D(double, x, N);
    NEW_1D(double, b, N);
    init(L, x, b);
    MEASURE(kernel_trisolv(L, x, b));
    answer_doubles(x, N);
    return report();
}
