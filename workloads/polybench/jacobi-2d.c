/* jacobi-2d: five-point stencil over a plane, two buffers. */
#include "harness.h"

enum {
    STEPS = EXTENT(20, 40, 100, 500, 1000),
    N = EXTENT(30, 90, 250, 1300, 2800),
};

static void init(double A[N][N], double B[N][N]) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            A[i][j] = ((double)i * (j + 2) + 2) / N;
            B[i][j] = ((double)i * (j + 3) + 3) / N;
        }
}

KERNEL kernel_jacobi_2d(double A[N][N], double B[N][N]) {
    for (int t = 0; t < STEPS; t++) {
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][1 + j] + A[1 + i][j] + A[i - 1][j]);
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                A[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][1 + j] + B[1 + i][j] + B[i - 1][j]);
    }
}

int main(void) {
    NEW_2D(double, A, N, N);
    NEW_2D(double, B, N, N);
    init(A, B);
    MEASURE(kernel_jacobi_2d(A, B));
    answer_doubles(&A[0][0], (size_t)N * N);
    return report();
}
