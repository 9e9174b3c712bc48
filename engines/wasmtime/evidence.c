// What is really in force, observed instead of believed.
//
// Checks: see common/evidence.c. Tier and code: a compiled module is an ELF image in
// memory. Its .text is the machine code, and the engine writes the settings it
// compiled with beside it. An image for the interpreter says so in its header's
// flags.

#define _GNU_SOURCE
#include <elf.h>
#include <string.h>

#include "evidence.h"
#include "wasmtime_engine.h"

// In the ELF header of an image: its code is Pulley's, of 64 bits.
#define FLAG_PULLEY64 8u

static wasmtime_context_t *context;
static wasmtime_instance_t instance;

// Calls the tiny module's load outside its memory; true where that trapped.
static bool load_outside(uintptr_t *base) {
    wasmtime_extern_t memory, load;
    wasm_trap_t *trap = NULL;
    if (!wasmtime_instance_export_get(context, &instance, "m", 1, &memory)) return false;
    if (!wasmtime_instance_export_get(context, &instance, "f", 1, &load)) return false;
    *base = (uintptr_t)wasmtime_memory_data(context, &memory.of.memory);
    wasmtime_val_t argument = {.kind = WASMTIME_I32, .of.i32 = TINY_OUTSIDE}, result;
    wasmtime_error_t *error = wasmtime_func_call(context, &load.of.func, &argument, 1, &result, 1, &trap);
    if (error != NULL) wasmtime_error_delete(error);
    if (trap == NULL) return false;
    wasm_trap_delete(trap);
    return true;
}

// The bytes of a compiled module's image; false where it is not the ELF we know.
static bool image_of(const wasmtime_module_t *module, const char **start, size_t *size) {
    void *from, *to;
    wasmtime_module_image_range(module, &from, &to);
    *start = from;
    *size = (size_t)((char *)to - (char *)from);
    return *size >= sizeof(Elf64_Ehdr) && memcmp(from, ELFMAG, SELFMAG) == 0;
}

// What an image says of its making: "opt_level" at "speed" is the setting's name, a
// variant's number, the length of its name, its name. Winch, whose level the runner
// leaves alone, and an unoptimised Cranelift write "none" there.
static enum made_by made_by(const wasmtime_module_t *module) {
    static const char setting[] = "opt_level\0\5speed";
    const char *image;
    size_t size;
    if (!image_of(module, &image, &size)) return MADE_BY_UNKNOWN;
    if (((const Elf64_Ehdr *)image)->e_flags & FLAG_PULLEY64 && code_bytes(module) == 0) return MADE_FOR_INTERPRETER;
    return memmem(image, size, setting, sizeof setting - 1) != NULL ? MADE_BY_OPTIMISER : MADE_BY_OTHER;
}

enum made_by observe(wasm_engine_t *engine, struct hello *hello) {
    wasmtime_module_t *module = NULL;
    wasm_trap_t *trap = NULL;
    hello->checks = "unknown";
    if (wasmtime_module_new(engine, tiny_module, tiny_module_size, &module) != NULL) return MADE_BY_UNKNOWN;
    wasmtime_store_t *store = wasmtime_store_new(engine, NULL, NULL);
    context = wasmtime_store_context(store);
    if (wasmtime_instance_new(context, module, NULL, 0, &instance, &trap) != NULL || trap != NULL) return MADE_BY_UNKNOWN;
    enum made_by found = made_by(module);
    observe_checks(hello, load_outside);
    wasmtime_store_delete(store);
    wasmtime_module_delete(module);
    return found;
}

uint64_t code_bytes(const wasmtime_module_t *module) {
    const char *image;
    size_t size;
    if (!image_of(module, &image, &size)) return 0;
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)image;
    size_t table_size = (size_t)header->e_shnum * sizeof(Elf64_Shdr);
    if (header->e_shoff > size || table_size > size - header->e_shoff) return 0;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(image + header->e_shoff);
    uint64_t total = 0;
    for (size_t i = 0; i < header->e_shnum; i++) {
        if (sections[i].sh_flags & SHF_EXECINSTR) total += sections[i].sh_size;
    }
    return total;
}
