/* durbin: solves the Yule-Walker equations of a Toeplitz matrix.
 *
 * The published input is ill-conditioned: a re-associated sum changes the
 * result by up to 1e-8, so the answer is taken with fewer bits. */
#include "harness.h"

enum { N = EXTENT(40, 120, 400, 2000, 4000), ANSWER_BITS = 16 };

static void init(double r[N]) {
    for (int i = 0; i < N; i++) r[i] = N + 1 - i;
}

KERNEL kernel_durbin(double r[N], double y[N]) {
    double z[N];
    double alpha = -r[0], beta = 1.0;
    y[0] = -r[0];
    for (int k = 1; k < N; k++) {
        double sum = 0.0;
        beta = (1 - alpha * alpha) * beta;
        for (int i = 0; i < k; i++) sum += r[k - i - 1] * y[i];
        alpha = -(r[k] + sum) / beta;
        for (int i = 0; i < k; i++) z[i] = y[i] + alpha * y[k - i - 1];
        for (int i = 0; i < k; i++) y[i] = z[i];
        y[k] = alpha;
    }
}

int main(void) {
    NEW_1D(double, r, N);
    NEW_1D(double, y, N);
    init(r);
    MEASURE(kernel_durbin(r, y));
    answer_rounded(y, N, ANSWER_BITS);
    return report();
}
