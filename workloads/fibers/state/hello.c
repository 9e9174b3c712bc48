/* hello as state machines. */
#include "../fibers.h"

/* Each has as many turns a line; the second one's last prints nothing. */
enum { TURNS = 7 };

typedef struct {
    machine_t machine;
    uint32_t first, place;
} letters_t;

static uint32_t letters(machine_t *machine, uint32_t in) {
    static const char text[] = "Hello, World\n";
    letters_t *self = (letters_t *)machine;
    switch (self->machine.at) {
    case AT_START: self->first = self->place = in; self->machine.at = 1; break;
    case 1:
        if (in != 0) {
            self->machine.at = AT_END;
            return 0;
        }
        self->place = self->place < TURNS * 2 - 2 ? self->place + 2 : self->first;
        break;
    default: fail("resumed at its end");
    }
    if (self->place < sizeof text - 1 && write(STDOUT_FILENO, &text[self->place], 1) != 1) fail("standard output is closed");
    return self->place;
}

KERNEL kernel_hello(uint32_t lines, uint32_t *sum) {
    machine_t *pool = NULL;
    machine_t *even = new_machine(&pool, sizeof(letters_t), letters);
    machine_t *odd = new_machine(&pool, sizeof(letters_t), letters);
    *sum += resume(even, 0);
    *sum += resume(odd, 1);
    for (uint32_t turn = 1; turn < lines * TURNS; turn++) {
        *sum += resume(even, 0);
        *sum += resume(odd, 0);
    }
    resume(even, 1);
    resume(odd, 1);
    free_machine(&pool, even);
    free_machine(&pool, odd);
}

int main(int count, char **words) {
    uint32_t lines = argument(count, words, 1), sum = 0;
    MEASURE(kernel_hello(lines, &sum));
    mix(sum);
    return finish();
}
