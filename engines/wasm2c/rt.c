// See rt.h. A fault on the stack's guard page is told from one in a memory by where
// it is: wasm2c's own handler goes by the kind of mapping, which for a thread's
// stack is the same.

#define _GNU_SOURCE
#include "rt.h"

#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>

#include "wasm-rt-impl.h"

#define NEAR_STACK (1u << 20)

#if WASM_RT_INSTALL_SIGNAL_HANDLER
static void on_fault(int number, siginfo_t *info, void *context) {
    (void)number;
    const ucontext_t *machine = context;
    uintptr_t stack = (uintptr_t)machine->uc_mcontext.gregs[REG_RSP], at = (uintptr_t)info->si_addr;
    bool on_stack = at + NEAR_STACK > stack && at < stack + NEAR_STACK;
    wasm_rt_trap(on_stack ? WASM_RT_TRAP_EXHAUSTION : WASM_RT_TRAP_OOB);
}
#endif

static void begin(void) {
    wasm_rt_init();
#if WASM_RT_INSTALL_SIGNAL_HANDLER
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, NULL);
#endif
}

static int attempt(void (*call)(void *), void *argument) {
#if WASM_RT_STACK_DEPTH_COUNT
    wasm_rt_call_stack_depth = 0;
#endif
    int trap = wasm_rt_impl_try();
    if (trap == 0) call(argument);
    return trap;
}

static void leave(void) {
    WASM_RT_LONGJMP(g_wasm_rt_jmp_buf, RT_EXITED);
}

static const char *message(int trap) {
    switch (trap) {
    case WASM_RT_TRAP_OOB: return "out of bounds memory access";
    case WASM_RT_TRAP_INT_OVERFLOW: return "integer overflow";
    case WASM_RT_TRAP_DIV_BY_ZERO: return "integer divide by zero";
    case WASM_RT_TRAP_INVALID_CONVERSION: return "invalid conversion to integer";
    case WASM_RT_TRAP_UNREACHABLE: return "unreachable";
    case WASM_RT_TRAP_CALL_INDIRECT: return "indirect call type mismatch";
    case WASM_RT_TRAP_UNCAUGHT_EXCEPTION: return "unhandled exception";
    case WASM_RT_TRAP_UNALIGNED: return "unaligned atomic";
    case WASM_RT_TRAP_EXHAUSTION: return "call stack exhausted";
    default: return wasm_rt_strerror((wasm_rt_trap_t)trap);
    }
}

static uint8_t *data(void *memory) {
    return ((wasm_rt_memory_t *)memory)->data;
}

static uint64_t size(void *memory) {
    return ((wasm_rt_memory_t *)memory)->size;
}

static void *new_memory(uint64_t pages, uint64_t pages_max, bool wide) {
    wasm_rt_memory_t *memory = calloc(1, sizeof *memory);
    if (memory != NULL) wasm_rt_allocate_memory(memory, pages, pages_max, wide);
    return memory;
}

const struct runtime fathom_runtime = {
    .begin = begin, .begin_thread = wasm_rt_init_thread, .attempt = attempt, .leave = leave, .message = message,
    .data = data, .size = size, .new_memory = new_memory,
};
