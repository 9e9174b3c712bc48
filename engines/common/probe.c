// Probe mode: one instance, a list of calls in order, an answer or a trap for each.

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

static const char *const kind_names[] = {[I32] = "i32", [I64] = "i64", [F32] = "f32", [F64] = "f64"};

// "i32:5", "i64:-1", or the bits of a float: "f32:0x3f800000".
static struct value parse_value(const char *text) {
    const char *colon = text == NULL ? NULL : strchr(text, ':');
    if (colon == NULL) fail("internal", "a call's argument has no type");
    char *end;
    // Unsigned parsing takes "-1" too, as two's complement.
    int base = strncmp(colon + 1, "0x", 2) == 0 ? 16 : 10;
    uint64_t bits = strtoull(colon + 1, &end, base);
    if (end == colon + 1 || *end != '\0') fail("internal", "not a number: %s", text);
    for (enum kind kind = I32; kind <= F64; kind++) {
        if ((size_t)(colon - text) != 3 || strncmp(text, kind_names[kind], 3) != 0) continue;
        bool narrow = kind == I32 || kind == F32;
        return (struct value){kind, narrow ? (uint32_t)bits : bits};
    }
    fail("unsupported", "cannot pass the argument %s", text);
}

static void append_value(struct json_out *line, struct value value) {
    switch (value.kind) {
    case I32:
        json_append(line, "\"i32:%" PRId32 "\"", (int32_t)value.bits);
        return;
    case I64:
        json_append(line, "\"i64:%" PRId64 "\"", (int64_t)value.bits);
        return;
    case F32:
        json_append(line, "\"f32:0x%08" PRIx32 "\"", (uint32_t)value.bits);
        return;
    case F64:
        json_append(line, "\"f64:0x%016" PRIx64 "\"", value.bits);
        return;
    }
}

static void call(void *instance, const struct json *one, struct json_out *line) {
    struct value values[VALUES_MAX], results[VALUES_MAX];
    size_t count = 0, result_count = 0;
    const struct json *args = json_get(one, "args");
    for (const struct json *arg = args == NULL ? NULL : args->first; arg != NULL; arg = arg->next) {
        if (count == VALUES_MAX) fail("unsupported", "a call has more than %d arguments", VALUES_MAX);
        values[count++] = parse_value(arg->text);
    }
    const char *export = json_text(one, "export", "");
    const char *trap = the_engine.call(instance, export, values, count, results, &result_count);
    if (trap != NULL) {
        json_append(line, "\"trap\":");
        json_append_text(line, trap);
        return;
    }
    json_append(line, "\"result\":[");
    for (size_t i = 0; i < result_count; i++) {
        if (i > 0) json_append(line, ",");
        append_value(line, results[i]);
    }
    json_append(line, "]");
}

void probe(const struct json *request) {
    void *instance = the_engine.probed();
    const struct json *calls = json_get(request, "calls");
    size_t index = 0;
    for (const struct json *one = calls == NULL ? NULL : calls->first; one != NULL; one = one->next, index++) {
        struct json_out line = {0};
        json_append(&line, "{\"event\":\"call\",\"index\":%zu,", index);
        call(instance, one, &line);
        json_append(&line, "}");
        events_send(&line);
    }
    the_engine.teardown(instance);
}
