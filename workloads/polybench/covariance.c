/* covariance: the covariance matrix of M variables over N observations. */
#include "harness.h"

enum {
    M = EXTENT(28, 80, 240, 1200, 2600),
    N = EXTENT(32, 100, 260, 1400, 3000),
};

static void init(double data[N][M]) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) data[i][j] = ((double)i * j) / M;
}

KERNEL kernel_covariance(double n, double data[N][M], double cov[M][M], double mean[M]) {
    for (int j = 0; j < M; j++) {
        mean[j] = 0.0;
        for (int i = 0; i < N; i++) mean[j] += data[i][j];
        mean[j] /= n;
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) data[i][j] -= mean[j];
    for (int i = 0; i < M; i++)
        for (int j = i; j < M; j++) {
            cov[i][j] = 0.0;
            for (int k = 0; k < N; k++) cov[i][j] += data[k][i] * data[k][j];
            cov[i][j] /= (n - 1.0);
            cov[j][i] = cov[i][j];
        }
}

int main(void) {
    NEW_2D(double, data, N, M);
    NEW_2D(double, cov, M, M);
    NEW_1D(double, mean, M);
    init(data);
    MEASURE(kernel_covariance((double)N, data, cov, mean));
    answer_doubles(&cov[0][0], (size_t)M * M);
    return report();
}
