/* bicg: s := A^T r and q := A p, the kernel of the BiCGStab solver. */
#include "harness.h"

enum {
    M = EXTENT(38, 116, 390, 1900, 1800),
    N = EXTENT(42, 124, 410, 2100, 2200),
};

static void init(double A[N][M], double r[N], double p[M]) {
    for (int i = 0; i < M; i++) p[i] = (double)(i % M) / M;
    for (int i = 0; i < N; i++) {
        r[i] = (double)(i % N) / N;
        for (int j = 0; j < M; j++) A[i][j] = (double)(i * (j + 1) % N) / N;
    }
}

KERNEL kernel_bicg(double A[N][M], double s[M], double q[N], double p[M], double r[N]) {
    for (int i = 0; i < M; i++) s[i] = 0;
    for (int i = 0; i < N; i++) {
        q[i] = 0.0;
        for (int j = 0; j < M; j++) {
            s[j] = s[j] + r[i] * A[i][j];
            q[i] = q[i] + A[i][j] * p[j];
        }
    }
}

int main(void) {
    NEW_2D(double, A, N, M);
    NEW_1D(double, s, M);
    NEW_1D(double, q, N);
    NEW_1D(double, p, M);
    NEW_1D(double, r, N);
    init(A, r, p);
    MEASURE(kernel_bicg(A, s, q, p, r));
    answer_doubles(s, M);
    answer_doubles(q, N);
    return report();
}
