// See translate.h. Everything is made in a folder that is gone once the object is
// loaded.

#define _GNU_SOURCE
#include "translate.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preview1.h"
#include "program.h"

#define WORDS_MAX 64

static struct choice chosen;
#define WORK "fathom-wasm2c-" FRESH
static char work[PATH_MAX];

static void sweep(void) {
    static const char *const names[] = {"m.wasm", "m.c", "m.h", "glue.c", "m.o", "glue.o", "m.so", SAID};
    char path[PATH_MAX + 16];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", work, names[i]);
        unlink(path);
    }
    rmdir(work);
}

static char *in_work(const char *name) {
    char *path;
    if (asprintf(&path, "%s/%s", work, name) < 0) fail("internal", "out of memory");
    return path;
}

void translate_with(struct choice choice) {
    chosen = choice;
    bool guard = strcmp(choice.strategy, "guard") == 0, gcc = strcmp(choice.backend, "gcc") == 0;
    if (!guard && strcmp(choice.strategy, "trap") != 0) {
        fail("unsupported", "wasm2c has no strategy \"%s\": use guard or trap", choice.strategy);
    }
    if (!gcc && strcmp(choice.backend, "clang") != 0) {
        fail("unsupported", "wasm2c has no backend \"%s\": use gcc or clang", choice.backend);
    }
    if (!gcc && access(format("%s/../../zig/ziglang/zig", own_folder()), X_OK) != 0) {
        fail("unsupported", "backend clang needs the pinned C compiler: python3 workloads/setup.py");
    }
}

static void run_wasm2c(void) {
    const char *prefix = format("%s/debian/usr", own_folder());
    const char *words[] = {
        format("%s/lib64/ld-linux-x86-64.so.2", prefix), "--library-path", format("%s/lib/x86_64-linux-gnu", prefix),
        format("%s/bin/wasm2c", prefix), "m.wasm", "--module-name=m", "--output=m.c", "--no-debug-names",
        // Not tail calls: the C that this version makes for them does not compile. 64-bit
        // memories only to say better why they are refused.
        "--enable-memory64", "--enable-multi-memory", "--enable-extended-const", "--enable-exceptions", "--enable-threads",
        NULL};
    run_program(work, "invalid", words);
}

// Compiles m.c and glue.c to m.so. Clang comes without its driver's cache, so that
// a compile is a compile; the machine's own linker joins what either made.
static void run_compiler(void) {
    bool gcc = strcmp(chosen.backend, "gcc") == 0, guard = strcmp(chosen.strategy, "guard") == 0;
    const char *zig = format("%s/../../zig/ziglang", own_folder()), *words[WORDS_MAX];
    size_t count = 0;
    if (gcc) {
        words[count++] = "cc", words[count++] = "-frecord-gcc-switches";
    } else {
        const char *const driver[] = {
            format("%s/zig", zig), "clang", "-target", "x86_64-linux-gnu", "-frecord-command-line", "-nostdinc", "-isystem",
            format("%s/lib/include", zig), "-isystem", "/usr/include/x86_64-linux-gnu", "-isystem", "/usr/include"};
        for (size_t i = 0; i < sizeof driver / sizeof *driver; i++) words[count++] = driver[i];
    }
    // As native code is compiled: for the instruction set that every processor of it has, and
    // without fused multiplication and addition, which WebAssembly does not allow.
    const char *const both[] = {
        strcmp(chosen.opt, "none") == 0 ? "-O0" : "-O3", "-ffp-contract=off", "-std=gnu11", "-fPIC", "-w", "-DNDEBUG", "-c",
        "m.c", "glue.c", format("-I%s/debian/usr/src/wasm2c", own_folder()), format("-I%s/debian/usr/include", own_folder()),
        format("-I%s", work)};
    for (size_t i = 0; i < sizeof both / sizeof *both; i++) words[count++] = both[i];
    static const char *const guards[] = {"-DWASM_RT_MEMCHECK_GUARD_PAGES=1", NULL};
    static const char *const traps[] = {
        "-DWASM_RT_MEMCHECK_BOUNDS_CHECK=1", "-DWASM_RT_USE_MMAP=0", "-DWASM_RT_MAX_CALL_STACK_DEPTH=10000", NULL};
    for (const char *const *macro = guard ? guards : traps; *macro != NULL; macro++) words[count++] = *macro;
    words[count] = NULL;
    run_program(work, "unsupported", words);
    const char *const link[] = {"cc", "-shared", "m.o", "glue.o", "-o", "m.so", "-lm", NULL};
    run_program(work, "unsupported", link);
}

