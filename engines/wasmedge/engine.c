// Runs WebAssembly on WasmEdge. Compiled and interpreted modules go the same way: a
// module is read and validated once, and each instance has an executor and a store of
// its own. Only its virtual machine compiles in memory, so backend jit goes through
// one, which reads the module again for each instance.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <wasmedge/wasmedge.h>

#include "evidence.h"
#include "module.h"

enum mode { INTERPRETED, COMPILED_AHEAD, COMPILED_IN_MEMORY };

static struct choice chosen;
static enum mode mode;
static WasmEdge_ConfigureContext *settings;

// A module, read and validated.
struct made {
    const uint8_t *bytes;
    size_t size;
    const struct module *facts;
    WasmEdge_ASTModuleContext *ast;
    uint64_t code_bytes;
};
static struct made module;

struct world_of_one {
    WasmEdge_ModuleInstanceContext *wasi;
    int files[3];
};

struct running {
    const struct made *made;
    WasmEdge_VMContext *machine; // of backend jit
    WasmEdge_ExecutorContext *executor;
    WasmEdge_StoreContext *store;
    WasmEdge_ModuleInstanceContext *instance, *imported;
    const WasmEdge_FunctionInstanceContext *start;
    struct world_of_one *world;
};

static WasmEdge_String text(const char *bytes) {
    return WasmEdge_StringWrap(bytes, (uint32_t)strlen(bytes));
}

static void must(const char *kind, WasmEdge_Result result) {
    if (!WasmEdge_ResultOK(result)) fail(kind, "%s", WasmEdge_ResultGetMessage(result));
}

static void configure(struct choice choice) {
    chosen = choice;
    bool guard = strcmp(choice.strategy, "guard") == 0;
    if (!guard && strcmp(choice.strategy, "trap") != 0) {
        fail("unsupported", "wasmedge has no strategy \"%s\": use guard or trap", choice.strategy);
    }
    if (strcmp(choice.backend, "aot") == 0) mode = COMPILED_AHEAD;
    else if (strcmp(choice.backend, "jit") == 0) mode = COMPILED_IN_MEMORY;
    else if (strcmp(choice.backend, "interpreter") == 0) mode = INTERPRETED;
    else fail("unsupported", "wasmedge has no backend \"%s\": use aot, jit or interpreter", choice.backend);
    if (guard != (mode != INTERPRETED)) {
        fail("unsupported", "wasmedge has no strategy %s for backend %s: its compiled code has guard pages, its interpreter compares",
             choice.strategy, choice.backend);
    }
    WasmEdge_LogOff();
    settings = WasmEdge_ConfigureCreate();
    static const enum WasmEdge_RunMode modes[] = {
        [INTERPRETED] = WasmEdge_RunMode_Interpreter,
        [COMPILED_AHEAD] = WasmEdge_RunMode_AOT,
        [COMPILED_IN_MEMORY] = WasmEdge_RunMode_JIT,
    };
    WasmEdge_ConfigureSetRunMode(settings, modes[mode]);
    bool none = strcmp(choice.opt, "none") == 0;
    WasmEdge_ConfigureCompilerSetOptimizationLevel(
        settings, none ? WasmEdge_CompilerOptimizationLevel_O0 : WasmEdge_CompilerOptimizationLevel_O3);
    WasmEdge_ConfigureCompilerSetOutputFormat(settings, WasmEdge_CompilerOutputFormat_Wasm);
}

// The module with its compiled code beside, in a file that is gone afterwards.
static void load_ahead(WasmEdge_LoaderContext *loader, struct made *made) {
    char *path = in_temporary("fathom-wasmedge-" FRESH);
    int file = mkstemp(path);
    if (file < 0) fail("io", "%s: %s", path, strerror(errno));
    close(file);
    WasmEdge_CompilerContext *compiler = WasmEdge_CompilerCreate(settings);
    WasmEdge_Bytes bytes = WasmEdge_BytesWrap(made->bytes, (uint32_t)made->size);
    WasmEdge_Result result = WasmEdge_CompilerCompileFromBytes(compiler, bytes, path);
    WasmEdge_CompilerDelete(compiler);
    if (WasmEdge_ResultOK(result)) result = WasmEdge_LoaderParseFromFile(loader, &made->ast, path);
    unlink(path);
    must("invalid", result);
}

