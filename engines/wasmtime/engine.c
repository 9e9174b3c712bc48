// Runs WebAssembly on wasmtime, through its C API: from one module and one list of
// resolved imports, a store, a WASI and an instance for each iteration.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence.h"
#include "wasmtime_engine.h"

static struct choice chosen;
static wasm_engine_t *engine;
static wasmtime_module_t *module;
static wasmtime_instance_pre_t *resolved;
static bool imports_something;

// The error event with an engine's error; takes the error.
static _Noreturn void fail_with(const char *kind, wasmtime_error_t *error) {
    wasm_name_t message;
    wasmtime_error_message(error, &message);
    // The message is a headline, then "Caused by:" and a list. One line holds both.
    for (size_t i = 0; i < message.size; i++) {
        if (message.data[i] == '\n') message.data[i] = ' ';
    }
    fail(kind, "%.*s", (int)message.size, message.data);
}

// A trap in the official test suite's words. The text is static or leaks.
static const char *trap_message(const wasm_trap_t *trap) {
    static const char *const known[] = {
        [WASMTIME_TRAP_CODE_STACK_OVERFLOW] = "call stack exhausted",
        [WASMTIME_TRAP_CODE_MEMORY_OUT_OF_BOUNDS] = "out of bounds memory access",
        [WASMTIME_TRAP_CODE_HEAP_MISALIGNED] = "unaligned atomic",
        [WASMTIME_TRAP_CODE_TABLE_OUT_OF_BOUNDS] = "out of bounds table access",
        [WASMTIME_TRAP_CODE_INDIRECT_CALL_TO_NULL] = "uninitialized element",
        [WASMTIME_TRAP_CODE_BAD_SIGNATURE] = "indirect call type mismatch",
        [WASMTIME_TRAP_CODE_INTEGER_OVERFLOW] = "integer overflow",
        [WASMTIME_TRAP_CODE_INTEGER_DIVISION_BY_ZERO] = "integer divide by zero",
        [WASMTIME_TRAP_CODE_BAD_CONVERSION_TO_INTEGER] = "invalid conversion to integer",
        [WASMTIME_TRAP_CODE_UNREACHABLE_CODE_REACHED] = "unreachable",
    };
    wasmtime_trap_code_t code;
    if (wasmtime_trap_code(trap, &code) && code < sizeof known / sizeof *known && known[code] != NULL) {
        return known[code];
    }
    wasm_message_t message;
    wasm_trap_message(trap, &message);
    return message.data;
}

// How bounds are checked:
//   guard             the engine's default: 4 GiB reserved, guard pages behind
//   trap              nothing reserved, no guard: compare before each access
//   trap-no-spectre   the same with a plain branch instead of a select
//   pool              as guard, instances from the pooling allocator
//   pool-resident     the same; it clears up to so many bytes itself instead of giving
//                     their pages back
#define RESIDENT_BYTES (1 << 20)
static void set_pool(wasm_config_t *config, bool resident) {
    wasmtime_pooling_allocation_config_t *pool = wasmtime_pooling_allocation_config_new();
    if (resident) {
        wasmtime_pooling_allocation_config_linear_memory_keep_resident_set(pool, RESIDENT_BYTES);
        wasmtime_pooling_allocation_config_table_keep_resident_set(pool, RESIDENT_BYTES);
    }
    wasmtime_pooling_allocation_strategy_set(config, pool);
    wasmtime_pooling_allocation_config_delete(pool);
}

static void set_strategy(wasm_config_t *config, const char *strategy) {
    if (strcmp(strategy, "guard") == 0) return;
    bool resident = strcmp(strategy, "pool-resident") == 0;
    if (resident || strcmp(strategy, "pool") == 0) {
        set_pool(config, resident);
        return;
    }
    bool plain = strcmp(strategy, "trap-no-spectre") == 0;
    if (!plain && strcmp(strategy, "trap") != 0) {
        fail("unsupported", "wasmtime has no strategy \"%s\": use guard, trap, trap-no-spectre, pool or pool-resident", strategy);
    }
    wasmtime_config_memory_reservation_set(config, 0);
    wasmtime_config_memory_guard_size_set(config, 0);
    if (plain) wasmtime_config_cranelift_flag_set(config, "enable_heap_access_spectre_mitigation", "false");
}