// The C name that wasm2c gave an import or export, and the type of its first
// parameter: its header names each in a comment and declares it on the next line.
struct declared {
    char *name, *first;
};

static struct declared declared(const char *header, const char *comment, const char *before) {
    const char *at = strstr(header, comment);
    const char *line = at == NULL ? NULL : strchr(at, '\n');
    const char *found = line == NULL ? NULL : strstr(line, before);
    if (found == NULL) fail("unsupported", "wasm2c names nothing for %s", comment);
    struct declared it = {.name = format("%.*s", (int)strcspn(found, "(;"), found)};
    // An imported memory is a member of the instance there, and declared elsewhere.
    char *call = format("%s(", it.name);
    const char *parameters = strstr(header, call);
    if (parameters == NULL) fail("unsupported", "wasm2c declares nothing for %s", comment);
    parameters += strlen(call);
    it.first = format("%.*s", (int)strcspn(parameters, ",)"), parameters);
    return it;
}

static const char *c_type(char letter) {
    switch (letter) {
    case 'i': return "u32";
    case 'I': return "u64";
    case 'f': return "f32";
    case 'F': return "f64";
    default: return NULL;
    }
}

// A WASI function that the module imports: hands its arguments on.
static void glue_wasi(FILE *glue, const char *header, const struct import *import, const struct signature *type) {
    const struct wasi_function *function = strcmp(import->module, WASI_MODULE) == 0 ? wasi_find(import->name) : NULL;
    if (function == NULL) fail("link", "unknown import: %s.%s", import->module, import->name);
    const char *results = strcmp(import->name, "proc_exit") == 0 ? "" : "i";
    if (strcmp(type->params, function->params) != 0 || strcmp(type->results, results) != 0) {
        fail("link", "incompatible import type: %s.%s", import->module, import->name);
    }
    struct declared it = declared(header, format("/* import: '%s' '%s' */", import->module, import->name), "w2c_");
    fprintf(glue, "%s %s(%s wasi", results[0] == '\0' ? "void" : "u32", it.name, it.first);
    for (size_t i = 0; type->params[i] != '\0'; i++) fprintf(glue, ", %s a%zu", c_type(type->params[i]), i);
    fprintf(glue, ") {\n    const u64 args[] = {0");
    for (size_t i = 0; type->params[i] != '\0'; i++) fprintf(glue, ", a%zu", i);
    fprintf(glue, "};\n    %sfathom_wasi(wasi, %zu, args + 1);\n}\n", results[0] == '\0' ? "" : "return ",
            (size_t)(function - wasi_functions));
}

// Defines what the module imports, and the arguments of its instantiation: for each
// module it imports from, in the order of first use, one pointer.
static void glue_imports(FILE *glue, const char *header, const struct module *facts, char *arguments, size_t room) {
    size_t memories = 0;
    arguments[0] = '\0';
    for (size_t i = 0; i < facts->import_count; i++) {
        const struct import *import = &facts->imports[i];
        size_t used = strlen(arguments);
        bool seen = false;
        for (size_t j = 0; j < i; j++) seen |= strcmp(facts->imports[j].module, import->module) == 0;
        if (import->kind == EXTERNAL_FUNC) {
            glue_wasi(glue, header, import, &facts->types[import->type]);
            if (!seen) snprintf(arguments + used, room - used, ", wasi");
        } else if (import->kind == EXTERNAL_MEMORY) {
            const char *comment = format("/* import: '%s' '%s' */", import->module, import->name);
            struct declared it = declared(header, comment, "w2c_");
            // The runner's memories come as a list; the accessor takes its own.
            fprintf(glue, "wasm_rt_memory_t *%s(%s memories) { return ((wasm_rt_memory_t **)memories)[%zu]; }\n", it.name,
                    it.first, memories++);
            if (!seen) snprintf(arguments + used, room - used, ", (void *)memories");
        } else {
            fail("link", "unknown import: %s.%s", import->module, import->name);
        }
    }
}

