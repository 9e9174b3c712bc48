/* gesummv: y := alpha A x + beta B x, two matrix-vector products summed. */
#include "harness.h"

enum { N = EXTENT(30, 90, 250, 1300, 2800) };

static void init(double A[N][N], double B[N][N], double x[N]) {
    for (int i = 0; i < N; i++) {
        x[i] = (double)(i % N) / N;
        for (int j = 0; j < N; j++) {
            A[i][j] = (double)((i * j + 1) % N) / N;
            B[i][j] = (double)((i * j + 2) % N) / N;
        }
    }
}

KERNEL kernel_gesummv(double alpha, double beta, double A[N][N], double B[N][N], double tmp[N],
                      double x[N], double y[N]) {
    for (int i = 0; i < N; i++) {
        tmp[i] = 0.0;
        y[i] = 0.0;
        for (int j = 0; j < N; j++) {
            tmp[i] = A[i][j] * x[j] + tmp[i];
            y[i] = B[i][j] * x[j] + y[i];
        }
        y[i] = alpha * tmp[i] + beta * y[i];
    }
}

int main(void) {
    NEW_2D(double, A, N, N);
    NEW_2D(double, B, N, N);
    NEW_1D(double, tmp, N);
    NEW_1D(double, x, N);
    NEW_1D(double, y, N);
    init(A, B, x);
    MEASURE(kernel_gesummv(1.5, 1.2, A, B, tmp, x, y));
    answer_doubles(y, N);
    return report();
}
