/* 2mm: D := alpha A B C + beta D, two matrix products in a row. */
#include "harness.h"

enum {
    NI = EXTENT(16, 40, 180, 800, 1600),
    NJ = EXTENT(18, 50, 190, 900, 1800),
    NK = EXTENT(22, 70, 210, 1100, 2200),
    NL = EXTENT(24, 80, 220, 1200, 2400),
};

static void init(double A[NI][NK], double B[NK][NJ], double C[NJ][NL], double D[NI][NL]) {
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NK; j++) A[i][j] = (double)((i * j + 1) % NI) / NI;
    for (int i = 0; i < NK; i++)
        for (int j = 0; j < NJ; j++) B[i][j] = (double)(i * (j + 1) % NJ) / NJ;
    for (int i = 0; i < NJ; i++)
        for (int j = 0; j < NL; j++) C[i][j] = (double)((i * (j + 3) + 1) % NL) / NL;
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NL; j++) D[i][j] = (double)(i * (j + 2) % NK) / NK;
}

KERNEL kernel_2mm(double alpha, double beta, double tmp[NI][NJ], double A[NI][NK],
                  double B[NK][NJ], double C[NJ][NL], double D[NI][NL]) {
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NJ; j++) {
            tmp[i][j] = 0.0;
            for (int k = 0; k < NK; k++) tmp[i][j] += alpha * A[i][k] * B[k][j];
        }
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NL; j++) {
            D[i][j] *= beta;
            for (int k = 0; k < NJ; k++) D[i][j] += tmp[i][k] * C[k][j];
        }
}

int main(void) {
    NEW_2D(double, tmp, NI, NJ);
    NEW_2D(double, A, NI, NK);
    NEW_2D(double, B, NK, NJ);
    NEW_2D(double, C, NJ, NL);
    NEW_2D(double, D, NI, NL);
    init(A, B, C, D);
    MEASURE(kernel_2mm(1.5, 1.2, tmp, A, B, C, D));
    answer_doubles(&D[0][0], (size_t)NI * NL);
    return report();
}
