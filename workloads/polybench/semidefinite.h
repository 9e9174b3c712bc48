/* The input that cholesky, lu and ludcmp share: A := L L^T for a lower
 * triangular L with a unit diagonal, so that no pivot is zero. */
#ifndef FATHOM_SEMIDEFINITE_H
#define FATHOM_SEMIDEFINITE_H

/* Needs N. Scratch memory of A's size is freed before the kernel runs. */
static void init_semidefinite(double A[N][N]) {
    for (int i = 0; i < N; i++) {
        for (int j = 0; j <= i; j++) A[i][j] = (double)(-j % N) / N + 1;
        for (int j = i + 1; j < N; j++) A[i][j] = 0;
        A[i][i] = 1;
    }
    NEW_2D(double, B, N, N);
    for (int t = 0; t < N; t++)
        for (int r = 0; r < N; r++)
            for (int s = 0; s < N; s++) B[r][s] += A[r][t] * A[s][t];
    for (int r = 0; r < N; r++)
        for (int s = 0; s < N; s++) A[r][s] = B[r][s];
    free(B);
}

#endif
