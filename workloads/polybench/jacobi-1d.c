/* jacobi-1d: three-point stencil over a line, two buffers. */
#include "harness.h"

enum {
    STEPS = EXTENT(20, 40, 100, 500, 1000),
    N = EXTENT(30, 120, 400, 2000, 4000),
};

static void init(double A[N], double B[N]) {
    for (int i = 0; i < N; i++) {
        A[i] = ((double)i + 2) / N;
        B[i] = ((double)i + 3) / N;
    }
}

KERNEL kernel_jacobi_1d(double A[N], double B[N]) {
    for (int t = 0; t < STEPS; t++) {
        for (int i = 1; i < N - 1; i++) B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
        for (int i = 1; i < N - 1; i++) A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]);
    }
}

int main(void) {
    NEW_1D(double, A, N);
    NEW_1D(double, B, N);
    init(A, B);
    MEASURE(kernel_jacobi_1d(A, B));
    answer_doubles(A, N);
    return report();
}
