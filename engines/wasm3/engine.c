// Runs WebAssembly on wasm3. It has no module apart from an instance, so each
// iteration parses and translates again; one environment for each keeps threads
// apart.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence.h"
#include "module.h"
#include "preview1.h"

// After ours: it has a macro for every short word.
#include "m3_env.h"
#include "wasm3.h"

// Of the interpreter's own stack, where a frame is some words; the C stack of a
// thread, which its calls use too, is 8 MiB.
#define STACK_BYTES (256u << 10)

static const uint8_t *bytes_of_module;
static size_t size_of_module;

struct running {
    IM3Environment environment;
    IM3Runtime runtime;
    IM3Module module;
    IM3Function start;
    struct wasi *wasi;
};

static void configure(struct choice choice) {
    if (strcmp(choice.strategy, "trap") != 0) {
        fail("unsupported", "wasm3 has no strategy \"%s\": use trap", choice.strategy);
    }
    if (strcmp(choice.backend, "interpreter") != 0) {
        fail("unsupported", "wasm3 has no backend \"%s\": it is an interpreter", choice.backend);
    }
}

// A trap in the official test suite's words, or NULL where it is none.
static const char *trap_message(M3Result result) {
    static const struct {
        M3Result *trap;
        const char *message;
    } known[] = {
        {&m3Err_trapOutOfBoundsMemoryAccess, "out of bounds memory access"},
        {&m3Err_trapDivisionByZero, "integer divide by zero"},
        {&m3Err_trapIntegerOverflow, "integer overflow"},
        {&m3Err_trapIntegerConversion, "invalid conversion to integer"},
        {&m3Err_trapIndirectCallTypeMismatch, "indirect call type mismatch"},
        {&m3Err_trapTableIndexOutOfRange, "undefined element"},
        {&m3Err_trapTableElementIsNull, "uninitialized element"},
        {&m3Err_trapUnreachable, "unreachable"},
        {&m3Err_trapStackOverflow, "call stack exhausted"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (result == *known[i].trap) return known[i].message;
    }
    return strncmp(result, "[trap] ", 7) == 0 ? result + 7 : NULL;
}

// What the engine says of an error beside its name.
static const char *detail(const struct running *running) {
    M3ErrorInfo info = {0};
    if (running->runtime != NULL) m3_GetErrorInfo(running->runtime, &info);
    return info.message == NULL ? "" : info.message;
}

static void must(const struct running *running, const char *kind, M3Result result) {
    if (result == m3Err_none) return;
    const char *more = detail(running);
    fail(kind, "%s%s%s", result, more[0] == '\0' ? "" : ": ", more);
}

static const void *call_wasi(IM3Runtime runtime, IM3ImportContext context, uint64_t *stack, void *memory) {
    const struct wasi_function *function = context->userdata;
    struct running *running = m3_GetUserData(runtime);
    struct guest guest = {memory, m3_GetMemorySize(runtime)};
    uint64_t args[WASI_ARGS_MAX];
    // A result's place comes before the arguments.
    bool returns = strcmp(function->name, "proc_exit") != 0;
    const uint64_t *from = stack + returns;
    for (size_t i = 0; function->params[i] != '\0'; i++) {
        args[i] = function->params[i] == 'i' ? (uint32_t)from[i] : from[i];
    }
    uint32_t error = function->call(running->wasi, &guest, args);
    if (wasi_exited(running->wasi)) return m3Err_trapExit;
    if (returns) stack[0] = error;
    return m3Err_none;
}

static void link_wasi(struct running *running) {
    for (size_t i = 0; i < wasi_function_count; i++) {
        const struct wasi_function *function = &wasi_functions[i];
        // "i(iIi)"; wasm3 writes I for 64 bits, as the table does.
        char signature[WASI_ARGS_MAX + 8];
        const char *result = strcmp(function->name, "proc_exit") == 0 ? "v" : "i";
        snprintf(signature, sizeof signature, "%s(%s)", result, function->params);
        M3Result linked =
            m3_LinkRawFunctionEx(running->module, WASI_MODULE, function->name, signature, call_wasi, function);
        if (linked != m3Err_functionLookupFailed) must(running, "link", linked);
    }
}

static void refuse_missing_imports(const struct running *running) {
    for (u32 i = 0; i < running->module->numFunctions; i++) {
        const M3Function *function = &running->module->functions[i];
        if (function->import.moduleUtf8 == NULL || function->compiled != NULL) continue;
        fail("link", "unknown import: %s.%s", function->import.moduleUtf8, function->import.fieldUtf8);
    }
}

static struct running *load(const uint8_t *bytes, size_t size, struct wasi *wasi) {
    struct running *running = calloc(1, sizeof *running);
    if (running == NULL) fail("internal", "out of memory");
    running->wasi = wasi;
    running->environment = m3_NewEnvironment();
    running->runtime = m3_NewRuntime(running->environment, STACK_BYTES, running);
    if (size > UINT32_MAX) fail("invalid", "a module of %zu bytes", size);
    must(running, "invalid", m3_ParseModule(running->environment, &running->module, bytes, (uint32_t)size));
    // It would wait for somebody to make an imported memory: it makes its own.
    running->module->memoryImported = false;
    M3Result loaded = m3_LoadModule(running->runtime, running->module);
    if (loaded != m3Err_none && trap_message(loaded) != NULL) fail("trap", "%s", trap_message(loaded));
    must(running, "io", loaded);
    link_wasi(running);
    refuse_missing_imports(running);
    must(running, "invalid", m3_CompileModule(running->module));
    return running;
}

static void teardown(void *instance) {
    struct running *running = instance;
    m3_FreeRuntime(running->runtime);
    m3_FreeEnvironment(running->environment);
    if (running->wasi != NULL) wasi_delete(running->wasi);
    free(running);
}

static struct running *tiny;

static const char *call(void *instance, const char *export, const struct value *args, size_t count,
                        struct value *results, size_t *result_count);

static bool load_outside(uintptr_t *base) {
    const struct value address = {I32, TINY_OUTSIDE};
    struct value results[VALUES_MAX];
    size_t count;
    *base = (uintptr_t)m3_GetMemory(tiny->runtime, NULL, 0);
    return call(tiny, "f", &address, 1, results, &count) != NULL;
}

static void observe(struct hello *hello) {
    tiny = load(tiny_module, tiny_module_size, NULL);
    hello->version = M3_VERSION;
    observe_checks(hello, load_outside);
    uint64_t made = made_code_bytes();
    hello->tier = made == 0 ? "interpreter" : "unknown";
    add_evidence(hello, "a translated module's process has %lu bytes of executable memory that are no file's", made);
    teardown(tiny);
}

// It validates little, and takes a 64-bit memory for one of 32 bits.
static void refuse_unknown_memories(const uint8_t *bytes, size_t size) {
    const struct module *module = module_read(bytes, size);
    for (size_t i = 0; module != NULL && i < module->memory_count; i++) {
        if (module->memories[i].wide) fail("invalid", "wasm3 does not know 64-bit memories");
        if (module->memories[i].shared) fail("invalid", "wasm3 does not know shared memories");
    }
}

static void compile(const uint8_t *bytes, size_t size) {
    refuse_unknown_memories(bytes, size);
    bytes_of_module = bytes, size_of_module = size;
    teardown(load(bytes, size, NULL));
}

static void *enter(const struct world *world) {
    return wasi_new(world);
}

static void *instantiate(void *wasi) {
    struct running *running = load(bytes_of_module, size_of_module, wasi);
    // Looking a function up runs the module's start function too.
    M3Result found = m3_FindFunction(&running->start, running->runtime, "_start");
    if (found == m3Err_functionLookupFailed) fail("link", "the module has no function _start");
    if (found != m3Err_none && trap_message(found) != NULL) fail("trap", "%s", trap_message(found));
    must(running, "link", found);
    return running;
}

static int run(void *instance) {
    struct running *running = instance;
    M3Result result = m3_Call(running->start, 0, NULL);
    if (result == m3Err_none) return 0;
    if (wasi_exited(running->wasi)) return wasi_exit_code(running->wasi);
    const char *trap = trap_message(result);
    if (trap != NULL) fail("trap", "%s", trap);
    must(running, "internal", result);
    return 1;
}

static void *probed(void) {
    return load(bytes_of_module, size_of_module, NULL);
}

static enum kind kind_of(M3ValueType type) {
    switch (type) {
    case c_m3Type_i32: return I32;
    case c_m3Type_i64: return I64;
    case c_m3Type_f32: return F32;
    case c_m3Type_f64: return F64;
    default: fail("unsupported", "a call's result is neither an integer nor a float");
    }
}

static const char *call(void *instance, const char *export, const struct value *args, size_t count,
                        struct value *results, size_t *result_count) {
    struct running *running = instance;
    IM3Function function;
    M3Result found = m3_FindFunction(&function, running->runtime, export);
    if (found == m3Err_functionLookupFailed) fail("link", "the module has no function %s", export);
    if (found != m3Err_none && trap_message(found) != NULL) fail("trap", "%s", trap_message(found));
    must(running, "internal", found);
    const void *pointers[VALUES_MAX];
    for (size_t i = 0; i < count; i++) pointers[i] = &args[i].bits;
    M3Result result = m3_Call(function, (uint32_t)count, pointers);
    if (result != m3Err_none && trap_message(result) != NULL) return trap_message(result);
    must(running, "internal", result);
    *result_count = m3_GetRetCount(function);
    if (*result_count > VALUES_MAX) fail("unsupported", "a call has more than %d results", VALUES_MAX);
    for (size_t i = 0; i < *result_count; i++) {
        results[i] = (struct value){kind_of(m3_GetRetType(function, (uint32_t)i)), 0};
        pointers[i] = &results[i].bits;
    }
    must(running, "internal", m3_GetResults(function, (uint32_t)*result_count, pointers));
    return NULL;
}

const struct engine the_engine = {
    .name = "wasm3", .strategy = "trap", .backend = "interpreter", .configure = configure, .observe = observe,
    .compile = compile, .enter = enter, .instantiate = instantiate, .run = run, .teardown = teardown, .probed = probed, .call = call,
};
