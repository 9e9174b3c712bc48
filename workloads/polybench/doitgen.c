/* doitgen: multi-resolution analysis, a product over the last axis of a cube. */
#include "harness.h"

enum {
    NQ = EXTENT(8, 20, 40, 140, 220),
    NR = EXTENT(10, 25, 50, 150, 250),
    NP = EXTENT(12, 30, 60, 160, 270),
};

static void init(double A[NR][NQ][NP], double C4[NP][NP]) {
    for (int i = 0; i < NR; i++)
        for (int j = 0; j < NQ; j++)
            for (int k = 0; k < NP; k++) A[i][j][k] = (double)((i * j + k) % NP) / NP;
    for (int i = 0; i < NP; i++)
        for (int j = 0; j < NP; j++) C4[i][j] = (double)(i * j % NP) / NP;
}

KERNEL kernel_doitgen(double A[NR][NQ][NP], double C4[NP][NP], double sum[NP]) {
    for (int r = 0; r < NR; r++)
        for (int q = 0; q < NQ; q++) {
            for (int p = 0; p < NP; p++) {
                sum[p] = 0.0;
                for (int s = 0; s < NP; s++) sum[p] += A[r][q][s] * C4[s][p];
            }
            for (int p = 0; p < NP; p++) A[r][q][p] = sum[p];
        }
}

int main(void) {
    NEW_3D(double, A, NR, NQ, NP);
    NEW_2D(double, C4, NP, NP);
    NEW_1D(double, sum, NP);
    init(A, C4);
    MEASURE(kernel_doitgen(A, C4, sum));
    answer_doubles(&A[0][0][0], (size_t)NR * NQ * NP);
    return report();
}
