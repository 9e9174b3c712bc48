// Runs WebAssembly on wasmtime, through its C API, for fathom: reads one request
// from standard input, sends events to the descriptor in FATHOM_EVENTS_FD.
//
// `runner --check` prints what would be in force and exits with 0.

#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "runner.h"

#define PROTOCOL 1

static char *read_all(FILE *file, size_t *size) {
    size_t room = 1 << 16, length = 0, got;
    char *bytes = malloc(room);
    while (bytes != NULL && (got = fread(bytes + length, 1, room - length - 1, file)) > 0) {
        length += got;
        if (length + 1 == room) bytes = realloc(bytes, room *= 2);
    }
    if (bytes == NULL) fail("internal", "out of memory");
    if (ferror(file)) fail("io", "%s", strerror(errno));
    bytes[length] = '\0';
    if (size != NULL) *size = length;
    return bytes;
}

// What of the request decides how the engine is made.
struct choice {
    const char *strategy, *backend, *opt;
};

static struct choice choice_of(const struct json *request) {
    const char *opt = json_text(request, "opt", "speed");
    return (struct choice){
        .strategy = json_text(request, "strategy", "guard"),
        .backend = json_text(request, "backend", "cranelift"),
        .opt = opt,
    };
}

// How bounds are checked:
//   guard             the engine's default: 4 GiB reserved, guard pages behind
//   trap              nothing reserved, no guard: compare before each access
//   trap-no-spectre   the same with a plain branch instead of a select
static void set_strategy(wasm_config_t *config, const char *strategy) {
    if (strcmp(strategy, "guard") == 0) return;
    bool plain = strcmp(strategy, "trap-no-spectre") == 0;
    if (!plain && strcmp(strategy, "trap") != 0) {
        fail("unsupported", "wasmtime has no strategy \"%s\": use guard, trap or trap-no-spectre", strategy);
    }
    wasmtime_config_memory_reservation_set(config, 0);
    wasmtime_config_memory_guard_size_set(config, 0);
    if (plain) wasmtime_config_cranelift_flag_set(config, "enable_heap_access_spectre_mitigation", "false");
}

static void set_backend(wasm_config_t *config, const char *backend, const char *opt) {
    bool winch = strcmp(backend, "winch") == 0, none = strcmp(opt, "none") == 0;
    if (!winch && strcmp(backend, "cranelift") != 0) {
        fail("unsupported", "wasmtime has no backend \"%s\": use cranelift or winch", backend);
    }
    if (!none && strcmp(opt, "speed") != 0) fail("unsupported", "no optimisation level \"%s\"", opt);
    wasmtime_config_strategy_set(config, winch ? WASMTIME_STRATEGY_WINCH : WASMTIME_STRATEGY_CRANELIFT);
    // Winch has no levels, and left alone it says so in its images.
    if (!winch) wasmtime_config_cranelift_opt_level_set(config, none ? WASMTIME_OPT_LEVEL_NONE : WASMTIME_OPT_LEVEL_SPEED);
}

// No disk cache is configured, so every compile is a compile.
static wasm_engine_t *make_engine(struct choice choice) {
    wasm_config_t *config = wasm_config_new();
    set_strategy(config, choice.strategy);
    set_backend(config, choice.backend, choice.opt);
    wasm_engine_t *engine = wasm_engine_new_with_config(config);
    if (engine == NULL) fail("unsupported", "wasmtime refuses this configuration");
    return engine;
}

// The tier, and what shows it. "unknown" where the image contradicts the request.
static const char *tier_of(struct choice choice, const struct evidence *found, const char **shown) {
    bool wanted = strcmp(choice.backend, "cranelift") == 0 && strcmp(choice.opt, "speed") == 0;
    *shown = found->optimised ? "the compiled code says opt_level speed" : "the compiled code says opt_level none";
    if (found->optimised != wanted) return "unknown";
    if (wanted) return "optimising";
    return strcmp(choice.backend, "winch") == 0 ? "baseline" : "unoptimised";
}

static void send_hello(struct choice choice, const struct evidence *found) {
    const char *shown, *tier = tier_of(choice, found, &shown);
    char evidence[640];
    snprintf(evidence, sizeof evidence, "the compiler was set to %s; %s; %s", choice.backend, shown, found->text);
    struct json_out line = {0};
    json_append(&line,
                "{\"event\":\"hello\",\"engine\":\"wasmtime\",\"version\":\"%s\",\"backend\":\"%s\","
                "\"tier\":\"%s\",\"checks\":\"%s\",\"evidence\":",
                WASMTIME_VERSION, choice.backend, tier, found->checks);
    json_append_text(&line, evidence);
    json_append(&line, "}");
    events_send(&line);
}

