/* heat-3d: heat flow in a cube, seven-point stencil, two buffers. */
#include "harness.h"

enum {
    STEPS = EXTENT(20, 40, 100, 500, 1000),
    N = EXTENT(10, 20, 40, 120, 200),
};

static void init(double A[N][N][N], double B[N][N][N]) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                A[i][j][k] = B[i][j][k] = (double)(i + j + (N - k)) * 10 / (N);
}

KERNEL kernel_heat_3d(double A[N][N][N], double B[N][N][N]) {
    for (int t = 1; t <= STEPS; t++) {
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                for (int k = 1; k < N - 1; k++)
                    B[i][j][k] =
                        0.125 * (A[i + 1][j][k] - 2.0 * A[i][j][k] + A[i - 1][j][k]) +
                        0.125 * (A[i][j + 1][k] - 2.0 * A[i][j][k] + A[i][j - 1][k]) +
                        0.125 * (A[i][j][k + 1] - 2.0 * A[i][j][k] + A[i][j][k - 1]) + A[i][j][k];
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                for (int k = 1; k < N - 1; k++)
                    A[i][j][k] =
                        0.125 * (B[i + 1][j][k] - 2.0 * B[i][j][k] + B[i - 1][j][k]) +
                        0.125 * (B[i][j + 1][k] - 2.0 * B[i][j][k] + B[i][j - 1][k]) +
                        0.125 * (B[i][j][k + 1] - 2.0 * B[i][j][k] + B[i][j][k - 1]) + B[i][j][k];
    }
}

int main(void) {
    NEW_3D(double, A, N, N, N);
    NEW_3D(double, B, N, N, N);
    init(A, B);
    MEASURE(kernel_heat_3d(A, B));
    answer_doubles(&A[0][0][0], (size_t)N * N * N);
    return report();
}
