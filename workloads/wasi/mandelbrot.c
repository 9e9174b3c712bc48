/* mandelbrot [WIDTH [HEIGHT [LIMIT]]]: escape times over [-2, 1] x [-1.5, 1.5].
 *
 * Floating point in registers with a data-dependent loop exit; no memory
 * traffic, so no bounds check should cost anything here. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static long argument(int argc, char **argv, int index, long otherwise) {
    if (argc <= index) return otherwise;
    char *end;
    long value = strtol(argv[index], &end, 10);
    if (*end != '\0' || value < 1 || value > 1000000) {
        fprintf(stderr, "usage: mandelbrot [WIDTH [HEIGHT [LIMIT]]], each 1 to 1000000\n");
        exit(2);
    }
    return value;
}

static long escape_time(double x, double y, long limit) {
    double re = 0, im = 0;
    for (long step = 0; step < limit; step++) {
        double re2 = re * re, im2 = im * im;
        if (re2 + im2 > 4) return step;
        im = 2 * re * im + y;
        re = re2 - im2 + x;
    }
    return limit;
}

int main(int argc, char **argv) {
    long width = argument(argc, argv, 1, 800), height = argument(argc, argv, 2, 600);
    long limit = argument(argc, argv, 3, 200), inside = 0;
    uint64_t hash = 0xcbf29ce484222325u, steps = 0; /* FNV-1a over the escape times */
    for (long row = 0; row < height; row++)
        for (long column = 0; column < width; column++) {
            double x = -2.0 + 3.0 * (double)column / (double)width;
            double y = -1.5 + 3.0 * (double)row / (double)height;
            long time = escape_time(x, y, limit);
            inside += time == limit;
            steps += (uint64_t)time;
            hash = (hash ^ (uint64_t)time) * 0x100000001b3u;
        }
    printf("%ldx%ld limit %ld: %ld inside, %llu steps, hash %016llx\n", width, height, limit, inside,
           (unsigned long long)steps, (unsigned long long)hash);
    return 0;
}
