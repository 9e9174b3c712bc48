/* trmm: B := alpha A^T B with A unit lower triangular. */
#include "harness.h"

enum {
    M = EXTENT(20, 60, 200, 1000, 2000),
    N = EXTENT(30, 80, 240, 1200, 2600),
};

static void init(double A[M][M], double B[M][N]) {
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < i; j++) A[i][j] = (double)((i + j) % M) / M;
        A[i][i] = 1.0;
        for (int j = 0; j < N; j++) B[i][j] = (double)((N + (i - j)) % N) / N;
    }
}

KERNEL kernel_trmm(double alpha, double A[M][M], double B[M][N]) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            for (int k = i + 1; k < M; k++) B[i][j] += A[k][i] * B[k][j];
            B[i][j] = alpha * B[i][j];
        }
}

int main(void) {
    NEW_2D(double, A, M, M);
    NEW_2D(double, B, M, N);
    init(A, B);
    MEASURE(kernel_trmm(1.5, A, B));
    answer_doubles(&B[0][0], (size_t)M * N);
    return report();
}
