/* c10m-io: c10m with an I/O call in its loop. */
#include "c10m.h"

static void *worker(void *connection) {
    say(word(connection));
    return value(word(connection) + yield(1));
}

KERNEL kernel_io(uint32_t total, fiber_t *window, uint32_t *sum) {
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
    MEASURE(kernel_io(total, window, &sum));
    print("\n");
    mix(sum);
    return finish();
}
