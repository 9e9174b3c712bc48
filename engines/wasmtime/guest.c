// Measured threads. Each is pinned to its CPU and makes, runs and drops an
// instance again and again: a store, a WASI and an instance of its own each time,
// from one module and one list of resolved imports that all threads share.
//
// All threads are warm before the first counted iteration, and all go on with
// uncounted ones until the last has its counted ones, so that each counted
// iteration meets the same company.

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner.h"

#define PATH_ROOM 4096

struct crew {
    const struct program *program;
    wasmtime_instance_pre_t *resolved;
    const char *scratch, *stdin_path;
    long threads, warmup, iterations;
    pthread_barrier_t all_warm;
    atomic_long finished;
};

struct worker {
    struct crew *crew;
    pthread_t thread;
    long number;
    long iteration;
    int cpu; // -1: not pinned
};

static void pin(const struct worker *worker) {
    if (worker->cpu < 0) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(worker->cpu, &set);
    int error = pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    if (error != 0) {
        fail("unsupported", "cannot pin thread %ld to CPU %d: %s", worker->number, worker->cpu, strerror(error));
    }
}

// The text of a string in the request.
static const char *text_in(const struct json *node, const char *list) {
    if (node == NULL || node->kind != JSON_STRING) fail("internal", "the request's %s holds something else", list);
    return node->text;
}

static void set_arguments(wasi_config_t *wasi, const struct program *program) {
    const struct json *args = json_get(program->request, "args");
    size_t count = 0;
    const char **texts = calloc(json_count(args) + 1, sizeof *texts);
    const char *slash = strrchr(program->path, '/');
    texts[count++] = slash == NULL ? program->path : slash + 1;
    for (const struct json *arg = args == NULL ? NULL : args->first; arg != NULL; arg = arg->next) {
        texts[count++] = text_in(arg, "args");
    }
    wasi_config_set_argv(wasi, count, texts);
    free(texts);
}

static void set_environment(wasi_config_t *wasi, const struct program *program) {
    const struct json *env = json_get(program->request, "env");
    size_t count = 0, room = json_count(env) + 1;
    const char **names = calloc(room, sizeof *names), **values = calloc(room, sizeof *values);
    for (const struct json *pair = env == NULL ? NULL : env->first; pair != NULL; pair = pair->next) {
        if (json_count(pair) != 2) fail("internal", "the request's env is not a list of pairs");
        names[count] = text_in(pair->first, "env");
        values[count++] = text_in(pair->first->next, "env");
    }
    wasi_config_set_env(wasi, count, names, values);
    free(names);
    free(values);
}

static void open_folders(wasi_config_t *wasi, const struct program *program) {
    const struct json *dirs = json_get(program->request, "dirs");
    for (const struct json *pair = dirs == NULL ? NULL : dirs->first; pair != NULL; pair = pair->next) {
        if (json_count(pair) != 2) fail("internal", "the request's dirs is not a list of pairs");
        const char *host = text_in(pair->first, "dirs"), *guest = text_in(pair->first->next, "dirs");
        if (!wasi_config_preopen_dir(wasi, host, guest, true)) fail("io", "cannot open the folder %s", host);
    }
}

// What the guest sees of the host; its standard output goes to `stdout_path`.
static wasi_config_t *guest_world(const struct worker *worker, const char *stdout_path) {
    const struct crew *crew = worker->crew;
    wasi_config_t *wasi = wasi_config_new();
    set_arguments(wasi, crew->program);
    set_environment(wasi, crew->program);
    open_folders(wasi, crew->program);
    if (crew->stdin_path != NULL && !wasi_config_set_stdin_file(wasi, crew->stdin_path)) {
        fail("io", "cannot read %s", crew->stdin_path);
    }
    if (!wasi_config_set_stdout_file(wasi, stdout_path)) fail("io", "cannot write %s", stdout_path);
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/stderr.%ld.%ld", crew->scratch, worker->number, worker->iteration);
    if (!wasi_config_set_stderr_file(wasi, path)) fail("io", "cannot write %s", path);
    return wasi;
}

static wasmtime_func_t instantiate(const struct crew *crew, wasmtime_context_t *context, wasi_config_t *wasi) {
    wasmtime_instance_t instance;
    wasm_trap_t *trap = NULL;
    wasmtime_extern_t start;
    wasmtime_error_t *error = wasmtime_context_set_wasi(context, wasi);
    if (error != NULL) fail_with("io", error);
    error = wasmtime_instance_pre_instantiate(crew->resolved, context, &instance, &trap);
    if (error != NULL) fail_with("link", error);
    if (trap != NULL) fail("trap", "%s", trap_message(trap));
    if (!wasmtime_instance_export_get(context, &instance, "_start", 6, &start)
        || start.kind != WASMTIME_EXTERN_FUNC) {
        fail("link", "the module has no function _start");
    }
    return start.of.func;
}

