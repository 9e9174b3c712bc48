/* A line, and nothing else: what it takes to be there. */
#include <stdio.h>

int main(void) {
    puts("hello");
    return 0;
}
