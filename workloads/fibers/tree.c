/* tree: a search tree walked in order by a recursive function that yields each key, so that
 * the stack is as deep as the tree is where it yields. */
#include "tree.h"

static const node_t *root;

static void visit(const node_t *node) {
    if (node == NULL) return;
    visit(node->left);
    yield(node->key);
    visit(node->right);
}

static void *walk(void *unused) {
    visit(root);
    return unused;
}

KERNEL kernel_tree(uint32_t *sum) {
    fiber_t fiber = spawn(walk);
    for (uint32_t key; advance(fiber, 0, &key);) *sum = *sum * 31 + key;
    fiber_free(fiber);
}

int main(int count, char **words) {
    uint32_t sum = 0;
    root = plant(argument(count, words, 1));
    MEASURE(kernel_tree(&sum));
    mix(sum);
    return finish();
}
