/* btree: a B+ tree is filled in random order, asked, and read through in order. */
#include "pointers.h"

enum {
    KEYS = EXTENT(500, 20000, 500000, 2000000, 8000000),
    LOOKUPS = 2 * KEYS,
    WIDTH = 32, /* keys of a node at most */
    NODES = KEYS / (WIDTH / 2) * 2 + 16,
};

typedef struct node node;

/* An inner node's child i holds the keys below key i, its last child the rest. */
struct node {
    uint32_t count;
    uint32_t is_leaf;
    uint32_t keys[WIDTH];
    node *next; /* the leaf behind a leaf */
    union {
        node *children[WIDTH + 1];
        uint32_t values[WIDTH];
    };
};

typedef struct {
    node *root;
    node *unused; /* the first node that was never taken */
} tree;

/* What splitting a node gives its parent; `right` is NULL where it was not split. */
typedef struct {
    node *right;
    uint32_t key;
} split;

static node *take(tree *of, uint32_t is_leaf) {
    node *taken = of->unused++;
    taken->is_leaf = is_leaf;
    return taken;
}

/* How many keys are not above `key`. */
static uint32_t place_of(const node *at, uint32_t key) {
    uint32_t low = 0, high = at->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (at->keys[middle] <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Moves the upper half of a full node to a new one behind it. */
static split halve(tree *of, node *full) {
    node *right = take(of, full->is_leaf);
    uint32_t half = WIDTH / 2;
    split made = {right, full->keys[half]};
    if (full->is_leaf) {
        right->count = WIDTH - half;
        for (uint32_t i = 0; i < right->count; i++) {
            right->keys[i] = full->keys[half + i];
            right->values[i] = full->values[half + i];
        }
        right->next = full->next;
        full->next = right;
    } else {
        right->count = WIDTH - half - 1;
        for (uint32_t i = 0; i < right->count; i++) right->keys[i] = full->keys[half + 1 + i];
        for (uint32_t i = 0; i <= right->count; i++) right->children[i] = full->children[half + 1 + i];
    }
    full->count = half;
    return made;
}

static void insert_leaf(node *leaf, uint32_t key, uint32_t value) {
    uint32_t at = place_of(leaf, key);
    for (uint32_t i = leaf->count++; i > at; i--) {
        leaf->keys[i] = leaf->keys[i - 1];
        leaf->values[i] = leaf->values[i - 1];
    }
    leaf->keys[at] = key;
    leaf->values[at] = value;
}

static void insert_child(node *parent, uint32_t at, split made) {
    for (uint32_t i = parent->count++; i > at; i--) {
        parent->keys[i] = parent->keys[i - 1];
        parent->children[i + 1] = parent->children[i];
    }
    parent->keys[at] = made.key;
    parent->children[at + 1] = made.right;
}

/* Inserts below `at`, and splits it once it is full, so that there is always room. */
static split insert(tree *of, node *at, uint32_t key, uint32_t value) {
    if (at->is_leaf) {
        insert_leaf(at, key, value);
    } else {
        uint32_t place = place_of(at, key);
        split made = insert(of, at->children[place], key, value);
        if (made.right != NULL) insert_child(at, place, made);
    }
    return at->count == WIDTH ? halve(of, at) : (split){NULL, 0};
}

static void add(tree *of, uint32_t key, uint32_t value) {
    split made = insert(of, of->root, key, value);
    if (made.right == NULL) return;
    node *root = take(of, 0);
    root->count = 1;
    root->keys[0] = made.key;
    root->children[0] = of->root;
    root->children[1] = made.right;
    of->root = root;
}

static uint64_t look_up(const tree *in, uint32_t key) {
    const node *at = in->root;
    while (!at->is_leaf) at = at->children[place_of(at, key)];
    uint32_t place = place_of(at, key);
    return place > 0 && at->keys[place - 1] == key ? at->values[place - 1] : UINT64_MAX;
}

KERNEL kernel_btree(tree *of, const uint32_t keys[KEYS], const uint32_t asked[LOOKUPS], uint64_t results[3]) {
    of->root = take(of, 1);
    for (uint32_t i = 0; i < KEYS; i++) add(of, 2 * keys[i], i);
    for (uint32_t i = 0; i < LOOKUPS; i++) {
        uint64_t value = look_up(of, asked[i]);
        if (value == UINT64_MAX) continue;
        results[0]++;
        results[1] += value * i;
    }
    const node *leaf = of->root;
    while (!leaf->is_leaf) leaf = leaf->children[0];
    for (uint32_t place = 0; leaf != NULL; leaf = leaf->next)
        for (uint32_t i = 0; i < leaf->count; i++) results[2] += (uint64_t)leaf->values[i] * ++place;
}

static void check(const tree *of) {
    const node *leaf = of->root;
    uint32_t seen = 0;
    while (!leaf->is_leaf) leaf = leaf->children[0];
    for (; leaf != NULL; leaf = leaf->next)
        for (uint32_t i = 0; i < leaf->count; i++)
            if (leaf->keys[i] != 2 * seen++) fail("not in order");
    if (seen != KEYS) fail("keys are missing");
}

int main(void) {
    NEW_1D(node, nodes, NODES);
    uint32_t *keys = random_order(KEYS);
    NEW_1D(uint32_t, asked, LOOKUPS);
    uint64_t results[3] = {0, 0, 0}, expected = 0;
    tree one = {NULL, nodes};
    for (uint32_t i = 0; i < LOOKUPS; i++) {
        asked[i] = random_below(2 * KEYS);
        expected += asked[i] % 2 == 0;
    }
    MEASURE(kernel_btree(&one, keys, asked, results));
    check(&one);
    if (results[0] != expected) fail("keys are not found");
    for (int i = 0; i < 3; i++) mix(results[i]);
    return report();
}
