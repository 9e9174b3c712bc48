/* A search tree of random keys, for the walks. */
#ifndef FATHOM_TREE_H
#define FATHOM_TREE_H

#include "fibers.h"

typedef struct node {
    struct node *left, *right;
    uint32_t key;
} node_t;

/* A tree of so many keys, in which every key is chance's. */
static inline node_t *plant(uint32_t count) {
    NEW_1D(node_t, nodes, count);
    uint32_t state = 0x9e3779b9u;
    nodes[0] = (node_t){NULL, NULL, chance(&state)};
    for (uint32_t i = 1; i < count; i++) {
        node_t **place = &(node_t *){nodes};
        nodes[i] = (node_t){NULL, NULL, chance(&state)};
        while (*place != NULL) place = nodes[i].key < (*place)->key ? &(*place)->left : &(*place)->right;
        *place = &nodes[i];
    }
    return nodes;
}

#endif
