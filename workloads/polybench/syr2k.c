/* syr2k: C := alpha A B^T + alpha B A^T + beta C, lower triangle of C. */
#include "harness.h"

enum {
    M = EXTENT(20, 60, 200, 1000, 2000),
    N = EXTENT(30, 80, 240, 1200, 2600),
};

static void init(double C[N][N], double A[N][M], double B[N][M]) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            A[i][j] = (double)((i * j + 1) % N) / N;
            B[i][j] = (double)((i * j + 2) % M) / M;
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) C[i][j] = (double)((i * j + 3) % N) / M;
}

KERNEL kernel_syr2k(double alpha, double beta, double C[N][N], double A[N][M], double B[N][M]) {
    for (int i = 0; i < N; i++) {
        for (int j = 0; j <= i; j++) C[i][j] *= beta;
        for (int k = 0; k < M; k++)
            for (int j = 0; j <= i; j++)
                C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
    }
}

int main(void) {
    NEW_2D(double, C, N, N);
    NEW_2D(double, A, N, M);
    NEW_2D(double, B, N, M);
    init(C, A, B);
    MEASURE(kernel_syr2k(1.5, 1.2, C, A, B));
    answer_doubles(&C[0][0], (size_t)N * N);
    return report();
}
