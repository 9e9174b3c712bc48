// One function for JavaScript that can call C: any of Linux's system calls, with the
// kernel's own result, -errno included. (The C library's `syscall` puts the error into
// a variable that the engine may change before JavaScript can read it.)

long fathom_syscall(long number, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#else
#error "the numbers of system calls in linux.mjs and wasi.mjs are x86-64's"
#endif
}