// The headers of releases before 45 know no Winch.
#ifndef HAS_WINCH
#define WASMTIME_STRATEGY_WINCH WASMTIME_STRATEGY_AUTO
#endif

// Pulley is Cranelift's code for a machine that does not exist, interpreted.
static void set_backend(wasm_config_t *config, const char *backend, const char *opt) {
    bool winch = strcmp(backend, "winch") == 0, pulley = strcmp(backend, "pulley") == 0;
    if (!winch && !pulley && strcmp(backend, "cranelift") != 0) {
        fail("unsupported", "wasmtime has no backend \"%s\": use cranelift, winch or pulley", backend);
    }
#ifndef HAS_WINCH
    if (winch) fail("unsupported", "the C headers of this release of wasmtime know no winch");
#endif
    if (pulley) {
        wasmtime_error_t *error = wasmtime_config_target_set(config, "pulley64");
        if (error != NULL) fail_with("unsupported", error);
    }
    wasmtime_config_strategy_set(config, winch ? WASMTIME_STRATEGY_WINCH : WASMTIME_STRATEGY_CRANELIFT);
    // Winch has no levels, and left alone it says so in its images.
    bool none = strcmp(opt, "none") == 0;
    if (!winch) wasmtime_config_cranelift_opt_level_set(config, none ? WASMTIME_OPT_LEVEL_NONE : WASMTIME_OPT_LEVEL_SPEED);
}

// No disk cache is configured, so every compile is a compile.
static void configure(struct choice choice) {
    chosen = choice;
    wasm_config_t *config = wasm_config_new();
    set_strategy(config, choice.strategy);
    set_backend(config, choice.backend, choice.opt);
    // Who samples the process wants names in /tmp/perf-PID.map.
    if (getenv("FATHOM_PERF_MAP") != NULL) wasmtime_config_profiler_set(config, WASMTIME_PROFILING_STRATEGY_PERFMAP);
    // Who shows its code wants the code, too, in jit-PID.dump.
    if (getenv("FATHOM_JITDUMP") != NULL) wasmtime_config_profiler_set(config, WASMTIME_PROFILING_STRATEGY_JITDUMP);
    engine = wasm_engine_new_with_config(config);
    if (engine == NULL) fail("unsupported", "wasmtime refuses this configuration");
}

// The tier, and what shows it. "unknown" where the image contradicts the request.
static const char *tier_of(enum made_by made_by, const char **shown) {
    bool winch = strcmp(chosen.backend, "winch") == 0, pulley = strcmp(chosen.backend, "pulley") == 0;
    bool speed = strcmp(chosen.opt, "speed") == 0;
    switch (made_by) {
    case MADE_FOR_INTERPRETER:
        *shown = "the image's flags say Pulley, and none of it is executable";
        return pulley ? "interpreter" : "unknown";
    case MADE_BY_OPTIMISER:
        *shown = "the compiled code says opt_level speed";
        return speed && !winch && !pulley ? "optimising" : "unknown";
    case MADE_BY_OTHER:
        *shown = "the compiled code says opt_level none";
        if (pulley) return "unknown";
        return winch ? "baseline" : speed ? "unknown" : "unoptimised";
    default:
        *shown = "the compiled code says nothing of its making";
        return "unknown";
    }
}

static void find_out(struct hello *hello) {
    hello->version = WASMTIME_VERSION;
    add_evidence(hello, "the compiler was set to %s", chosen.backend);
    enum made_by found = observe(engine, hello);
    const char *shown;
    hello->tier = tier_of(found, &shown);
    add_evidence(hello, "%s", shown);
}

static void compile(const uint8_t *bytes, size_t size) {
    wasmtime_error_t *error = wasmtime_module_new(engine, bytes, size, &module);
    if (error != NULL) fail_with("invalid", error);
}

