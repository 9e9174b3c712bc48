/* gemm: C := alpha A B + beta C, the matrix product of BLAS. */
#include "harness.h"

enum {
    NI = EXTENT(20, 60, 200, 1000, 2000),
    NJ = EXTENT(25, 70, 220, 1100, 2300),
    NK = EXTENT(30, 80, 240, 1200, 2600),
};

static void init(double C[NI][NJ], double A[NI][NK], double B[NK][NJ]) {
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NJ; j++) C[i][j] = (double)((i * j + 1) % NI) / NI;
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NK; j++) A[i][j] = (double)(i * (j + 1) % NK) / NK;
    for (int i = 0; i < NK; i++)
        for (int j = 0; j < NJ; j++) B[i][j] = (double)(i * (j + 2) % NJ) / NJ;
}

KERNEL kernel_gemm(double alpha, double beta, double C[NI][NJ], double A[NI][NK],
                   double B[NK][NJ]) {
    for (int i = 0; i < NI; i++) {
        for (int j = 0; j < NJ; j++) C[i][j] *= beta;
        for (int k = 0; k < NK; k++)
            for (int j = 0; j < NJ; j++) C[i][j] += alpha * A[i][k] * B[k][j];
    }
}

int main(void) {
    NEW_2D(double, C, NI, NJ);
    NEW_2D(double, A, NI, NK);
    NEW_2D(double, B, NK, NJ);
    init(C, A, B);
    MEASURE(kernel_gemm(1.5, 1.2, C, A, B));
    answer_doubles(&C[0][0], (size_t)NI * NJ);
    return report();
}