// Its compiled code adds address and offset and compares the sum, which can wrap.
static void refuse_unsafe_memories(const struct module *facts) {
    for (size_t i = 0; facts != NULL && mode != INTERPRETED && i < facts->memory_count; i++) {
        if (!facts->memories[i].wide) continue;
        fail("invalid", "WasmEdge's compiled code does not trap where address and offset exceed 64 bits: use its interpreter");
    }
}

static struct made make(const uint8_t *bytes, size_t size) {
    struct made made = {.bytes = bytes, .size = size, .facts = module_read(bytes, size)};
    refuse_unsafe_memories(made.facts);
    if (size == 0 || size > UINT32_MAX) fail("invalid", "a module of %zu bytes", size);
    WasmEdge_LoaderContext *loader = WasmEdge_LoaderCreate(settings);
    uint64_t before = made_code_bytes();
    // Validated before it is compiled, which takes longer to say no.
    must("invalid", WasmEdge_LoaderParseFromBytes(loader, &made.ast, WasmEdge_BytesWrap(bytes, (uint32_t)size)));
    WasmEdge_ValidatorContext *validator = WasmEdge_ValidatorCreate(settings);
    must("invalid", WasmEdge_ValidatorValidate(validator, made.ast));
    if (mode == COMPILED_AHEAD) {
        WasmEdge_ASTModuleDelete(made.ast);
        load_ahead(loader, &made);
        must("invalid", WasmEdge_ValidatorValidate(validator, made.ast));
    }
    made.code_bytes = made_code_bytes() - before;
    WasmEdge_ValidatorDelete(validator);
    WasmEdge_LoaderDelete(loader);
    if (made.facts == NULL) fail("invalid", "its sections cannot be read");
    return made;
}

// Makes the instance, with what it may import beside.
static void begin_instance(struct running *running) {
    WasmEdge_Result result;
    WasmEdge_ModuleInstanceContext *imported = running->world != NULL ? running->world->wasi : running->imported;
    if (mode == COMPILED_IN_MEMORY) {
        running->machine = WasmEdge_VMCreate(settings, NULL);
        if (imported != NULL) must("link", WasmEdge_VMRegisterModuleFromImport(running->machine, imported));
        WasmEdge_Bytes bytes = WasmEdge_BytesWrap(running->made->bytes, (uint32_t)running->made->size);
        must("invalid", WasmEdge_VMLoadWasmFromBytes(running->machine, bytes));
        must("invalid", WasmEdge_VMValidate(running->machine));
        result = WasmEdge_VMInstantiate(running->machine);
        running->instance = (WasmEdge_ModuleInstanceContext *)WasmEdge_VMGetActiveModule(running->machine);
    } else {
        running->store = WasmEdge_StoreCreate();
        if (imported != NULL) must("link", WasmEdge_ExecutorRegisterImport(running->executor, running->store, imported));
        result = WasmEdge_ExecutorInstantiate(running->executor, &running->instance, running->store, running->made->ast);
    }
    if (WasmEdge_ResultOK(result)) return;
    // What the start function does is a trap; all else was found before.
    bool ran = WasmEdge_ResultGetCode(result) >= 0x0400;
    fail(ran ? "trap" : "link", "%s", WasmEdge_ResultGetMessage(result));
}

static struct running *new_running(const struct made *made) {
    struct running *running = calloc(1, sizeof *running);
    if (running == NULL) fail("internal", "out of memory");
    running->made = made;
    running->executor = WasmEdge_ExecutorCreate(settings, NULL);
    return running;
}

static void teardown(void *instance) {
    struct running *running = instance;
    if (running->machine != NULL) {
        WasmEdge_VMDelete(running->machine);
    } else {
        WasmEdge_ModuleInstanceDelete(running->instance);
        WasmEdge_StoreDelete(running->store);
    }
    WasmEdge_ExecutorDelete(running->executor);
    if (running->imported != NULL) WasmEdge_ModuleInstanceDelete(running->imported);
    if (running->world != NULL) {
        WasmEdge_ModuleInstanceDelete(running->world->wasi);
        for (size_t i = 0; i < 3; i++) close(running->world->files[i]);
        free(running->world);
    }
    free(running);
}

static const char *call(void *instance, const char *export, const struct value *args, size_t count,
                        struct value *results, size_t *result_count);

static struct running *tiny;

static bool load_outside(uintptr_t *base) {
    const struct value address = {I32, TINY_OUTSIDE};
    struct value results[VALUES_MAX];
    size_t count;
    WasmEdge_MemoryInstanceContext *memory = WasmEdge_ModuleInstanceFindMemory(tiny->instance, text("m"));
    *base = (uintptr_t)WasmEdge_MemoryInstanceGetPointer(memory, 0, 1);
    return call(tiny, "f", &address, 1, results, &count) != NULL;
}

