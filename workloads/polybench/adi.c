/* adi: heat flow in a plane by the alternating direction implicit method. */
#include "harness.h"

enum {
    STEPS = EXTENT(20, 40, 100, 500, 1000),
    N = EXTENT(20, 60, 200, 1000, 2000),
};

static void init(double u[N][N]) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) u[i][j] = (double)(i + N - j) / N;
}

KERNEL kernel_adi(int steps, double u[N][N], double v[N][N], double p[N][N], double q[N][N]) {
    double dx = 1.0 / (double)N, dy = 1.0 / (double)N, dt = 1.0 / (double)steps;
    double column = 2.0 * dt / (dx * dx), row = 1.0 * dt / (dy * dy);
    double a = -column / 2.0, b = 1.0 + column, c = a;
    double d = -row / 2.0, e = 1.0 + row, f = d;

    for (int t = 1; t <= steps; t++) {
        for (int i = 1; i < N - 1; i++) {
            v[0][i] = 1.0;
            p[i][0] = 0.0;
            q[i][0] = v[0][i];
            for (int j = 1; j < N - 1; j++) {
                p[i][j] = -c / (a * p[i][j - 1] + b);
                q[i][j] = (-d * u[j][i - 1] + (1.0 + 2.0 * d) * u[j][i] - f * u[j][i + 1] -
                           a * q[i][j - 1]) /
                          (a * p[i][j - 1] + b);
            }
            v[N - 1][i] = 1.0;
            for (int j = N - 2; j >= 1; j--) v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
        }
        for (int i = 1; i < N - 1; i++) {
            u[i][0] = 1.0;
            p[i][0] = 0.0;
            q[i][0] = u[i][0];
            for (int j = 1; j < N - 1; j++) {
                p[i][j] = -f / (d * p[i][j - 1] + e);
                q[i][j] = (-a * v[i - 1][j] + (1.0 + 2.0 * a) * v[i][j] - c * v[i + 1][j] -
                           d * q[i][j - 1]) /
                          (d * p[i][j - 1] + e);
            }
            u[i][N - 1] = 1.0;
            for (int j = N - 2; j >= 1; j--) u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
        }
    }
}

int main(void) {
    NEW_2D(double, u, N, N);
    NEW_2D(double, v, N, N);
    NEW_2D(double, p, N, N);
    NEW_2D(double, q, N, N);
    init(u);
    MEASURE(kernel_adi(STEPS, u, v, p, q));
    answer_doubles(&u[0][0], (size_t)N * N);
    return report();
}
