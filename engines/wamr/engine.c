// Runs WebAssembly on WAMR. Its two interpreters and what runs compiled code, with
// guard pages or without, are the same functions compiled in four ways, in as many
// libraries, of which the one that is asked for is loaded.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <wasm_export.h>

#include "ahead.h"
#include "evidence.h"
#include "module.h"
#include "preview1.h"
#include "program.h"

#define STACK_BYTES (1u << 20)
#define EXITED "the program has exited"
#define ERROR_ROOM 256
#define SIGNAL_STACK_BYTES (64u << 10)

// The functions of WAMR's that are used, each found in the library that was loaded.
#define FUNCTIONS(X) \
    X(runtime_addr_app_to_native) X(runtime_call_wasm) X(runtime_call_wasm_a) \
    X(runtime_clear_exception) X(runtime_create_exec_env) X(runtime_deinstantiate) \
    X(runtime_destroy_exec_env) X(runtime_get_app_addr_range) X(runtime_get_custom_data) \
    X(runtime_get_exception) X(runtime_get_function_attachment) X(runtime_get_module_inst) \
    X(runtime_init) X(runtime_instantiate) X(runtime_load) X(runtime_lookup_function) \
    X(runtime_register_natives_raw) X(runtime_set_custom_data) X(runtime_set_exception) \
    X(runtime_unload)
#define DECLARE(name) __typeof__(wasm_##name) *name;
static struct {
    FUNCTIONS(DECLARE)
} wamr;

static struct choice chosen;
static bool compiled_ahead;
static void *library;
static wasm_module_t module;
static const struct module *facts;
static const char *library_path;
static uint64_t code_bytes;
static NativeSymbol natives[64];

struct running {
    wasm_module_inst_t instance;
    wasm_exec_env_t environment;
    wasm_function_inst_t start;
    const struct module *facts;
    struct wasi *wasi;
};

// The guest's memory as it is now.
static struct guest guest_of(wasm_module_inst_t instance) {
    uint32_t from, to;
    if (!wamr.runtime_get_app_addr_range(instance, 0, &from, &to)) return (struct guest){0};
    return (struct guest){wamr.runtime_addr_app_to_native(instance, 0), to};
}

static void call_wasi(wasm_exec_env_t environment, uint64_t *slots) {
    const struct wasi_function *function = wamr.runtime_get_function_attachment(environment);
    wasm_module_inst_t instance = wamr.runtime_get_module_inst(environment);
    struct running *running = wamr.runtime_get_custom_data(instance);
    struct guest guest = guest_of(instance);
    uint64_t args[WASI_ARGS_MAX];
    for (size_t i = 0; function->params[i] != '\0'; i++) {
        args[i] = function->params[i] == 'i' ? (uint32_t)slots[i] : slots[i];
    }
    uint32_t error = function->call(running->wasi, &guest, args);
    slots[0] = error;
    // An exception is its only way to end a program from outside.
    if (wasi_exited(running->wasi)) wamr.runtime_set_exception(instance, EXITED);
}

static void register_wasi(void) {
    for (size_t i = 0; i < wasi_function_count; i++) {
        const struct wasi_function *function = &wasi_functions[i];
        char *signature;
        const char *result = strcmp(function->name, "proc_exit") == 0 ? "" : "i";
        if (asprintf(&signature, "(%s)%s", function->params, result) < 0) fail("internal", "out of memory");
        natives[i] = (NativeSymbol){function->name, call_wasi, signature, (void *)function};
    }
    if (!wamr.runtime_register_natives_raw(WASI_MODULE, natives, (uint32_t)wasi_function_count)) {
        fail("internal", "WAMR does not take our functions");
    }
}

static void refuse_unknown(void) {
    bool guard = strcmp(chosen.strategy, "guard") == 0;
    if (!guard && strcmp(chosen.strategy, "trap") != 0) {
        fail("unsupported", "wamr has no strategy \"%s\": use guard or trap", chosen.strategy);
    }
    compiled_ahead = strcmp(chosen.backend, "aot") == 0;
    if (!compiled_ahead && strcmp(chosen.backend, "fast") != 0 && strcmp(chosen.backend, "classic") != 0) {
        fail("unsupported", "wamr has no backend \"%s\": use fast, classic or aot", chosen.backend);
    }
    if (guard && !compiled_ahead) {
        fail("unsupported", "wamr has no strategy guard for backend %s: its interpreters compare", chosen.backend);
    }
    if (compiled_ahead && !can_compile_ahead()) fail("unsupported", "this WAMR was built without its compiler, which needs LLVM 13");
}

// WAMR protects pages at the far end of a stack, where the first thread's is not
// mapped before it has been used that deep.
static void map_whole_stack(void) {
    pthread_attr_t attributes;
    void *end;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) fail("internal", "cannot find the stack");
    pthread_attr_getstack(&attributes, &end, &size);
    pthread_attr_destroy(&attributes);
    // The first page is WAMR's own distance from the end.
    *((volatile char *)end + getpagesize()) = 0;
}

