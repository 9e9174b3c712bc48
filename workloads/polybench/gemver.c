/* gemver: two rank-one updates of a matrix, then two products with vectors. */
#include "harness.h"

enum { N = EXTENT(40, 120, 400, 2000, 4000) };

/* The vectors, by their published names. */
struct vectors {
    double *u1, *v1, *u2, *v2, *w, *x, *y, *z;
};

static void init(double A[N][N], struct vectors *v) {
    double n = N;
    for (int i = 0; i < N; i++) {
        v->u1[i] = i;
        v->u2[i] = ((i + 1) / n) / 2.0;
        v->v1[i] = ((i + 1) / n) / 4.0;
        v->v2[i] = ((i + 1) / n) / 6.0;
        v->y[i] = ((i + 1) / n) / 8.0;
        v->z[i] = ((i + 1) / n) / 9.0;
        v->x[i] = 0.0;
        v->w[i] = 0.0;
        for (int j = 0; j < N; j++) A[i][j] = (double)(i * j % N) / N;
    }
}

KERNEL kernel_gemver(double alpha, double beta, double A[N][N], double u1[N], double v1[N],
                     double u2[N], double v2[N], double w[N], double x[N], double y[N],
                     double z[N]) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) A[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) x[i] = x[i] + beta * A[j][i] * y[j];
    for (int i = 0; i < N; i++) x[i] = x[i] + z[i];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) w[i] = w[i] + alpha * A[i][j] * x[j];
}

int main(void) {
    NEW_2D(double, A, N, N);
    NEW_1D(double, u1, N);
    NEW_1D(double, v1, N);
    NEW_1D(double, u2, N);
    NEW_1D(double, v2, N);
    NEW_1D(double, w, N);
    NEW_1D(double, x, N);
    NEW_1D(double, y, N);
    NEW_1D(double, z, N);
    init(A, &(struct vectors){u1, v1, u2, v2, w, x, y, z});
    MEASURE(kernel_gemver(1.5, 1.2, A, u1, v1, u2, v2, w, x, y, z));
    answer_doubles(w, N);
    return report();
}