static void observe(struct hello *hello) {
    uint64_t before = made_code_bytes();
    struct made made = make(tiny_module, tiny_module_size);
    tiny = new_running(&made);
    begin_instance(tiny);
    uint64_t code = made_code_bytes() - before;
    observe_checks(hello, load_outside);
    hello->version = WasmEdge_VersionGet();
    bool none = strcmp(chosen.opt, "none") == 0;
    hello->tier = code == 0 ? "interpreter" : none ? "unoptimised" : "optimising";
    // A compiled file that is interpreted all the same makes no code.
    if ((code == 0) != (mode == INTERPRETED)) hello->tier = "unknown";
    add_evidence(hello, "a module made %lu bytes of executable memory", code);
    if (code > 0) add_evidence(hello, "LLVM was set to -O%c", none ? '0' : '3');
    teardown(tiny);
    WasmEdge_ASTModuleDelete(made.ast);
}

static void compile(const uint8_t *bytes, size_t size) {
    module = make(bytes, size);
    size_t imported = 0;
    for (size_t i = 0; i < module.facts->import_count; i++) imported += module.facts->imports[i].kind == EXTERNAL_FUNC;
    if (mode == COMPILED_AHEAD && module.facts->function_count > imported && module.code_bytes == 0) {
        fail("internal", "the compiled module has no code: it would be interpreted");
    }
    for (size_t i = 0; measuring && i < module.facts->import_count; i++) {
        const struct import *import = &module.facts->imports[i];
        bool wasi = import->kind == EXTERNAL_FUNC && strcmp(import->module, "wasi_snapshot_preview1") == 0;
        if (!wasi) fail("link", "unknown import: %s.%s", import->module, import->name);
    }
}

// WasmEdge sets its fault handler at each call and takes it away behind it. Calls to
// the C library's function come here first, so that a load can be watched meanwhile.
int sigaction(int number, const struct sigaction *restrict action, struct sigaction *restrict old) {
    static int (*real)(int, const struct sigaction *, struct sigaction *);
    if (real == NULL) real = (__typeof__(real))dlsym(RTLD_NEXT, "sigaction");
    if (action != NULL && watch_behind(number, action)) return old == NULL ? 0 : real(number, NULL, old);
    return real(number, action, old);
}

static int open_file(const char *path, int flags, const char *what) {
    int file = open(path, flags | O_CLOEXEC, 0644);
    if (file < 0) fail("io", "cannot %s %s: %s", what, path, strerror(errno));
    return file;
}

static void *enter(const struct world *world) {
    struct world_of_one *made = calloc(1, sizeof *made);
    char **env = calloc(world->env_count + 1, sizeof *env), **folders = calloc(world->folder_count + 1, sizeof *folders);
    if (made == NULL || env == NULL || folders == NULL) fail("internal", "out of memory");
    for (size_t i = 0; i < world->env_count; i++) {
        if (asprintf(&env[i], "%s=%s", world->env_names[i], world->env_values[i]) < 0) fail("internal", "out of memory");
    }
    for (size_t i = 0; i < world->folder_count; i++) {
        close(open_file(world->folder_hosts[i], O_RDONLY | O_DIRECTORY, "open the folder"));
        if (asprintf(&folders[i], "%s:%s", world->folder_guests[i], world->folder_hosts[i]) < 0) fail("internal", "out of memory");
    }
    made->files[0] = open_file(world->stdin_path == NULL ? "/dev/null" : world->stdin_path, O_RDONLY, "read");
    made->files[1] = open_file(world->stdout_path, O_WRONLY | O_CREAT | O_TRUNC, "write");
    made->files[2] = open_file(world->stderr_path, O_WRONLY | O_CREAT | O_TRUNC, "write");
    made->wasi = WasmEdge_ModuleInstanceCreateWASIWithFds(
        world->args, (uint32_t)world->arg_count, (const char *const *)env, (uint32_t)world->env_count,
        (const char *const *)folders, (uint32_t)world->folder_count, made->files[0], made->files[1], made->files[2]);
    if (made->wasi == NULL) fail("io", "WasmEdge does not make a WASI of these files");
    return made;
}

