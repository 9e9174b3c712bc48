/* hello: two fibers print a line together, a letter each in turn, again and again (the
 * talk's; a print and a yield in a loop). */
#include "fibers.h"

/* Each has as many turns a line; the second one's last prints nothing. */
enum { TURNS = 7 };

static void *letters(void *first) {
    static const char text[] = "Hello, World\n";
    for (uint32_t at = word(first);; at = at < TURNS * 2 - 2 ? at + 2 : word(first)) {
        if (at < sizeof text - 1 && write(STDOUT_FILENO, &text[at], 1) != 1) fail("standard output is closed");
        if (yield(at) != 0) return NULL;
    }
}

KERNEL kernel_hello(uint32_t lines, uint32_t *sum) {
    fiber_t even = spawn(letters), odd = spawn(letters);
    *sum += resume(even, 0);
    *sum += resume(odd, 1);
    for (uint32_t turn = 1; turn < lines * TURNS; turn++) {
        *sum += resume(even, 0);
        *sum += resume(odd, 0);
    }
    conclude(even, 1);
    conclude(odd, 1);
}

int main(int count, char **words) {
    uint32_t lines = argument(count, words, 1), sum = 0;
    MEASURE(kernel_hello(lines, &sum));
    mix(sum);
    return finish();
}
