/* symm: C := alpha A B + beta C with A symmetric, its lower triangle stored. */
#include "harness.h"

enum {
    M = EXTENT(20, 60, 200, 1000, 2000),
    N = EXTENT(30, 80, 240, 1200, 2600),
};

static void init(double C[M][N], double A[M][M], double B[M][N]) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            C[i][j] = (double)((i + j) % 100) / M;
            B[i][j] = (double)((N + i - j) % 100) / M;
        }
    for (int i = 0; i < M; i++) {
        for (int j = 0; j <= i; j++) A[i][j] = (double)((i + j) % 100) / M;
        /* The upper triangle must not be read. */
        for (int j = i + 1; j < M; j++) A[i][j] = -999;
    }
}

KERNEL kernel_symm(double alpha, double beta, double C[M][N], double A[M][M], double B[M][N]) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < i; k++) {
                C[k][j] += alpha * B[i][j] * A[i][k];
                sum += B[k][j] * A[i][k];
            }
            C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * sum;
        }
}

int main(void) {
    NEW_2D(double, C, M, N);
    NEW_2D(double, A, M, M);
    NEW_2D(double, B, M, N);
    init(C, A, B);
    MEASURE(kernel_symm(1.5, 1.2, C, A, B));
    answer_doubles(&C[0][0], (size_t)M * N);
    return report();
}