static void send_phase(const char *phase, struct cost cost) {
    struct json_out line = {0};
    json_append(&line, "{\"event\":\"phase\",\"phase\":\"%s\",\"wall_ns\":%lu,\"cpu_ns\":%lu}", phase, cost.wall_ns,
                cost.cpu_ns);
    events_send(&line);
}

static void load_and_compile(struct program *program) {
    size_t size;
    struct cost watch = stopwatch_start(CPU_OF_PROCESS);
    FILE *file = fopen(program->path, "rb");
    if (file == NULL) fail("io", "%s: %s", program->path, strerror(errno));
    char *bytes = read_all(file, &size);
    fclose(file);
    send_phase("load", stopwatch_stop(CPU_OF_PROCESS, watch));

    watch = stopwatch_start(CPU_OF_PROCESS);
    wasmtime_error_t *error = wasmtime_module_new(program->engine, (const uint8_t *)bytes, size, &program->module);
    struct cost compiled = stopwatch_stop(CPU_OF_PROCESS, watch);
    if (error != NULL) fail_with("invalid", error);
    send_phase("compile", compiled);
    free(bytes);
}

// A line "Name:   123 kB" of /proc/self/status, in bytes; 0 where there is none.
static uint64_t status_bytes(const char *name) {
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    uint64_t kibibytes = 0;
    size_t length = strlen(name);
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, name, length) == 0 && line[length] == ':') kibibytes = strtoull(line + length + 1, NULL, 10);
    }
    if (status != NULL) fclose(status);
    return kibibytes * 1024;
}

static void send_process(const struct program *program) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    struct json_out line = {0};
    json_append(&line,
                "{\"event\":\"process\",\"metrics\":{\"faults_minor\":%ld,\"faults_major\":%ld,"
                "\"ctx_voluntary\":%ld,\"ctx_involuntary\":%ld",
                usage.ru_minflt, usage.ru_majflt, usage.ru_nvcsw, usage.ru_nivcsw);
    const struct {
        const char *name;
        uint64_t bytes;
    } sizes[] = {
        {"rss_peak_bytes", status_bytes("VmHWM")},
        {"virtual_bytes", status_bytes("VmPeak")},
        {"code_bytes", code_bytes(program->module)},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i].bytes > 0) json_append(&line, ",\"%s\":%lu", sizes[i].name, sizes[i].bytes);
    }
    json_append(&line, "}}");
    events_send(&line);
}

static const struct json *read_request(void) {
    const struct json *request = json_parse(read_all(stdin, NULL));
    if (request == NULL) fail("internal", "the request is not one line of JSON");
    long protocol = json_long(request, "protocol", 0);
    if (protocol != PROTOCOL) fail("unsupported", "this runner speaks protocol %d, not %ld", PROTOCOL, protocol);
    return request;
}

static int check(void) {
    struct choice choice = choice_of(NULL);
    wasm_engine_t *engine = make_engine(choice);
    struct evidence found = observe(engine);
    const char *shown, *tier = tier_of(choice, &found, &shown);
    printf("wasmtime %s: %s, %s (%s; %s)\n", WASMTIME_VERSION, tier, found.checks, shown, found.text);
    wasm_engine_delete(engine);
    return 0;
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "--check") == 0) return check();
    if (!events_open()) {
        fputs("FATHOM_EVENTS_FD does not name a descriptor: this program is started by fathom\n", stderr);
        return 2;
    }
    struct program program = {.request = read_request()};
    const char *mode = json_text(program.request, "mode", "");
    program.path = json_text(program.request, "module", NULL);
    if (program.path == NULL) fail("internal", "the request names no module");
    struct choice choice = choice_of(program.request);
    program.engine = make_engine(choice);
    struct evidence found = observe(program.engine);
    send_hello(choice, &found);
    load_and_compile(&program);
    if (strcmp(mode, "measure") == 0) measure(&program);
    else if (strcmp(mode, "probe") == 0) probe(&program);
    else fail("unsupported", "this runner has no mode \"%s\"", mode);
    send_process(&program);
    struct json_out line = {0};
    json_append(&line, "{\"event\":\"done\"}");
    events_send(&line);
    wasmtime_module_delete(program.module);
    wasm_engine_delete(program.engine);
    return 0;
}