// One exported function, from and to bits.
static void glue_call(FILE *glue, const char *header, const struct export *export, const struct signature *type) {
    size_t results = strlen(type->results);
    for (const char *letter = type->params; *letter != '\0'; letter++) {
        if (c_type(*letter) == NULL) return;
    }
    for (const char *letter = type->results; *letter != '\0'; letter++) {
        if (c_type(*letter) == NULL) return;
    }
    const char *name = declared(header, format("/* export: '%s' */", export->name), "w2c_m_").name;
    fprintf(glue, "    case %u: {\n", export->index);
    for (size_t i = 0; type->params[i] != '\0'; i++) {
        fprintf(glue, "        %s a%zu; memcpy(&a%zu, args + %zu, sizeof a%zu);\n", c_type(type->params[i]), i, i, i, i);
    }
    fprintf(glue, "        %s%s(instance", results == 0 ? "" : "__auto_type made = ", name);
    for (size_t i = 0; type->params[i] != '\0'; i++) fprintf(glue, ", a%zu", i);
    fprintf(glue, ");\n");
    for (size_t i = 0; i < results; i++) {
        // Several results are a struct, whose members' letters are i, j, f and d.
        char letter = type->results[i] == 'I' ? 'j' : type->results[i] == 'F' ? 'd' : type->results[i];
        const char *one = results == 1 ? "made" : format("made.%c%zu", letter, i);
        fprintf(glue, "        results[%zu] = 0; memcpy(results + %zu, &%s, sizeof %s);\n", i, i, one, one);
    }
    fprintf(glue, "        return;\n    }\n");
}

static void write_glue(const struct module *facts, bool only_start) {
    char *header_path = in_work("m.h"), *glue_path = in_work("glue.c"), arguments[1024];
    const char *header = read_file(header_path, NULL);
    FILE *glue = fopen(glue_path, "w");
    if (glue == NULL) fail("io", "%s: %s", glue_path, strerror(errno));
    fprintf(glue, "#include <string.h>\n#include \"m.h\"\n"
                  "u32 fathom_wasi(void *wasi, unsigned long number, const u64 *args);\n");
    glue_imports(glue, header, facts, arguments, sizeof arguments);
    fprintf(glue, "unsigned long fathom_size(void) { return sizeof(w2c_m); }\n");
    fprintf(glue, "void fathom_instantiate(void *instance, void *wasi, void **memories) {\n"
                  "    wasm2c_m_instantiate(instance%s);\n}\n", arguments);
    fprintf(glue, "void fathom_free(void *instance) { wasm2c_m_free(instance); }\n");
    bool exports = module_export(facts, EXTERNAL_MEMORY, "memory") != NULL;
    const char *memory = exports ? declared(header, "/* export: 'memory' */", "w2c_m_").name : NULL;
    fprintf(glue, "void *fathom_memory(void *instance) { return %s%s; }\n", exports ? memory : "0",
            exports ? "(instance)" : "");
    fprintf(glue, "void fathom_call(unsigned place, void *instance, const u64 *args, u64 *results) {\n    switch (place) {\n");
    for (size_t i = 0; i < facts->export_count; i++) {
        const struct export *export = &facts->exports[i];
        bool wanted = export->kind == EXTERNAL_FUNC && (!only_start || strcmp(export->name, "_start") == 0);
        struct export numbered = {.name = export->name, .index = (uint32_t)i};
        if (wanted) glue_call(glue, header, &numbered, &facts->types[facts->functions[export->index]]);
    }
    fprintf(glue, "    }\n}\n");
    if (fclose(glue) != 0) fail("io", "%s: %s", glue_path, strerror(errno));
}

