/* trees [DEPTH]: builds, walks and frees binary trees.
 *
 * Many small allocations and recursive calls: the allocator, the call path and
 * the growth of memory, with pointers followed in random order. */
#include <stdio.h>
#include <stdlib.h>

struct node {
    struct node *left, *right;
};

static struct node *build(int depth) {
    struct node *node = malloc(sizeof *node);
    if (node == NULL) {
        fprintf(stderr, "trees: out of memory\n");
        exit(1);
    }
    node->left = depth > 0 ? build(depth - 1) : NULL;
    node->right = depth > 0 ? build(depth - 1) : NULL;
    return node;
}

static long count(const struct node *node) {
    return node == NULL ? 0 : 1 + count(node->left) + count(node->right);
}

static void drop(struct node *node) {
    if (node == NULL) return;
    drop(node->left);
    drop(node->right);
    free(node);
}

int main(int argc, char **argv) {
    int depth_max = argc > 1 ? atoi(argv[1]) : 14;
    if (depth_max < 4 || depth_max > 24) {
        fprintf(stderr, "usage: trees [DEPTH], 4 to 24\n");
        return 2;
    }
    struct node *longest = build(depth_max);
    for (int depth = 4; depth <= depth_max; depth += 2) {
        long trees = 1L << (depth_max - depth + 4), nodes = 0;
        for (long i = 0; i < trees; i++) {
            struct node *tree = build(depth);
            nodes += count(tree);
            drop(tree);
        }
        printf("%ld trees of depth %d: %ld nodes\n", trees, depth, nodes);
    }
    printf("long-lived tree of depth %d: %ld nodes\n", depth_max, count(longest));
    drop(longest);
    return 0;
}
