/* listsort: merge sort of a linked list whose nodes lie anywhere: a load decides
 * the next address, and every step stores a pointer. */
#include "pointers.h"

enum { NODES = EXTENT(1000, 40000, 600000, 2500000, 10000000), LEVELS = 32 };

typedef struct node node;

struct node {
    node *next;
    uint32_t key;
    uint32_t place; /* in the list before it was sorted */
};

static node *init(node nodes[NODES]) {
    uint32_t *places = random_order(NODES);
    node *first = NULL;
    for (uint32_t i = NODES; i-- > 0;) {
        node *one = &nodes[places[i]];
        *one = (node){first, random_below(NODES), i};
        first = one;
    }
    free(places);
    return first;
}

/* Of equal keys, those of the first list come first. */
static node *merge(node *a, node *b) {
    node *first = NULL, **end = &first;
    while (a != NULL && b != NULL) {
        node **less = b->key < a->key ? &b : &a;
        *end = *less;
        end = &(*less)->next;
        *less = *end;
    }
    *end = a != NULL ? a : b;
    return first;
}

/* Bottom-up: level i holds a sorted list of 2^i nodes or nothing. */
KERNEL kernel_listsort(node **list) {
    node *levels[LEVELS] = {NULL};
    node *rest = *list;
    while (rest != NULL) {
        node *run = rest;
        rest = rest->next;
        run->next = NULL;
        int level = 0;
        for (; levels[level] != NULL; level++) {
            run = merge(levels[level], run);
            levels[level] = NULL;
        }
        levels[level] = run;
    }
    node *sorted = NULL;
    for (int level = 0; level < LEVELS; level++) sorted = merge(levels[level], sorted);
    *list = sorted;
}

int main(void) {
    NEW_1D(node, nodes, NODES);
    node *list = init(nodes);
    MEASURE(kernel_listsort(&list));
    uint32_t count = 0;
    for (const node *at = list; at != NULL; at = at->next) {
        const node *next = at->next;
        if (next != NULL && (next->key < at->key || (next->key == at->key && next->place < at->place)))
            fail("not in order");
        if (count++ % 8 == 0) mix((uint64_t)at->key << 32 | at->place);
    }
    if (count != NODES) fail("nodes are missing");
    return report();
}
