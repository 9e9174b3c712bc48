/* c10m-live: the same, but that the 10,000 are really suspended: each is begun a whole
 * window before it is gone on with. */
#include "c10m.h"

static void *worker(void *connection) { return value(word(connection) + yield(1)); }

KERNEL kernel_live(uint32_t total, fiber_t *window, uint32_t *sum) {
    for (uint32_t i = 0; i < WINDOW; i++) {
        window[i] = spawn(worker);
        *sum += resume(window[i], i);
    }
    for (uint32_t i = 0; i < total; i++) {
        uint32_t place = i % WINDOW;
        *sum += conclude(window[place], 2);
        window[place] = spawn(worker);
        *sum += resume(window[place], i);
    }
    for (uint32_t i = 0; i < WINDOW; i++) *sum += conclude(window[i], 3);
}

int main(int count, char **words) {
    uint32_t total = argument(count, words, 1), sum = 0;
    NEW_1D(fiber_t, window, WINDOW);
    MEASURE(kernel_live(total, window, &sum));
    mix(sum);
    return finish();
}
