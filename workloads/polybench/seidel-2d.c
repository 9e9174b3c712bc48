/* seidel-2d: nine-point stencil over a plane, in place, each point depending
 * on the ones just computed. */
#include "harness.h"

enum {
    STEPS = EXTENT(20, 40, 100, 500, 1000),
    N = EXTENT(40, 120, 400, 2000, 4000),
};

static void init(double A[N][N]) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) A[i][j] = ((double)i * (j + 2) + 2) / N;
}

KERNEL kernel_seidel_2d(double A[N][N]) {
    for (int t = 0; t <= STEPS - 1; t++)
        for (int i = 1; i <= N - 2; i++)
            for (int j = 1; j <= N - 2; j++)
                A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] +
                           A[i][j] + A[i][j + 1] + A[i + 1][j - 1] + A[i + 1][j] +
                           A[i + 1][j + 1]) /
                          9.0;
}

int main(void) {
    NEW_2D(double, A, N, N);
    init(A);
    MEASURE(kernel_seidel_2d(A));
    answer_doubles(&A[0][0], (size_t)N * N);
    return report();
}
