/* A million numbers sorted: nothing is asked of the host but a line in the end. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1000000 };
static uint32_t numbers[COUNT];

static int by_size(const void *a, const void *b) {
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return (one > other) - (one < other);
}

int main(void) {
    uint32_t state = 1, hash = 0;
    for (int i = 0; i < COUNT; i++) numbers[i] = state = state * 1664525u + 1013904223u;
    qsort(numbers, COUNT, sizeof *numbers, by_size);
    for (int i = 0; i < COUNT; i++) hash = hash * 31 + numbers[i];
    printf("sort: %08x\n", (unsigned)hash);
    return 0;
}
