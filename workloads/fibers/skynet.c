/* skynet: a tree of fibers, ten below each, that add up what those below them yield; each
 * yields once (the talk's). As many are active at once as the tree has levels. */
#include "fibers.h"

enum { CHILDREN = 10, LEVEL_SHIFT = 24, NUMBER_MASK = (1 << LEVEL_SHIFT) - 1 };

static void *node(void *place);

static uint32_t below(uint32_t level, uint32_t number) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < CHILDREN; i++) {
        fiber_t child = spawn(node);
        sum += resume(child, (level - 1) << LEVEL_SHIFT | (number * CHILDREN + i));
        conclude(child, 0);
    }
    return sum;
}

static void *node(void *place) {
    uint32_t level = word(place) >> LEVEL_SHIFT, number = word(place) & NUMBER_MASK;
    yield(level == 0 ? number : below(level, number));
    return NULL;
}

KERNEL kernel_skynet(uint32_t levels, uint32_t *sum) { *sum = below(levels, 0); }

int main(int count, char **words) {
    uint32_t levels = argument(count, words, 1), sum = 0;
    MEASURE(kernel_skynet(levels, &sum));
    mix(sum);
    return finish();
}
