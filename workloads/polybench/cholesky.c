/* cholesky: A = L L^T in place, for a symmetric positive definite A. */
#include "harness.h"

enum { N = EXTENT(40, 120, 400, 2000, 4000) };

#include "semidefinite.h"

KERNEL kernel_cholesky(double A[N][N]) {
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++) A[i][j] -= A[i][k] * A[j][k];
            A[i][j] /= A[j][j];
        }
        for (int k = 0; k < i; k++) A[i][i] -= A[i][k] * A[i][k];
        A[i][i] = sqrt(A[i][i]);
    }
}

int main(void) {
    NEW_2D(double, A, N, N);
    init_semidefinite(A);
    MEASURE(kernel_cholesky(A));
    for (int i = 0; i < N; i++)
        for (int j = i + 1; j < N; j++) A[i][j] = 0; /* not part of the result */
    answer_doubles(&A[0][0], (size_t)N * N);
    return report();
}
