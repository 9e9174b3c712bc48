/* tree as a state machine: the way back is a list of its own. */
#include "../tree.h"

enum { DEPTH_MAX = 128 };

typedef struct {
    machine_t machine;
    const node_t *open[DEPTH_MAX];  /* whose left side has been visited, or is */
    uint32_t depth;
} walk_t;

static const node_t *root;

static uint32_t walk(machine_t *machine, uint32_t unused) {
    walk_t *self = (walk_t *)machine;
    const node_t *node;
    (void)unused;
    switch (self->machine.at) {
    case AT_START: self->depth = 0; node = root; self->machine.at = 1; break;
    case 1: node = self->open[--self->depth]->right; break;
    default: fail("resumed at its end");
    }
    for (; node != NULL; node = node->left) {
        if (self->depth == DEPTH_MAX) fail("the tree is too deep");
        self->open[self->depth++] = node;
    }
    if (self->depth > 0) return self->open[self->depth - 1]->key;
    self->machine.at = AT_END;
    return 0;
}

KERNEL kernel_tree(uint32_t *sum) {
    machine_t *pool = NULL, *machine = new_machine(&pool, sizeof(walk_t), walk);
    for (uint32_t key; key = resume(machine, 0), machine->at != AT_END;) *sum = *sum * 31 + key;
    free_machine(&pool, machine);
}

int main(int count, char **words) {
    uint32_t sum = 0;
    root = plant(argument(count, words, 1));
    MEASURE(kernel_tree(&sum));
    mix(sum);
    return finish();
}
