/* 3mm: G := (A B)(C D), three matrix products. */
#include "harness.h"

enum {
    NI = EXTENT(16, 40, 180, 800, 1600),
    NJ = EXTENT(18, 50, 190, 900, 1800),
    NK = EXTENT(20, 60, 200, 1000, 2000),
    NL = EXTENT(22, 70, 210, 1100, 2200),
    NM = EXTENT(24, 80, 220, 1200, 2400),
};

static void init(double A[NI][NK], double B[NK][NJ], double C[NJ][NM], double D[NM][NL]) {
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NK; j++) A[i][j] = (double)((i * j + 1) % NI) / (5 * NI);
    for (int i = 0; i < NK; i++)
        for (int j = 0; j < NJ; j++) B[i][j] = (double)((i * (j + 1) + 2) % NJ) / (5 * NJ);
    for (int i = 0; i < NJ; i++)
        for (int j = 0; j < NM; j++) C[i][j] = (double)(i * (j + 3) % NL) / (5 * NL);
    for (int i = 0; i < NM; i++)
        for (int j = 0; j < NL; j++) D[i][j] = (double)((i * (j + 2) + 2) % NK) / (5 * NK);
}

KERNEL kernel_3mm(double E[NI][NJ], double A[NI][NK], double B[NK][NJ], double F[NJ][NL],
                  double C[NJ][NM], double D[NM][NL], double G[NI][NL]) {
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NJ; j++) {
            E[i][j] = 0.0;
            for (int k = 0; k < NK; k++) E[i][j] += A[i][k] * B[k][j];
        }
    for (int i = 0; i < NJ; i++)
        for (int j = 0; j < NL; j++) {
            F[i][j] = 0.0;
            for (int k = 0; k < NM; k++) F[i][j] += C[i][k] * D[k][j];
        }
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NL; j++) {
            G[i][j] = 0.0;
            for (int k = 0; k < NJ; k++) G[i][j] += E[i][k] * F[k][j];
        }
}

int main(void) {
    NEW_2D(double, E, NI, NJ);
    NEW_2D(double, A, NI, NK);
    NEW_2D(double, B, NK, NJ);
    NEW_2D(double, F, NJ, NL);
    NEW_2D(double, C, NJ, NM);
    NEW_2D(double, D, NM, NL);
    NEW_2D(double, G, NI, NL);
    init(A, B, C, D);
    MEASURE(kernel_3mm(E, A, B, F, C, D, G));
    answer_doubles(&G[0][0], (size_t)NI * NL);
    return report();
}