static int add_code(struct dl_phdr_info *info, size_t size, void *argument) {
    struct made *made = argument;
    (void)size;
    if (strcmp(info->dlpi_name, made->file) != 0) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_flags & PF_X) made->code_bytes += info->dlpi_phdr[i].p_memsz;
    }
    return 1;
}

// What the compiler recorded of itself: the section .GCC.command.line of the object.
static void read_record(struct made *made) {
    size_t size;
    const char *bytes = read_file(made->file, &size);
    const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)bytes;
    const ElfW(Shdr) *sections = (const ElfW(Shdr) *)(bytes + head->e_shoff);
    const char *names = bytes + sections[head->e_shstrndx].sh_offset;
    for (size_t i = 0; i < head->e_shnum; i++) {
        if (strcmp(names + sections[i].sh_name, ".GCC.command.line") != 0) continue;
        snprintf(made->record, sizeof made->record, "%.*s", (int)sections[i].sh_size, bytes + sections[i].sh_offset);
    }
    free((void *)bytes);
}

static void *symbol(void *object, const char *name) {
    void *found = dlsym(object, name);
    if (found == NULL) fail("internal", "what was compiled has no %s", name);
    return found;
}

// Makes m.so in the work folder.
static void make(const struct made *made, const uint8_t *bytes, size_t size, bool only_start) {
    FILE *file = fopen(in_work("m.wasm"), "wb");
    if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) fail("io", "%s: %s", work, strerror(errno));
    run_wasm2c();
    if (made->facts == NULL) fail("invalid", "its sections cannot be read");
    // Its check adds address and offset and compares the sum, which can wrap.
    for (size_t i = 0; i < made->facts->memory_count; i++) {
        if (!made->facts->memories[i].wide) continue;
        fail("invalid", "wasm2c 1.0.36 does not trap where address and offset exceed 64 bits: no 64-bit memories here");
    }
    write_glue(made->facts, only_start);
    run_compiler();
}

static void load(struct made *made) {
    void *object = dlopen(made->file, RTLD_NOW | RTLD_LOCAL);
    if (object == NULL) fail("internal", "%s", dlerror());
    made->size = symbol(object, "fathom_size");
    made->instantiate = symbol(object, "fathom_instantiate");
    made->free = symbol(object, "fathom_free");
    made->memory = symbol(object, "fathom_memory");
    made->call = symbol(object, "fathom_call");
    dl_iterate_phdr(add_code, made);
    read_record(made);
}

struct made *translate(const uint8_t *bytes, size_t size, bool only_start, const char *keep) {
    struct made *made = calloc(1, sizeof *made);
    if (made == NULL) fail("internal", "out of memory");
    char *kept = keep == NULL ? NULL : format("%s/%s", own_folder(), keep);
    made->facts = module_read(bytes, size);
    if (kept != NULL && access(kept, R_OK) == 0) {
        made->file = kept;
        load(made);
        return made;
    }
    // In the kept object's folder, so that it can be moved there whole.
    snprintf(work, sizeof work, "%s", keep == NULL ? in_temporary(WORK) : format("%s/" WORK, own_folder()));
    if (mkdtemp(work) == NULL) snprintf(work, sizeof work, "%s", in_temporary(WORK)), kept = NULL;
    if (strstr(work, FRESH) != NULL && mkdtemp(work) == NULL) fail("io", "%s: %s", work, strerror(errno));
    before_fail = sweep;
    make(made, bytes, size, only_start);
    made->file = in_work("m.so");
    if (kept != NULL && rename(made->file, kept) == 0) made->file = kept;
    load(made);
    sweep();
    before_fail = NULL;
    return made;
}
