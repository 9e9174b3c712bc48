/* gramschmidt: A = Q R by the modified Gram-Schmidt process.
 *
 * The published input has N > M and columns that depend on earlier ones. After
 * projection such a column is rounding noise (its norm is below 1e-12, that of
 * the others above 50); the published kernel normalises the noise and projects
 * all later columns on it. From the first such column on, Q and R are not a
 * result that two correct builds need share, so the answer covers the columns
 * of Q and the rows of R before it (about 40 % of them). */
#include "harness.h"

enum {
    M = EXTENT(20, 60, 200, 1000, 2000),
    N = EXTENT(30, 80, 240, 1200, 2600),
};

static void init(double A[M][N], double R[N][N], double Q[M][N]) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            A[i][j] = (((double)((i * j) % M) / M) * 100) + 10;
            Q[i][j] = 0.0;
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) R[i][j] = 0.0;
}

KERNEL kernel_gramschmidt(double A[M][N], double R[N][N], double Q[M][N]) {
    for (int k = 0; k < N; k++) {
        double norm = 0.0;
        for (int i = 0; i < M; i++) norm += A[i][k] * A[i][k];
        R[k][k] = sqrt(norm);
        for (int i = 0; i < M; i++) Q[i][k] = A[i][k] / R[k][k];
        for (int j = k + 1; j < N; j++) {
            R[k][j] = 0.0;
            for (int i = 0; i < M; i++) R[k][j] += Q[i][k] * A[i][j];
            for (int i = 0; i < M; i++) A[i][j] = A[i][j] - Q[i][k] * R[k][j];
        }
    }
}

static void clear_dependent(double R[N][N], double Q[M][N]) {
    const double norm_min = 1e-6;
    int first = 0;
    while (first < N && R[first][first] > norm_min) first++;
    for (int k = first; k < N; k++) {
        for (int i = 0; i < M; i++) Q[i][k] = 0.0;
        for (int j = 0; j < N; j++) R[k][j] = 0.0;
    }
}

int main(void) {
    NEW_2D(double, A, M, N);
    NEW_2D(double, R, N, N);
    NEW_2D(double, Q, M, N);
    init(A, R, Q);
    MEASURE(kernel_gramschmidt(A, R, Q));
    clear_dependent(R, Q);
    answer_doubles(&R[0][0], (size_t)N * N);
    answer_doubles(&Q[0][0], (size_t)M * N);
    return report();
}
