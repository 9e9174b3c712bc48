/* interpreter [ROUNDS]: a stack machine that counts primes, twice.
 *
 * The same byte code runs through a switch (a branch table) and through a
 * table of functions (indirect calls with a type check each): control flow
 * that the array kernels of PolyBench never have. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum op { PUSH, LOAD, STORE, ADD, REMAINDER, LESS, JUMP, JUMP_IF_ZERO, HALT, OPS };

struct machine {
    const int32_t *code;
    int32_t at, stack[16], variables[4];
    int depth, running;
};

enum { CANDIDATE, DIVISOR, COUNT, LIMIT };

/* count = 0; for (c = 2; c < limit; c++) { for (d = 2; d < c; d++) if (c % d == 0) goto next;
 * count++; next: } */
static const int32_t PRIMES[] = {
    PUSH, 0, STORE, COUNT, PUSH, 2, STORE, CANDIDATE,
    /* 8: while candidate < limit */
    LOAD, CANDIDATE, LOAD, LIMIT, LESS, JUMP_IF_ZERO, 59,
    /* 15 */ PUSH, 2, STORE, DIVISOR,
    /* 19: while divisor < candidate */
    LOAD, DIVISOR, LOAD, CANDIDATE, LESS, JUMP_IF_ZERO, 43,
    /* 26 */ LOAD, CANDIDATE, LOAD, DIVISOR, REMAINDER, JUMP_IF_ZERO, 50,
    /* 33 */ LOAD, DIVISOR, PUSH, 1, ADD, STORE, DIVISOR, JUMP, 19,
    /* 42: not reached */ HALT,
    /* 43 */ LOAD, COUNT, PUSH, 1, ADD, STORE, COUNT,
    /* 50 */ LOAD, CANDIDATE, PUSH, 1, ADD, STORE, CANDIDATE, JUMP, 8,
    /* 59 */ HALT,
};

static int32_t next(struct machine *m) { return m->code[m->at++]; }
static void push(struct machine *m, int32_t value) { m->stack[m->depth++] = value; }
static int32_t pop(struct machine *m) { return m->stack[--m->depth]; }

static void do_push(struct machine *m) { push(m, next(m)); }
static void do_load(struct machine *m) { push(m, m->variables[next(m)]); }
static void do_store(struct machine *m) { m->variables[next(m)] = pop(m); }
static void do_halt(struct machine *m) { m->running = 0; }
static void do_jump(struct machine *m) { m->at = next(m); }

static void do_add(struct machine *m) {
    int32_t right = pop(m);
    push(m, pop(m) + right);
}

static void do_remainder(struct machine *m) {
    int32_t right = pop(m);
    push(m, pop(m) % right);
}

static void do_less(struct machine *m) {
    int32_t right = pop(m);
    push(m, pop(m) < right);
}

static void do_jump_if_zero(struct machine *m) {
    int32_t target = next(m);
    if (pop(m) == 0) m->at = target;
}

static void (*const HANDLERS[OPS])(struct machine *) = {
    do_push, do_load, do_store, do_add, do_remainder, do_less, do_jump, do_jump_if_zero, do_halt,
};

static void run_by_table(struct machine *m) {
    while (m->running) HANDLERS[next(m)](m);
}

static void run_by_switch(struct machine *m) {
    while (m->running) {
        switch ((enum op)next(m)) {
            case PUSH: do_push(m); break;
            case LOAD: do_load(m); break;
            case STORE: do_store(m); break;
            case ADD: do_add(m); break;
            case REMAINDER: do_remainder(m); break;
            case LESS: do_less(m); break;
            case JUMP: do_jump(m); break;
            case JUMP_IF_ZERO: do_jump_if_zero(m); break;
            case HALT: do_halt(m); break;
            case OPS: abort();
        }
    }
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 4;
    if (rounds < 1 || rounds > 10000) {
        fprintf(stderr, "usage: interpreter [ROUNDS], 1 to 10000\n");
        return 2;
    }
    for (int round = 0; round < rounds; round++) {
        struct machine first = {.code = PRIMES, .running = 1, .variables = {[LIMIT] = 3000 + round}};
        struct machine second = first;
        run_by_table(&first);
        run_by_switch(&second);
        if (first.variables[COUNT] != second.variables[COUNT]) {
            fprintf(stderr, "interpreter: the two ways disagree\n");
            return 1;
        }
        printf("%d primes below %d\n", first.variables[COUNT], 3000 + round);
    }
    return 0;
}
