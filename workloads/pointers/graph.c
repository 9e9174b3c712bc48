/* graph: breadth-first search over adjacency lists that are larger than the cache. */
#include "pointers.h"

enum { NODES = EXTENT(300, 20000, 600000, 2000000, 6000000), EDGES_EACH = 8 };

typedef struct node node;
typedef struct edge edge;

struct edge {
    edge *next;
    node *to;
};

struct node {
    edge *edges;
    node *after; /* in the queue */
    uint32_t distance;
    uint32_t label;
};

#define UNSEEN UINT32_MAX

/* Edges lie in memory in an order that has nothing to do with their nodes. */
static void init(node nodes[NODES], edge edges[NODES * EDGES_EACH]) {
    uint32_t *places = random_order(NODES * EDGES_EACH);
    for (uint32_t i = 0; i < NODES; i++)
        nodes[i] = (node){NULL, NULL, UNSEEN, (uint32_t)next_random()};
    for (uint32_t i = 0; i < NODES; i++)
        for (uint32_t k = 0; k < EDGES_EACH; k++) {
            edge *one = &edges[places[i * EDGES_EACH + k]];
            /* Half of the edges stay near, so that there are many distances. */
            uint32_t near = (i + 1 + random_below(64)) % NODES;
            *one = (edge){nodes[i].edges, &nodes[k % 2 ? near : random_below(NODES)]};
            nodes[i].edges = one;
        }
    free(places);
}

KERNEL kernel_graph(node *source, uint32_t *reached) {
    node *last = source;
    uint32_t count = 1;
    source->distance = 0;
    for (node *at = source; at != NULL; at = at->after)
        for (edge *one = at->edges; one != NULL; one = one->next) {
            node *to = one->to;
            if (to->distance != UNSEEN) continue;
            to->distance = at->distance + 1;
            last->after = to;
            last = to;
            count++;
        }
    *reached = count;
}

int main(void) {
    NEW_1D(node, nodes, NODES);
    NEW_1D(edge, edges, NODES * EDGES_EACH);
    uint32_t reached = 0;
    init(nodes, edges);
    MEASURE(kernel_graph(&nodes[NODES / 2], &reached));
    uint64_t sum = 0;
    for (uint32_t i = 0; i < NODES; i++) {
        if (nodes[i].distance == UNSEEN) continue;
        for (edge *one = nodes[i].edges; one != NULL; one = one->next)
            if (one->to->distance > nodes[i].distance + 1) fail("not the shortest way");
        sum += (uint64_t)nodes[i].label * nodes[i].distance;
    }
    mix(reached);
    mix(sum);
    return report();
}
