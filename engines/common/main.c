// A runner's course: reads one request from standard input, sends events to the
// descriptor in FATHOM_EVENTS_FD. `runner --check` prints what would be in force.

#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "runner.h"

#define PROTOCOL 1

bool measuring;

static char *read_all(FILE *file, const char *name, size_t *size) {
    size_t room = 1 << 16, length = 0, got;
    char *bytes = malloc(room);
    while (bytes != NULL && (got = fread(bytes + length, 1, room - length - 1, file)) > 0) {
        length += got;
        if (length + 1 == room) bytes = realloc(bytes, room *= 2);
    }
    if (bytes == NULL) fail("internal", "out of memory");
    if (ferror(file)) fail("io", "%s: %s", name, strerror(errno));
    bytes[length] = '\0';
    if (size != NULL) *size = length;
    return bytes;
}

char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) fail("io", "%s: %s", path, strerror(errno));
    char *bytes = read_all(file, path, size);
    fclose(file);
    return bytes;
}

char *in_temporary(const char *name) {
    const char *folder = getenv("TMPDIR");
    char *path;
    if (asprintf(&path, "%s/%s", folder == NULL ? "/tmp" : folder, name) < 0) fail("internal", "out of memory");
    return path;
}

static struct choice choice_of(const struct json *request) {
    struct choice choice = {
        .strategy = json_text(request, "strategy", the_engine.strategy),
        .backend = json_text(request, "backend", the_engine.backend),
        .opt = json_text(request, "opt", "speed"),
    };
    bool known = strcmp(choice.opt, "speed") == 0 || strcmp(choice.opt, "none") == 0;
    if (!known) fail("unsupported", "no optimisation level \"%s\"", choice.opt);
    return choice;
}

static void send_hello(struct choice choice, const struct hello *hello) {
    const struct {
        const char *name, *text;
    } members[] = {
        {"engine", the_engine.name}, {"version", hello->version}, {"backend", choice.backend},
        {"tier", hello->tier}, {"checks", hello->checks}, {"evidence", hello->evidence},
    };
    struct json_out line = {0};
    json_append(&line, "{\"event\":\"hello\"");
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        json_append(&line, ",\"%s\":", members[i].name);
        json_append_text(&line, members[i].text);
    }
    json_append(&line, "}");
    events_send(&line);
}

static void send_phase(const char *phase, struct cost cost) {
    struct json_out line = {0};
    json_append(&line, "{\"event\":\"phase\",\"phase\":\"%s\",\"wall_ns\":%lu,\"cpu_ns\":%lu}", phase, cost.wall_ns,
                cost.cpu_ns);
    events_send(&line);
}

static void load_and_compile(const char *path) {
    size_t size;
    struct cost watch = stopwatch_start(CPU_OF_PROCESS);
    char *bytes = read_file(path, &size);
    send_phase("load", stopwatch_stop(CPU_OF_PROCESS, watch));
    watch = stopwatch_start(CPU_OF_PROCESS);
    // The bytes stay: some engines read from them as long as they run.
    the_engine.compile((const uint8_t *)bytes, size);
    send_phase("compile", stopwatch_stop(CPU_OF_PROCESS, watch));
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

static void send_process(void) {
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
        {"code_bytes", the_engine.code_bytes == NULL ? 0 : the_engine.code_bytes()},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i].bytes > 0) json_append(&line, ",\"%s\":%lu", sizes[i].name, sizes[i].bytes);
    }
    json_append(&line, "}}");
    events_send(&line);
}

static const struct json *read_request(void) {
    const struct json *request = json_parse(read_all(stdin, "standard input", NULL));
    if (request == NULL) fail("internal", "the request is not one line of JSON");
    long protocol = json_long(request, "protocol", 0);
    if (protocol != PROTOCOL) fail("unsupported", "this runner speaks protocol %d, not %ld", PROTOCOL, protocol);
    return request;
}

static int check(void) {
    struct hello hello = {0};
    the_engine.configure(choice_of(NULL));
    the_engine.observe(&hello);
    printf("%s %s: %s, %s (%s)\n", the_engine.name, hello.version, hello.tier, hello.checks, hello.evidence);
    return 0;
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "--check") == 0) return check();
    if (!events_open()) {
        fputs("FATHOM_EVENTS_FD does not name a descriptor: this program is started by fathom\n", stderr);
        return 2;
    }
    const struct json *request = read_request();
    const char *mode = json_text(request, "mode", "");
    measuring = strcmp(mode, "measure") == 0;
    if (!measuring && strcmp(mode, "probe") != 0) fail("unsupported", "this runner has no mode \"%s\"", mode);
    const char *path = json_text(request, "module", NULL);
    if (path == NULL) fail("internal", "the request names no module");
    struct choice choice = choice_of(request);
    struct hello hello = {0};
    the_engine.configure(choice);
    the_engine.observe(&hello);
    send_hello(choice, &hello);
    load_and_compile(path);
    if (measuring) measure(request, path);
    else probe(request);
    send_process();
    struct json_out line = {0};
    json_append(&line, "{\"event\":\"done\"}");
    events_send(&line);
    if (before_fail != NULL) before_fail();
    return 0;
}
