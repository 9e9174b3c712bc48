/* syrk: C := alpha A A^T + beta C, lower triangle of C. */
#include "harness.h"

enum {
    M = EXTENT(20, 60, 200, 1000, 2000),
    N = EXTENT(30, 80, 240, 1200, 2600),
};

static void init(double C[N][N], double A[N][M]) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) A[i][j] = (double)((i * j + 1) % N) / N;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) C[i][j] = (double)((i * j + 2) % M) / M;
}

KERNEL kernel_syrk(double alpha, double beta, double C[N][N], double A[N][M]) {
    for (int i = 0; i < N; i++) {
        for (int j = 0; j <= i; j++) C[i][j] *= beta;
        for (int k = 0; k < M; k++)
            for (int j = 0; j <= i; j++) C[i][j] += alpha * A[i][k] * A[j][k];
    }
}

int main(void) {
    NEW_2D(double, C, N, N);
    NEW_2D(double, A, N, M);
    init(C, A);
    MEASURE(kernel_syrk(1.5, 1.2, C, A));
    answer_doubles(&C[0][0], (size_t)N * N);
    return report();
}