static void resolve(void) {
    wasmtime_linker_t *linker = wasmtime_linker_new(engine);
    wasmtime_error_t *error = wasmtime_linker_define_wasi(linker);
    if (error != NULL) fail_with("internal", error);
    error = wasmtime_linker_instantiate_pre(linker, module, &resolved);
    if (error != NULL) fail_with("link", error);
    wasmtime_linker_delete(linker);
    wasm_importtype_vec_t imports;
    wasmtime_module_imports(module, &imports);
    imports_something = imports.size > 0;
    wasm_importtype_vec_delete(&imports);
}

// What says that a guest may write a folder; releases before 48 had a word for each right.
#ifdef HAS_FS_MUTABLE
#define WRITABLE true
#else
#define WRITABLE \
    WASMTIME_WASI_DIR_PERMS_READ | WASMTIME_WASI_DIR_PERMS_WRITE, WASMTIME_WASI_FILE_PERMS_READ | WASMTIME_WASI_FILE_PERMS_WRITE
#endif

static void *enter(const struct world *world) {
    wasi_config_t *wasi = wasi_config_new();
    wasi_config_set_argv(wasi, world->arg_count, world->args);
    wasi_config_set_env(wasi, world->env_count, world->env_names, world->env_values);
    for (size_t i = 0; i < world->folder_count; i++) {
        if (!wasi_config_preopen_dir(wasi, world->folder_hosts[i], world->folder_guests[i], WRITABLE)) {
            fail("io", "cannot open the folder %s", world->folder_hosts[i]);
        }
    }
    if (world->stdin_path != NULL && !wasi_config_set_stdin_file(wasi, world->stdin_path)) {
        fail("io", "cannot read %s", world->stdin_path);
    }
    if (!wasi_config_set_stdout_file(wasi, world->stdout_path)) fail("io", "cannot write %s", world->stdout_path);
    if (!wasi_config_set_stderr_file(wasi, world->stderr_path)) fail("io", "cannot write %s", world->stderr_path);
    return wasi;
}

struct running {
    wasmtime_store_t *store;
    wasmtime_context_t *context;
    wasmtime_instance_t instance;
    wasmtime_func_t start;
};

static struct running *new_running(void) {
    struct running *running = malloc(sizeof *running);
    if (running == NULL) fail("internal", "out of memory");
    running->store = wasmtime_store_new(engine, NULL, NULL);
    running->context = wasmtime_store_context(running->store);
    return running;
}

static void fill(struct running *running) {
    wasm_trap_t *trap = NULL;
    wasmtime_extern_t start;
    wasmtime_error_t *error = wasmtime_instance_pre_instantiate(resolved, running->context, &running->instance, &trap);
    if (error != NULL) fail_with("link", error);
    if (trap != NULL) fail("trap", "%s", trap_message(trap));
    if (!wasmtime_instance_export_get(running->context, &running->instance, "_start", 6, &start)
        || start.kind != WASMTIME_EXTERN_FUNC) {
        fail("link", "the module has no function _start");
    }
    running->start = start.of.func;
}

static void *instantiate(void *wasi) {
    struct running *running = new_running();
    wasmtime_error_t *error = wasmtime_context_set_wasi(running->context, wasi);
    if (error != NULL) fail_with("io", error);
    fill(running);
    return running;
}

static void *instantiate_bare(void) {
    if (imports_something) return NULL;
    struct running *running = new_running();
    fill(running);
    return running;
}

static int run(void *instance) {
    struct running *running = instance;
    wasm_trap_t *trap = NULL;
    int exit_code = 0;
    wasmtime_error_t *error = wasmtime_func_call(running->context, &running->start, NULL, 0, NULL, 0, &trap);
    if (trap != NULL) fail("trap", "%s", trap_message(trap));
    if (error == NULL) return 0;
    if (!wasmtime_error_exit_status(error, &exit_code)) fail_with("internal", error);
    wasmtime_error_delete(error);
    return exit_code;
}

static void teardown(void *instance) {
    struct running *running = instance;
    wasmtime_store_delete(running->store);
    free(running);
}

