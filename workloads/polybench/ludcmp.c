/* ludcmp: solves A x = b by LU decomposition, forward and back substitution. */
#include "harness.h"

enum { N = EXTENT(40, 120, 400, 2000, 4000) };

#include "semidefinite.h"

static void init(double A[N][N], double b[N], double x[N], double y[N]) {
    double n = N;
    for (int i = 0; i < N; i++) {
        x[i] = 0;
        y[i] = 0;
        b[i] = (i + 1) / n / 2.0 + 4;
    }
    init_semidefinite(A);
}

KERNEL kernel_ludcmp(double A[N][N], double b[N], double x[N], double y[N]) {
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++) {
            double w = A[i][j];
            for (int k = 0; k < j; k++) w -= A[i][k] * A[k][j];
            A[i][j] = w / A[j][j];
        }
        for (int j = i; j < N; j++) {
            double w = A[i][j];
            for (int k = 0; k < i; k++) w -= A[i][k] * A[k][j];
            A[i][j] = w;
        }
    }
    for (int i = 0; i < N; i++) {
        double w = b[i];
        for (int j = 0; j < i; j++) w -= A[i][j] * y[j];
        y[i] = w;
    }
    for (int i = N - 1; i >= 0; i--) {
        double w = y[i];
        for (int j = i + 1; j < N; j++) w -= A[i][j] * x[j];
        x[i] = w / A[i][i];
    }
}

int main(void) {
    NEW_2D(double, A, N, N);
    NEW_1D(double, b, N);
    NEW_1D(double, x, N);
    NEW_1D(double, y, N);
    init(A, b, x, y);
    MEASURE(kernel_ludcmp(A, b, x, y));
    answer_doubles(x, N);
    return report();
}
