/* A trap in a function that two others call, the innermost of which is inlined. */
static inline __attribute__((always_inline)) int divide(int a, int b) {
    return a / b;
}

__attribute__((noinline)) int middle(int a, int b) {
    return divide(a + 1, b) + 1;
}

__attribute__((noinline)) int outer(int a, int b) {
    return middle(a, b) + 2;
}

__attribute__((export_name("run"))) int run(int a) {
    return outer(a, 0) + 3;
}