// A fresh memory for each that the module imports; returns how many.
static size_t make_imports(wasmtime_context_t *context, wasmtime_extern_t *made) {
    wasm_importtype_vec_t imports;
    wasmtime_module_imports(module, &imports);
    size_t count = imports.size;
    if (count > VALUES_MAX) fail("unsupported", "more than %d imports", VALUES_MAX);
    for (size_t i = 0; i < count; i++) {
        const wasm_externtype_t *type = wasm_importtype_type(imports.data[i]);
        const wasm_name_t *name = wasm_importtype_name(imports.data[i]);
        if (wasm_externtype_kind(type) != WASM_EXTERN_MEMORY) {
            fail("link", "nothing to import as %.*s", (int)name->size, name->data);
        }
        made[i].kind = WASMTIME_EXTERN_MEMORY;
        wasmtime_error_t *error =
            wasmtime_memory_new(context, wasm_externtype_as_memorytype_const(type), &made[i].of.memory);
        if (error != NULL) fail_with("io", error);
    }
    wasm_importtype_vec_delete(&imports);
    return count;
}

static void *probed(void) {
    struct running *running = new_running();
    wasm_trap_t *trap = NULL;
    wasmtime_extern_t imports[VALUES_MAX];
    size_t count = make_imports(running->context, imports);
    wasmtime_error_t *error =
        wasmtime_instance_new(running->context, module, imports, count, &running->instance, &trap);
    if (error != NULL) fail_with("link", error);
    if (trap != NULL) fail("trap", "%s", trap_message(trap));
    return running;
}

static wasmtime_val_t to_wasmtime(struct value value) {
    static const wasmtime_valkind_t kinds[] = {
        [I32] = WASMTIME_I32, [I64] = WASMTIME_I64, [F32] = WASMTIME_F32, [F64] = WASMTIME_F64};
    wasmtime_val_t made = {.kind = kinds[value.kind]};
    // A value is a union: its bits begin at the same place.
    memcpy(&made.of, &value.bits, sizeof value.bits);
    return made;
}

static struct value from_wasmtime(const wasmtime_val_t *value) {
    struct value made = {0};
    switch (value->kind) {
    case WASMTIME_I32: made.kind = I32; break;
    case WASMTIME_I64: made.kind = I64; break;
    case WASMTIME_F32: made.kind = F32; break;
    case WASMTIME_F64: made.kind = F64; break;
    default: fail("unsupported", "a call's result is neither an integer nor a float");
    }
    bool narrow = made.kind == I32 || made.kind == F32;
    memcpy(&made.bits, &value->of, narrow ? 4 : 8);
    return made;
}

static const char *call(void *instance, const char *export, const struct value *args, size_t count,
                        struct value *results, size_t *result_count) {
    struct running *running = instance;
    wasmtime_extern_t item;
    if (!wasmtime_instance_export_get(running->context, &running->instance, export, strlen(export), &item)
        || item.kind != WASMTIME_EXTERN_FUNC) {
        fail("link", "the module has no function %s", export);
    }
    wasmtime_val_t values[VALUES_MAX], answers[VALUES_MAX];
    for (size_t i = 0; i < count; i++) values[i] = to_wasmtime(args[i]);
    wasm_functype_t *type = wasmtime_func_type(running->context, &item.of.func);
    size_t wanted = wasm_functype_results(type)->size;
    wasm_functype_delete(type);
    if (wanted > VALUES_MAX) fail("unsupported", "a call has more than %d results", VALUES_MAX);
    wasm_trap_t *trap = NULL;
    wasmtime_error_t *error =
        wasmtime_func_call(running->context, &item.of.func, values, count, answers, wanted, &trap);
    if (error != NULL) fail_with("internal", error);
    if (trap != NULL) return trap_message(trap);
    for (size_t i = 0; i < wanted; i++) results[i] = from_wasmtime(&answers[i]);
    *result_count = wanted;
    return NULL;
}

static uint64_t module_code_bytes(void) {
    return code_bytes(module);
}

const struct engine the_engine = {
    .name = "wasmtime", .strategy = "guard", .backend = "cranelift", .configure = configure, .observe = find_out, .compile = compile,
    .link = resolve, .enter = enter, .instantiate = instantiate, .instantiate_bare = instantiate_bare, .run = run, .teardown = teardown,
    .probed = probed, .call = call, .code_bytes = module_code_bytes,
};
