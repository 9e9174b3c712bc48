// The sections of a module that say what it is from outside.

#include "module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTION_TYPE = 1, SECTION_IMPORT = 2, SECTION_FUNCTION = 3, SECTION_MEMORY = 5, SECTION_EXPORT = 7 };

// Where reading is; `bad` once something was not well formed, and then nothing moves.
struct reader {
    const uint8_t *at, *end;
    bool bad;
};

static uint8_t byte(struct reader *r) {
    if (r->at == r->end) r->bad = true;
    return r->bad ? 0 : *r->at++;
}

static uint64_t number(struct reader *r) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t one = byte(r);
        value |= (uint64_t)(one & 0x7f) << shift;
        if (one < 0x80) return value;
    }
    r->bad = true;
    return 0;
}

// How many items follow: each takes a byte at least.
static size_t count(struct reader *r) {
    uint64_t value = number(r);
    if (value > (uint64_t)(r->end - r->at)) r->bad = true;
    return r->bad ? 0 : (size_t)value;
}

static void *grow(void *items, size_t size) {
    items = realloc(items, size);
    if (items == NULL) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return items;
}

static char *text(struct reader *r) {
    size_t length = count(r);
    char *copy = grow(NULL, length + 1);
    memcpy(copy, r->at, length);
    copy[length] = '\0';
    r->at += length;
    return copy;
}

static char letter(struct reader *r) {
    switch (byte(r)) {
    case 0x7f: return 'i';
    case 0x7e: return 'I';
    case 0x7d: return 'f';
    case 0x7c: return 'F';
    case 0x7b: return 'v';
    case 0x64:
    case 0x63: number(r); return 'r';
    default: return 'r';
    }
}

static char *letters(struct reader *r) {
    size_t length = count(r);
    char *list = grow(NULL, length + 1);
    for (size_t i = 0; i < length; i++) list[i] = letter(r);
    list[length] = '\0';
    return list;
}

static struct memory_type memory_type(struct reader *r) {
    uint8_t flags = byte(r);
    // A page of another size is a proposal that no engine here knows.
    if (flags > 7) r->bad = true;
    struct memory_type type = {.bounded = flags & 1, .shared = flags & 2, .wide = flags & 4, .pages_min = number(r)};
    if (type.bounded) type.pages_max = number(r);
    return type;
}

static void skip_table_type(struct reader *r) {
    letter(r);
    uint8_t flags = byte(r);
    number(r);
    if (flags & 1) number(r);
}

static void add_function(struct module *m, uint32_t type) {
    m->functions = grow(m->functions, (m->function_count + 1) * sizeof *m->functions);
    m->functions[m->function_count++] = type;
}

static void add_memory(struct module *m, struct memory_type type) {
    m->memories = grow(m->memories, (m->memory_count + 1) * sizeof *m->memories);
    m->memories[m->memory_count++] = type;
}

static void read_types(struct reader *r, struct module *m) {
    size_t total = count(r);
    m->types = calloc(total + 1, sizeof *m->types);
    for (size_t i = 0; i < total && !r->bad; i++) {
        if (byte(r) != 0x60) r->bad = true;
        m->types[i] = (struct signature){letters(r), letters(r)};
    }
    m->type_count = r->bad ? 0 : total;
}

static void read_imports(struct reader *r, struct module *m) {
    size_t total = count(r);
    m->imports = calloc(total + 1, sizeof *m->imports);
    for (size_t i = 0; i < total && !r->bad; i++) {
        struct import *import = &m->imports[i];
        import->module = text(r), import->name = text(r), import->kind = byte(r);
        switch (import->kind) {
        case EXTERNAL_FUNC: add_function(m, import->type = (uint32_t)number(r)); break;
        case EXTERNAL_TABLE: skip_table_type(r); break;
        case EXTERNAL_MEMORY: add_memory(m, import->memory = memory_type(r)); break;
        case EXTERNAL_GLOBAL: letter(r), byte(r); break;
        case EXTERNAL_TAG: byte(r), number(r); break;
        default: r->bad = true;
        }
    }
    m->import_count = total;
}

static void read_exports(struct reader *r, struct module *m) {
    size_t total = count(r);
    m->exports = calloc(total + 1, sizeof *m->exports);
    for (size_t i = 0; i < total && !r->bad; i++) {
        m->exports[i].name = text(r);
        m->exports[i].kind = byte(r);
        m->exports[i].index = (uint32_t)number(r);
    }
    m->export_count = total;
}

static void read_section(struct reader *r, uint8_t id, struct module *m) {
    if (id == SECTION_TYPE) read_types(r, m);
    else if (id == SECTION_IMPORT) read_imports(r, m);
    else if (id == SECTION_EXPORT) read_exports(r, m);
    else if (id == SECTION_FUNCTION) {
        for (size_t left = count(r); left > 0 && !r->bad; left--) add_function(m, (uint32_t)number(r));
    } else if (id == SECTION_MEMORY) {
        for (size_t left = count(r); left > 0 && !r->bad; left--) add_memory(m, memory_type(r));
    }
}

const struct module *module_read(const uint8_t *bytes, size_t size) {
    static const uint8_t head[8] = {0, 'a', 's', 'm', 1, 0, 0, 0};
    if (size < sizeof head || memcmp(bytes, head, sizeof head) != 0) return NULL;
    struct module *module = calloc(1, sizeof *module);
    struct reader r = {bytes + sizeof head, bytes + size, module == NULL};
    while (!r.bad && r.at < r.end) {
        uint8_t id = byte(&r);
        size_t length = count(&r);
        struct reader section = {r.at, r.at + length, r.bad};
        if (!section.bad) read_section(&section, id, module);
        r.bad |= section.bad;
        r.at += r.bad ? 0 : length;
    }
    for (size_t i = 0; !r.bad && i < module->function_count; i++) r.bad = module->functions[i] >= module->type_count;
    return r.bad ? NULL : module;
}

const struct export *module_export(const struct module *module, enum external kind, const char *name) {
    for (size_t i = 0; i < module->export_count; i++) {
        const struct export *one = &module->exports[i];
        if (one->kind == kind && strcmp(one->name, name) == 0) return one;
    }
    return NULL;
}