// Runs the program and returns its exit code.
static int run(wasmtime_context_t *context, const wasmtime_func_t *start) {
    wasm_trap_t *trap = NULL;
    int exit_code = 0;
    wasmtime_error_t *error = wasmtime_func_call(context, start, NULL, 0, NULL, 0, &trap);
    if (trap != NULL) fail("trap", "%s", trap_message(trap));
    if (error == NULL) return 0;
    if (!wasmtime_error_exit_status(error, &exit_code)) fail_with("internal", error);
    wasmtime_error_delete(error);
    return exit_code;
}

static void append_cost(struct json_out *line, const char *phase, struct cost cost) {
    json_append(line, "\"%s\":{\"wall_ns\":%lu,\"cpu_ns\":%lu}", phase, cost.wall_ns, cost.cpu_ns);
}

static void iterate(struct worker *worker, bool counted) {
    const struct crew *crew = worker->crew;
    char stdout_path[PATH_ROOM];
    snprintf(stdout_path, sizeof stdout_path, "%s/stdout.%ld.%ld", crew->scratch, worker->number, worker->iteration);
    wasi_config_t *wasi = guest_world(worker, stdout_path);

    struct cost watch = stopwatch_start(CPU_OF_THREAD);
    wasmtime_store_t *store = wasmtime_store_new(crew->program->engine, NULL, NULL);
    wasmtime_context_t *context = wasmtime_store_context(store);
    wasmtime_func_t start = instantiate(crew, context, wasi);
    struct cost instantiated = stopwatch_stop(CPU_OF_THREAD, watch);

    watch = stopwatch_start(CPU_OF_THREAD);
    int exit_code = run(context, &start);
    struct cost ran = stopwatch_stop(CPU_OF_THREAD, watch);

    watch = stopwatch_start(CPU_OF_THREAD);
    wasmtime_store_delete(store);
    struct cost torn_down = stopwatch_stop(CPU_OF_THREAD, watch);

    struct json_out line = {0};
    json_append(&line, "{\"event\":\"iteration\",\"thread\":%ld,\"index\":%ld,\"counted\":%s,\"phases\":{",
                worker->number, worker->iteration++, counted ? "true" : "false");
    append_cost(&line, "instantiate", instantiated);
    json_append(&line, ",");
    append_cost(&line, "run", ran);
    json_append(&line, ",");
    append_cost(&line, "teardown", torn_down);
    json_append(&line, "},\"exit\":%d,\"stdout\":", exit_code);
    json_append_text(&line, stdout_path);
    json_append(&line, "}");
    events_send(&line);
}

static void *work(void *argument) {
    struct worker *worker = argument;
    struct crew *crew = worker->crew;
    pin(worker);
    for (long i = 0; i < crew->warmup; i++) iterate(worker, false);
    pthread_barrier_wait(&crew->all_warm);
    for (long i = 0; i < crew->iterations; i++) iterate(worker, true);
    atomic_fetch_add(&crew->finished, 1);
    while (atomic_load(&crew->finished) < crew->threads) iterate(worker, false);
    return NULL;
}

static int cpu_of(const struct program *program, long thread) {
    const struct json *cpus = json_get(program->request, "cpus");
    size_t count = json_count(cpus);
    if (count == 0) return -1;
    const struct json *cpu = cpus->first;
    for (size_t skip = (size_t)thread % count; skip > 0; skip--) cpu = cpu->next;
    return cpu->kind == JSON_NUMBER ? atoi(cpu->text) : -1;
}

static wasmtime_instance_pre_t *resolve(const struct program *program) {
    wasmtime_instance_pre_t *resolved;
    wasmtime_linker_t *linker = wasmtime_linker_new(program->engine);
    wasmtime_error_t *error = wasmtime_linker_define_wasi(linker);
    if (error != NULL) fail_with("internal", error);
    error = wasmtime_linker_instantiate_pre(linker, program->module, &resolved);
    if (error != NULL) fail_with("link", error);
    wasmtime_linker_delete(linker);
    return resolved;
}

void measure(const struct program *program) {
    struct crew crew = {
        .program = program,
        .resolved = resolve(program),
        .scratch = json_text(program->request, "scratch", "."),
        .stdin_path = json_text(program->request, "stdin", NULL),
        .threads = json_long(program->request, "threads", 1),
        .warmup = json_long(program->request, "warmup", 0),
        .iterations = json_long(program->request, "iterations", 1),
    };
    if (crew.threads < 1 || crew.threads > 4096) fail("internal", "%ld threads asked for", crew.threads);
    struct worker *workers = calloc((size_t)crew.threads, sizeof *workers);
    pthread_barrier_init(&crew.all_warm, NULL, (unsigned)crew.threads);
    for (long i = 0; i < crew.threads; i++) {
        workers[i] = (struct worker){.crew = &crew, .number = i, .cpu = cpu_of(program, i)};
        int error = pthread_create(&workers[i].thread, NULL, work, &workers[i]);
        if (error != 0) fail("internal", "cannot start thread %ld: %s", i, strerror(error));
    }
    for (long i = 0; i < crew.threads; i++) pthread_join(workers[i].thread, NULL);
    wasmtime_instance_pre_delete(crew.resolved);
    free(workers);
}
