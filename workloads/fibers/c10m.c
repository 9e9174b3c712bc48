/* c10m: ten million connections, in a window of 10,000, as the talk has them: each is
 * begun, gone on with and ended before the next. */
#include "c10m.h"

static void *worker(void *connection) { return value(word(connection) + yield(1)); }

KERNEL kernel_c10m(uint32_t total, fiber_t *window, uint32_t *sum) {
    for (uint32_t i = 0; i < WINDOW; i++) window[i] = spawn(worker);
    for (uint32_t i = 0; i < total; i++) {
        uint32_t place = i % WINDOW;
        *sum += resume(window[place], i);
        *sum += conclude(window[place], 2);
        window[place] = spawn(worker);
    }
    for (uint32_t i = 0; i < WINDOW; i++) {
        *sum += resume(window[i], i);
        *sum += conclude(window[i], 3);
    }
}

int main(int count, char **words) {
    uint32_t total = argument(count, words, 1), sum = 0;
    NEW_1D(fiber_t, window, WINDOW);
    MEASURE(kernel_c10m(total, window, &sum));
    mix(sum);
    return finish();
}
