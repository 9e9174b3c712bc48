/* A loop whose time is in one line. */
__attribute__((noinline)) unsigned work(unsigned n) {
    unsigned sum = 1;
    for (unsigned i = 0; i < n; i++)
        sum = sum * 1664525u + i / (sum | 1);
    return sum;
}

__attribute__((export_name("_start"))) void start(void) {
    static volatile unsigned result;
    result = work(150000000);
}
