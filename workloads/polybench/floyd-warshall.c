/* floyd-warshall: all-pairs shortest paths of a dense graph, in integers. */
#include "harness.h"

enum { N = EXTENT(60, 180, 500, 2800, 5600) };

static void init(int path[N][N]) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            path[i][j] = i * j % 7 + 1;
            if ((i + j) % 13 == 0 || (i + j) % 7 == 0 || (i + j) % 11 == 0) path[i][j] = 999;
        }
}

KERNEL kernel_floyd_warshall(int path[N][N]) {
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j]
                                                                  : path[i][k] + path[k][j];
}

int main(void) {
    NEW_2D(int, path, N, N);
    init(path);
    MEASURE(kernel_floyd_warshall(path));
    answer_ints(&path[0][0], (size_t)N * N);
    return report();
}
