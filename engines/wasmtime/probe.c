// Probe mode: one instance, a list of calls in order, an answer or a trap for each.

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

#define VALUES_MAX 16

// "i32:5", "i64:-1", or the bits of a float: "f32:0x3f800000".
static wasmtime_val_t parse_value(const char *text) {
    wasmtime_val_t value = {0};
    const char *colon = text == NULL ? NULL : strchr(text, ':');
    if (colon == NULL) fail("internal", "a call's argument has no type");
    char *end;
    // Unsigned parsing takes "-1" too, as two's complement.
    int base = strncmp(colon + 1, "0x", 2) == 0 ? 16 : 10;
    uint64_t bits = strtoull(colon + 1, &end, base);
    if (end == colon + 1 || *end != '\0') fail("internal", "not a number: %s", text);
    uint32_t low = (uint32_t)bits;
    if (strncmp(text, "i32:", 4) == 0) {
        value.kind = WASMTIME_I32;
        value.of.i32 = (int32_t)low;
    } else if (strncmp(text, "i64:", 4) == 0) {
        value.kind = WASMTIME_I64;
        value.of.i64 = (int64_t)bits;
    } else if (strncmp(text, "f32:", 4) == 0) {
        value.kind = WASMTIME_F32;
        memcpy(&value.of.f32, &low, sizeof low);
    } else if (strncmp(text, "f64:", 4) == 0) {
        value.kind = WASMTIME_F64;
        memcpy(&value.of.f64, &bits, sizeof bits);
    } else {
        fail("unsupported", "cannot pass the argument %s", text);
    }
    return value;
}

static void append_value(struct json_out *line, const wasmtime_val_t *value) {
    uint32_t low;
    uint64_t bits;
    switch (value->kind) {
    case WASMTIME_I32:
        json_append(line, "\"i32:%" PRId32 "\"", value->of.i32);
        return;
    case WASMTIME_I64:
        json_append(line, "\"i64:%" PRId64 "\"", value->of.i64);
        return;
    case WASMTIME_F32:
        memcpy(&low, &value->of.f32, sizeof low);
        json_append(line, "\"f32:0x%08" PRIx32 "\"", low);
        return;
    case WASMTIME_F64:
        memcpy(&bits, &value->of.f64, sizeof bits);
        json_append(line, "\"f64:0x%016" PRIx64 "\"", bits);
        return;
    default:
        fail("unsupported", "a call's result is neither an integer nor a float");
    }
}

static void call(wasmtime_context_t *context, const wasmtime_func_t *func, const struct json *args,
                 struct json_out *line) {
    wasmtime_val_t values[VALUES_MAX], results[VALUES_MAX];
    size_t count = 0;
    for (const struct json *arg = args == NULL ? NULL : args->first; arg != NULL; arg = arg->next) {
        if (count == VALUES_MAX) fail("unsupported", "a call has more than %d arguments", VALUES_MAX);
        values[count++] = parse_value(arg->text);
    }
    wasm_functype_t *type = wasmtime_func_type(context, func);
    size_t wanted = wasm_functype_results(type)->size;
    wasm_functype_delete(type);
    if (wanted > VALUES_MAX) fail("unsupported", "a call has more than %d results", VALUES_MAX);
    wasm_trap_t *trap = NULL;
    wasmtime_error_t *error = wasmtime_func_call(context, func, values, count, results, wanted, &trap);
    if (error != NULL) fail_with("internal", error);
    if (trap != NULL) {
        json_append(line, "\"trap\":");
        json_append_text(line, trap_message(trap));
        wasm_trap_delete(trap);
        return;
    }
    json_append(line, "\"result\":[");
    for (size_t i = 0; i < wanted; i++) {
        if (i > 0) json_append(line, ",");
        append_value(line, &results[i]);
    }
    json_append(line, "]");
}

// A fresh memory for each that the module imports; returns how many.
static size_t make_imports(const struct program *program, wasmtime_context_t *context, wasmtime_extern_t *made) {
    wasm_importtype_vec_t imports;
    wasmtime_module_imports(program->module, &imports);
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

void probe(const struct program *program) {
    wasmtime_store_t *store = wasmtime_store_new(program->engine, NULL, NULL);
    wasmtime_context_t *context = wasmtime_store_context(store);
    wasmtime_instance_t instance;
    wasm_trap_t *trap = NULL;
    wasmtime_extern_t imports[VALUES_MAX];
    size_t count = make_imports(program, context, imports);
    wasmtime_error_t *error = wasmtime_instance_new(context, program->module, imports, count, &instance, &trap);
    if (error != NULL) fail_with("link", error);
    if (trap != NULL) fail("trap", "%s", trap_message(trap));
    const struct json *calls = json_get(program->request, "calls");
    size_t index = 0;
    for (const struct json *one = calls == NULL ? NULL : calls->first; one != NULL; one = one->next, index++) {
        const char *name = json_text(one, "export", "");
        wasmtime_extern_t item;
        if (!wasmtime_instance_export_get(context, &instance, name, strlen(name), &item)
            || item.kind != WASMTIME_EXTERN_FUNC) {
            fail("link", "the module has no function %s", name);
        }
        struct json_out line = {0};
        json_append(&line, "{\"event\":\"call\",\"index\":%zu,", index);
        call(context, &item.of.func, json_get(one, "args"), &line);
        json_append(&line, "}");
        events_send(&line);
    }
    wasmtime_store_delete(store);
}