static void configure(struct choice choice) {
    chosen = choice;
    refuse_unknown();
    library_path = format("%s/iwasm-%s%s%s.so", own_folder(), choice.backend, compiled_ahead ? "-" : "",
                          compiled_ahead ? choice.strategy : "");
    library = dlopen(library_path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) fail("internal", "%s", dlerror());
#define FIND(name) \
    if ((wamr.name = (__typeof__(wamr.name))dlsym(library, "wasm_" #name)) == NULL) fail("internal", "%s", dlerror());
    FUNCTIONS(FIND)
    map_whole_stack();
    if (!wamr.runtime_init()) fail("internal", "WAMR does not start");
    register_wasi();
}

// A trap in the official test suite's words.
static const char *trap_message(wasm_module_inst_t instance) {
    const char *text = wamr.runtime_get_exception(instance);
    if (text == NULL) return "it does not say which";
    if (strncmp(text, "Exception: ", 11) == 0) text += 11;
    if (strstr(text, "stack overflow") != NULL) return "call stack exhausted";
    return text;
}

static wasm_module_t load(const uint8_t *bytes, size_t size) {
    char error[ERROR_ROOM] = "";
    if (size > UINT32_MAX) fail("invalid", "a module of %zu bytes", size);
    // It changes the bytes it loads, and keeps them.
    uint8_t *copy = compiled_ahead ? compile_ahead(chosen, bytes, size, &size) : malloc(size + 1);
    if (copy == NULL) fail("internal", "out of memory");
    if (!compiled_ahead) memcpy(copy, bytes, size);
    wasm_module_t loaded = wamr.runtime_load(copy, (uint32_t)size, error, sizeof error);
    // What was compiled is valid: its loader lacks something.
    if (loaded == NULL) fail(compiled_ahead ? "unsupported" : "invalid", "%s", error);
    return loaded;
}

static struct running *start_instance(wasm_module_t of, const struct module *facts_of_it, struct wasi *wasi) {
    char error[ERROR_ROOM] = "";
    struct running *running = calloc(1, sizeof *running);
    if (running == NULL) fail("internal", "out of memory");
    running->wasi = wasi, running->facts = facts_of_it;
    running->instance = wamr.runtime_instantiate(of, STACK_BYTES, 0, error, sizeof error);
    if (running->instance == NULL) fail("io", "%s", error);
    wamr.runtime_set_custom_data(running->instance, running);
    running->environment = wamr.runtime_create_exec_env(running->instance, STACK_BYTES);
    if (running->environment == NULL) fail("io", "no memory for a stack");
    return running;
}

static void teardown(void *instance) {
    struct running *running = instance;
    wamr.runtime_destroy_exec_env(running->environment);
    wamr.runtime_deinstantiate(running->instance);
    if (running->wasi != NULL) wasi_delete(running->wasi);
    free(running);
}

static const char *call(void *instance, const char *export, const struct value *args, size_t count,
                        struct value *results, size_t *result_count);

static struct running *tiny;

static bool load_outside(uintptr_t *base) {
    const struct value address = {I32, TINY_OUTSIDE};
    struct value results[VALUES_MAX];
    size_t count;
    *base = (uintptr_t)guest_of(tiny->instance).base;
    const char *trap = call(tiny, "f", &address, 1, results, &count);
    return trap != NULL && strstr(trap, "out of bounds memory access") != NULL;
}

// Only the fast interpreter's loader has a function that finds where a constant of its
// own code is; the library keeps the names of its functions.
static bool has_fast_interpreter(void) {
    size_t size;
    const char *bytes = read_file(library_path, &size);
    bool found = memmem(bytes, size, "wasm_loader_get_const_offset", 28) != NULL;
    free((void *)bytes);
    return found;
}

// The tier of compiled code: there is some, and nothing that could interpret.
static const char *tier_ahead(struct hello *hello, uint64_t code) {
    bool interprets = dlsym(library, "wasm_interp_call_wasm") != NULL, none = strcmp(chosen.opt, "none") == 0;
    add_evidence(hello, "the library loaded has %s interpreter; LLVM was set to -O%c", interprets ? "an" : "no", none ? '0' : '3');
    if (code == 0 || interprets) return "unknown";
    return none ? "unoptimised" : "optimising";
}

static const char *tier_interpreted(struct hello *hello, uint64_t code) {
    bool fast = has_fast_interpreter();
    add_evidence(hello, "the library loaded %s the fast interpreter", fast ? "has" : "has not");
    return code != 0 || fast != (strcmp(chosen.backend, "fast") == 0) ? "unknown" : "interpreter";
}

static void observe(struct hello *hello) {
    wasm_module_t made = load(tiny_module, tiny_module_size);
    tiny = start_instance(made, module_read(tiny_module, tiny_module_size), NULL);
    hello->version = WAMR_VERSION;
    observe_checks(hello, load_outside);
    uint64_t code = made_code_bytes();
    add_evidence(hello, "the process has %lu bytes of executable memory that are no file's", code);
    hello->tier = compiled_ahead ? tier_ahead(hello, code) : tier_interpreted(hello, code);
    teardown(tiny);
    wamr.runtime_unload(made);
}

// It would only notice when they are called.
static void refuse_missing_imports(bool wasi) {
    for (size_t i = 0; i < facts->import_count; i++) {
        const struct import *import = &facts->imports[i];
        if (import->kind == EXTERNAL_MEMORY && !wasi) continue;
        bool known = wasi && import->kind == EXTERNAL_FUNC && strcmp(import->module, WASI_MODULE) == 0
            && wasi_find(import->name) != NULL;
        if (!known) fail("link", "unknown import: %s.%s", import->module, import->name);
    }
}

static void compile(const uint8_t *bytes, size_t size) {
    facts = module_read(bytes, size);
    for (size_t i = 0; facts != NULL && i < facts->memory_count; i++) {
        if (facts->memories[i].wide) fail("invalid", "this WAMR does not know 64-bit memories");
    }
    uint64_t before = made_code_bytes();
    module = load(bytes, size);
    code_bytes = made_code_bytes() - before;
    if (facts == NULL) fail("invalid", "its sections cannot be read");
    refuse_missing_imports(measuring);
}

static void *enter(const struct world *world) {
    return wasi_new(world);
}

static void *instantiate(void *wasi) {
    struct running *running = start_instance(module, facts, wasi);
    running->start = wamr.runtime_lookup_function(running->instance, "_start", NULL);
    if (running->start == NULL) fail("link", "the module has no function _start");
    return running;
}

static void *instantiate_bare(void) {
    return facts->import_count == 0 ? instantiate(NULL) : NULL;
}

// Where the stack has ended, the handler of faults needs another; WAMR makes one for
// its first thread alone.
static void enter_thread(void) {
    stack_t stack = {.ss_size = SIGNAL_STACK_BYTES};
    stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, NULL) != 0) fail("internal", "no stack for signals");
}

static int run(void *instance) {
    struct running *running = instance;
    if (wamr.runtime_call_wasm(running->environment, running->start, 0, NULL)) return 0;
    if (running->wasi != NULL && wasi_exited(running->wasi)) return wasi_exit_code(running->wasi);
    fail("trap", "%s", trap_message(running->instance));
}

static void *probed(void) {
    return start_instance(module, facts, NULL);
}

static const char *call(void *instance, const char *name, const struct value *args, size_t count,
                        struct value *results, size_t *result_count) {
    static const wasm_valkind_t kinds[] = {[I32] = WASM_I32, [I64] = WASM_I64, [F32] = WASM_F32, [F64] = WASM_F64};
    struct running *running = instance;
    const struct export *export = module_export(running->facts, EXTERNAL_FUNC, name);
    wasm_function_inst_t function = wamr.runtime_lookup_function(running->instance, name, NULL);
    if (export == NULL || function == NULL) fail("link", "the module has no function %s", name);
    const char *wanted = running->facts->types[running->facts->functions[export->index]].results;
    wasm_val_t values[VALUES_MAX] = {0}, answers[VALUES_MAX] = {0};
    *result_count = strlen(wanted);
    if (*result_count > VALUES_MAX) fail("unsupported", "a call has more than %d results", VALUES_MAX);
    for (size_t i = 0; i < count; i++) {
        values[i].kind = kinds[args[i].kind];
        // A value is a union: its bits begin at the same place.
        memcpy(&values[i].of, &args[i].bits, sizeof args[i].bits);
    }
    wamr.runtime_clear_exception(running->instance);
    if (!wamr.runtime_call_wasm_a(running->environment, function, (uint32_t)*result_count, answers, (uint32_t)count, values)) {
        return strdup(trap_message(running->instance));
    }
    for (size_t i = 0; i < *result_count; i++) {
        results[i] = (struct value){wanted[i] == 'i' ? I32 : wanted[i] == 'I' ? I64 : wanted[i] == 'f' ? F32 : F64, 0};
        memcpy(&results[i].bits, &answers[i].of, results[i].kind == I32 || results[i].kind == F32 ? 4 : 8);
    }
    return NULL;
}

static uint64_t made_bytes(void) {
    return code_bytes;
}

const struct engine the_engine = {
    .name = "wamr", .strategy = "trap", .backend = "fast", .configure = configure, .observe = observe,
    .compile = compile, .enter = enter, .instantiate = instantiate,
    .instantiate_bare = instantiate_bare, .enter_thread = enter_thread, .run = run, .teardown = teardown, .probed = probed,
    .call = call, .code_bytes = made_bytes,
};