static void *instantiate(void *world) {
    struct running *running = new_running(&module);
    running->world = world;
    begin_instance(running);
    running->start = WasmEdge_ModuleInstanceFindFunction(running->instance, text("_start"));
    if (running->start == NULL) fail("link", "the module has no function _start");
    return running;
}

static int run(void *instance) {
    struct running *running = instance;
    WasmEdge_Result result = WasmEdge_ExecutorInvoke(running->executor, running->start, NULL, 0, NULL, 0);
    // An exit is a result of its own, "terminated", which counts as well done.
    if (WasmEdge_ResultOK(result)) return (int)WasmEdge_ModuleInstanceWASIGetExitCode(running->world->wasi);
    fail("trap", "%s", WasmEdge_ResultGetMessage(result));
}

// A memory for each import, in a module of the name they are imported from.
static void *probed(void) {
    struct running *running = new_running(&module);
    for (size_t i = 0; i < module.facts->import_count; i++) {
        const struct import *import = &module.facts->imports[i];
        if (import->kind != EXTERNAL_MEMORY) fail("link", "nothing to import as %s", import->name);
        if (running->imported == NULL) running->imported = WasmEdge_ModuleInstanceCreate(text(import->module));
        const struct memory_type *type = &import->memory;
        WasmEdge_LimitContext *limit = type->bounded
            ? WasmEdge_LimitCreateWithMax(type->pages_min, type->pages_max, type->wide, false)
            : WasmEdge_LimitCreate(type->pages_min, type->wide);
        WasmEdge_MemoryTypeContext *made = WasmEdge_MemoryTypeCreate(limit);
        WasmEdge_ModuleInstanceAddMemory(running->imported, text(import->name), WasmEdge_MemoryInstanceCreate(made));
        WasmEdge_MemoryTypeDelete(made);
        WasmEdge_LimitDelete(limit);
    }
    begin_instance(running);
    return running;
}

static WasmEdge_Value to_wasmedge(struct value value) {
    float narrow;
    double wide;
    uint32_t low = (uint32_t)value.bits;
    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&wide, &value.bits, sizeof wide);
    switch (value.kind) {
    case I32: return WasmEdge_ValueGenI32((int32_t)low);
    case I64: return WasmEdge_ValueGenI64((int64_t)value.bits);
    case F32: return WasmEdge_ValueGenF32(narrow);
    default: return WasmEdge_ValueGenF64(wide);
    }
}

static struct value from_wasmedge(WasmEdge_Value value, char letter) {
    struct value made = {letter == 'i' ? I32 : letter == 'I' ? I64 : letter == 'f' ? F32 : F64, 0};
    if (strchr("iIfF", letter) == NULL) fail("unsupported", "a call's result is neither an integer nor a float");
    memcpy(&made.bits, &value.Value, made.kind == I32 || made.kind == F32 ? 4 : 8);
    return made;
}

static const char *call(void *instance, const char *name, const struct value *args, size_t count,
                        struct value *results, size_t *result_count) {
    struct running *running = instance;
    const struct module *facts = running->made->facts;
    const struct export *export = module_export(facts, EXTERNAL_FUNC, name);
    const WasmEdge_FunctionInstanceContext *function = WasmEdge_ModuleInstanceFindFunction(running->instance, text(name));
    if (export == NULL || function == NULL) fail("link", "the module has no function %s", name);
    const char *wanted = facts->types[facts->functions[export->index]].results;
    WasmEdge_Value values[VALUES_MAX], answers[VALUES_MAX];
    *result_count = strlen(wanted);
    if (*result_count > VALUES_MAX) fail("unsupported", "a call has more than %d results", VALUES_MAX);
    for (size_t i = 0; i < count; i++) values[i] = to_wasmedge(args[i]);
    WasmEdge_Result result = WasmEdge_ExecutorInvoke(running->executor, function, values, (uint32_t)count, answers,
                                                     (uint32_t)*result_count);
    if (!WasmEdge_ResultOK(result)) return WasmEdge_ResultGetMessage(result);
    for (size_t i = 0; i < *result_count; i++) results[i] = from_wasmedge(answers[i], wanted[i]);
    return NULL;
}

static uint64_t code_bytes(void) {
    return module.code_bytes;
}

const struct engine the_engine = {
    .name = "wasmedge", .strategy = "guard", .backend = "aot", .configure = configure, .observe = observe,
    .compile = compile, .enter = enter, .instantiate = instantiate, .run = run, .teardown = teardown, .probed = probed,
    .call = call, .code_bytes = code_bytes,
};
