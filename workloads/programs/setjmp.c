/* What the compiler's setjmp and longjmp call at run time (-mllvm -wasm-enable-sjlj).
 *
 * A longjmp throws the tag `__c_longjmp` with the address of a pair: which buffer,
 * which value. The compiler wraps every function that calls setjmp in a handler;
 * it asks __wasm_setjmp_test whether the buffer was set by this call of this
 * function, and at which of its setjmps, and throws on if it was not. */
#include <stdint.h>

/* What LLVM calls the tag of longjmp among those of __builtin_wasm_throw. */
enum { C_LONGJMP = 1 };

/* Lies in a jmp_buf; the compiler reads `thrown` through the address that is thrown. */
struct buffer {
    void *invocation; /* an address in the frame of the call that set it */
    uint32_t label;   /* which setjmp of that function, from 1 */
    struct {
        void *buffer;
        int value;
    } thrown;
};

void __wasm_setjmp(void *at, uint32_t label, void *invocation) {
    struct buffer *buffer = at;
    if (label == 0 || invocation == 0) __builtin_trap();
    buffer->invocation = invocation;
    buffer->label = label;
}

uint32_t __wasm_setjmp_test(void *at, void *invocation) {
    struct buffer *buffer = at;
    if (buffer->label == 0 || invocation == 0) __builtin_trap();
    return buffer->invocation == invocation ? buffer->label : 0;
}

_Noreturn void __wasm_longjmp(void *at, int value) {
    struct buffer *buffer = at;
    buffer->thrown.buffer = at;
    buffer->thrown.value = value == 0 ? 1 : value;
    __builtin_wasm_throw(C_LONGJMP, &buffer->thrown);
}
