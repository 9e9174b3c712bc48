/* correlation: the correlation matrix of M variables over N observations. */
#include "harness.h"

enum {
    M = EXTENT(28, 80, 240, 1200, 2600),
    N = EXTENT(32, 100, 260, 1400, 3000),
};

static void init(double data[N][M]) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) data[i][j] = (double)(i * j) / M + i;
}

KERNEL kernel_correlation(double n, double data[N][M], double corr[M][M], double mean[M],
                          double stddev[M]) {
    const double nearly_zero = 0.1;
    for (int j = 0; j < M; j++) {
        mean[j] = 0.0;
        for (int i = 0; i < N; i++) mean[j] += data[i][j];
        mean[j] /= n;
    }
    for (int j = 0; j < M; j++) {
        stddev[j] = 0.0;
        for (int i = 0; i < N; i++) stddev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
        stddev[j] /= n;
        stddev[j] = sqrt(stddev[j]);
        /* A constant variable would divide by zero below. */
        stddev[j] = stddev[j] <= nearly_zero ? 1.0 : stddev[j];
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            data[i][j] -= mean[j];
            data[i][j] /= sqrt(n) * stddev[j];
        }
    for (int i = 0; i < M - 1; i++) {
        corr[i][i] = 1.0;
        for (int j = i + 1; j < M; j++) {
            corr[i][j] = 0.0;
            for (int k = 0; k < N; k++) corr[i][j] += data[k][i] * data[k][j];
            corr[j][i] = corr[i][j];
        }
    }
    corr[M - 1][M - 1] = 1.0;
}

int main(void) {
    NEW_2D(double, data, N, M);
    NEW_2D(double, corr, M, M);
    NEW_1D(double, mean, M);
    NEW_1D(double, stddev, M);
    init(data);
    MEASURE(kernel_correlation((double)N, data, corr, mean, stddev));
    answer_doubles(&corr[0][0], (size_t)M * M);
    return report();
}
