// Runs WebAssembly as C: an instance is a struct of the compiled module's.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence.h"
#include "preview1.h"
#include "program.h"
#include "translate.h"

static struct choice chosen;
static const struct runtime *runtime;
static struct made *module, *tiny;

struct running {
    const struct made *made;
    void *instance;
    struct wasi *wasi;
    void *memories[VALUES_MAX];
    // The call that is under way.
    uint32_t place;
    const uint64_t *args;
    uint64_t *results;
};

static void configure(struct choice choice) {
    chosen = choice;
    translate_with(choice);
    char path[4096];
    snprintf(path, sizeof path, "%s/rt-%s.so", own_folder(), choice.strategy);
    // The code that is loaded later finds its runtime's functions in it.
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    runtime = library == NULL ? NULL : dlsym(library, "fathom_runtime");
    if (runtime == NULL) fail("internal", "%s", dlerror());
    runtime->begin();
}

// What compiled modules call for WASI: the function by its number.
uint32_t fathom_wasi(void *wasi, unsigned long number, const uint64_t *args);
uint32_t fathom_wasi(void *wasi, unsigned long number, const uint64_t *args) {
    struct running *running = wasi;
    void *memory = running->made->memory(running->instance);
    struct guest guest = {0};
    if (memory != NULL) guest = (struct guest){runtime->data(memory), runtime->size(memory)};
    uint32_t error = wasi_functions[number].call(running->wasi, &guest, args);
    if (wasi_exited(running->wasi)) runtime->leave();
    return error;
}

static void do_instantiate(void *argument) {
    struct running *running = argument;
    running->made->instantiate(running->instance, running, running->memories);
}

static struct running *new_running(const struct made *made, struct wasi *wasi) {
    struct running *running = calloc(1, sizeof *running);
    if (running == NULL) fail("internal", "out of memory");
    running->made = made, running->wasi = wasi;
    running->instance = calloc(1, made->size());
    if (running->instance == NULL) fail("internal", "out of memory");
    return running;
}

static void begin_instance(struct running *running) {
    int trap = runtime->attempt(do_instantiate, running);
    if (trap != 0) fail("trap", "%s", runtime->message(trap));
}

static void teardown(void *instance) {
    struct running *running = instance;
    running->made->free(running->instance);
    if (running->wasi != NULL) wasi_delete(running->wasi);
    free(running->instance);
    free(running);
}

static void do_call(void *argument) {
    struct running *running = argument;
    running->made->call(running->place, running->instance, running->args, running->results);
}

// 0, a trap's number, or RT_EXITED.
static int call_export(struct running *running, const struct export *export, const uint64_t *args, uint64_t *results) {
    running->place = (uint32_t)(export - running->made->facts->exports);
    running->args = args, running->results = results;
    return runtime->attempt(do_call, running);
}

static struct running *watched;

static bool load_outside(uintptr_t *base) {
    const struct export *load = module_export(watched->made->facts, EXTERNAL_FUNC, "f");
    const uint64_t args[1] = {TINY_OUTSIDE};
    uint64_t results[VALUES_MAX];
    // The tiny module's memory is all that its instance has.
    *base = (uintptr_t)runtime->data(watched->instance);
    return call_export(watched, load, args, results) != 0;
}

// The tier by the compiler's own record in the code; "unknown" where it says another.
static const char *tier_of(const struct made *made) {
    bool none = strcmp(chosen.opt, "none") == 0, gcc = strcmp(chosen.backend, "gcc") == 0;
    bool is_gcc = strstr(made->record, "GNU C") != NULL, is_clang = strstr(made->record, "-frecord-command-line") != NULL;
    bool high = strstr(made->record, " -O3") != NULL;
    if (gcc ? !is_gcc : !is_clang) return "unknown";
    if (high) return none ? "unknown" : "optimising";
    return none ? "unoptimised" : "unknown";
}

