/* nussinov: folding of an RNA sequence by dynamic programming, in integers. */
#include "harness.h"

enum { N = EXTENT(60, 180, 500, 2500, 5500) };

/* A nucleotide, 0 to 3; a and b pair when they add up to 3. */
typedef char base;

static int pairs(base a, base b) { return a + b == 3 ? 1 : 0; }
static int larger(int a, int b) { return a >= b ? a : b; }

static void init(base sequence[N], int table[N][N]) {
    for (int i = 0; i < N; i++) sequence[i] = (base)((i + 1) % 4);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) table[i][j] = 0;
}

KERNEL kernel_nussinov(base sequence[N], int table[N][N]) {
    for (int i = N - 1; i >= 0; i--)
        for (int j = i + 1; j < N; j++) {
            if (j - 1 >= 0) table[i][j] = larger(table[i][j], table[i][j - 1]);
            if (i + 1 < N) table[i][j] = larger(table[i][j], table[i + 1][j]);
            if (j - 1 >= 0 && i + 1 < N) {
                /* Neighbours do not bond. */
                int bond = i < j - 1 ? pairs(sequence[i], sequence[j]) : 0;
                table[i][j] = larger(table[i][j], table[i + 1][j - 1] + bond);
            }
            for (int k = i + 1; k < j; k++)
                table[i][j] = larger(table[i][j], table[i][k] + table[k + 1][j]);
        }
}

int main(void) {
    NEW_1D(base, sequence, N);
    NEW_2D(int, table, N, N);
    init(sequence, table);
    MEASURE(kernel_nussinov(sequence, table));
    answer_ints(&table[0][0], (size_t)N * N);
    return report();
}
