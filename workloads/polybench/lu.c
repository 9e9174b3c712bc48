/* lu: A = L U in place, without pivoting. */
#include "harness.h"

enum { N = EXTENT(40, 120, 400, 2000, 4000) };

#include "semidefinite.h"

KERNEL kernel_lu(double A[N][N]) {
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++) A[i][j] -= A[i][k] * A[k][j];
            A[i][j] /= A[j][j];
        }
        for (int j = i; j < N; j++)
            for (int k = 0; k < i; k++) A[i][j] -= A[i][k] * A[k][j];
    }
}

int main(void) {
    NEW_2D(double, A, N, N);
    init_semidefinite(A);
    MEASURE(kernel_lu(A));
    answer_doubles(&A[0][0], (size_t)N * N);
    return report();
}