static void observe(struct hello *hello) {
    char kept[128];
    snprintf(kept, sizeof kept, "tiny-%s-%s-%s.so", chosen.strategy, chosen.backend, chosen.opt);
    tiny = translate(tiny_module, tiny_module_size, false, kept);
    watched = new_running(tiny, NULL);
    begin_instance(watched);
    hello->version = WASM2C_VERSION;
    hello->tier = tier_of(tiny);
    // Of gcc its name and version; clang begins with where it lies.
    const char *level = strstr(tiny->record, " -O"), *first = strchr(tiny->record, ' ');
    const char *second = first == NULL ? NULL : strchr(first + 1, ' ');
    const char *third = second == NULL ? NULL : strchr(second + 1, ' ');
    add_evidence(hello, "the compiled code's own record: %.*s …%.4s", third == NULL ? 0 : (int)(third - tiny->record),
                 tiny->record, level == NULL ? " no level" : level);
    observe_checks(hello, load_outside);
    teardown(watched);
}

static void compile(const uint8_t *bytes, size_t size) {
    module = translate(bytes, size, measuring, NULL);
    if (strcmp(tier_of(module), tier_of(tiny)) != 0) fail("internal", "the module was compiled otherwise than asked");
}

static void *enter(const struct world *world) {
    return wasi_new(world);
}

static void *instantiate(void *wasi) {
    if (module_export(module->facts, EXTERNAL_FUNC, "_start") == NULL) fail("link", "the module has no function _start");
    struct running *running = new_running(module, wasi);
    begin_instance(running);
    return running;
}

static int run(void *instance) {
    struct running *running = instance;
    int trap = call_export(running, module_export(module->facts, EXTERNAL_FUNC, "_start"), NULL, NULL);
    if (trap == RT_EXITED) return wasi_exit_code(running->wasi);
    if (trap != 0) fail("trap", "%s", runtime->message(trap));
    return 0;
}

static void *probed(void) {
    struct running *running = new_running(module, NULL);
    size_t count = 0;
    for (size_t i = 0; i < module->facts->import_count; i++) {
        const struct import *import = &module->facts->imports[i];
        if (import->kind != EXTERNAL_MEMORY) fail("link", "nothing to import as %s", import->name);
        if (count == VALUES_MAX) fail("unsupported", "more than %d imports", VALUES_MAX);
        const struct memory_type *type = &import->memory;
        uint64_t most = type->bounded ? type->pages_max : type->wide ? 1ull << 48 : 65536;
        running->memories[count] = runtime->new_memory(type->pages_min, most, type->wide);
        if (running->memories[count++] == NULL) fail("io", "no memory of %lu pages", type->pages_min);
    }
    begin_instance(running);
    return running;
}

static enum kind kind_of(char letter) {
    switch (letter) {
    case 'i': return I32;
    case 'I': return I64;
    case 'f': return F32;
    case 'F': return F64;
    default: fail("unsupported", "a call's value is neither an integer nor a float");
    }
}

static const char *call(void *instance, const char *name, const struct value *args, size_t count,
                        struct value *results, size_t *result_count) {
    struct running *running = instance;
    const struct module *facts = running->made->facts;
    const struct export *export = module_export(facts, EXTERNAL_FUNC, name);
    if (export == NULL) fail("link", "the module has no function %s", name);
    const struct signature *type = &facts->types[facts->functions[export->index]];
    if (strlen(type->params) != count) fail("internal", "%s takes %zu arguments", name, strlen(type->params));
    *result_count = strlen(type->results);
    if (*result_count > VALUES_MAX) fail("unsupported", "a call has more than %d results", VALUES_MAX);
    for (size_t i = 0; i < *result_count; i++) results[i].kind = kind_of(type->results[i]);
    uint64_t bits[VALUES_MAX], made[VALUES_MAX];
    for (size_t i = 0; i < count; i++) bits[i] = args[i].bits;
    int trap = call_export(running, export, bits, made);
    if (trap != 0) return runtime->message(trap);
    for (size_t i = 0; i < *result_count; i++) results[i].bits = made[i];
    return NULL;
}

static void enter_thread(void) {
    runtime->begin_thread();
}

static uint64_t code_bytes(void) {
    return module->code_bytes;
}

const struct engine the_engine = {
    .name = "wasm2c", .strategy = "guard", .backend = "gcc", .configure = configure, .observe = observe,
    .compile = compile, .enter = enter, .instantiate = instantiate, .run = run, .teardown = teardown,
    .enter_thread = enter_thread, .probed = probed, .call = call, .code_bytes = code_bytes,
};
