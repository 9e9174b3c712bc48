/* recursion as state machines, a machine for each call: whoever waits is told by whom it
 * called, and the innermost alone is resumed. */
#include "../fibers.h"

typedef struct call {
    machine_t machine;
    struct call *caller;
    uint32_t n, sum;
} call_t;

static machine_t *pool;
static call_t *innermost;  /* NULL: all have returned */

static uint32_t fib(machine_t *machine, uint32_t in);

static void call(call_t *caller, uint32_t n) {
    call_t *callee = new_machine(&pool, sizeof *callee, fib);
    callee->caller = caller;
    callee->n = n;
    innermost = callee;
}

/* Gives a result to the caller, which goes on with it. */
static uint32_t give(call_t *self, uint32_t result) {
    call_t *caller = self->caller;
    self->machine.at = AT_END;
    free_machine(&pool, &self->machine);
    innermost = caller;
    return caller == NULL ? result : caller->machine.step(&caller->machine, result);
}

static uint32_t fib(machine_t *machine, uint32_t in) {
    call_t *self = (call_t *)machine;
    switch (self->machine.at) {
    case AT_START:
        if (self->n < 2) {
            self->machine.at = 3;
            return self->n;
        }
        self->machine.at = 1;
        call(self, self->n - 1);
        return fib(&innermost->machine, 0);
    case 1:
        self->sum = in;
        self->machine.at = 2;
        call(self, self->n - 2);
        return fib(&innermost->machine, 0);
    case 2: return give(self, self->sum + in);
    case 3: return give(self, in);
    default: fail("resumed at its end");
    }
}

KERNEL kernel_recursion(uint32_t n, uint32_t *result) {
    call(NULL, n);
    for (uint32_t in = n; *result = resume(&innermost->machine, in), innermost != NULL; in = *result) {}
}

int main(int count, char **words) {
    uint32_t result = 0;
    MEASURE(kernel_recursion(argument(count, words, 1), &result));
    mix(result);
    return finish();
}
