// What is really in force, observed instead of believed.
//
// Checks: one load outside a memory, with the engine's own SIGSEGV handler
// wrapped for that moment. A fault inside the memory's reservation means that
// guard pages caught the access. No fault, or one at address 0 (Cranelift's
// Spectre-safe comparison selects the null address when it fails), means that an
// explicit comparison did.
//
// Tier and code: a compiled module is an ELF image in memory. Its .text is the
// machine code, and the engine writes the settings it compiled with beside it. An
// image for the interpreter says so in its header's flags.

#define _GNU_SOURCE
#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wasmtime_engine.h"

// (module (memory (export "m") 1) (func (export "f") (param i32) (result i32)
//   local.get 0  i32.load))
static const uint8_t tiny[] = {
    0, 'a', 's', 'm', 1, 0, 0, 0, 1, 6, 1, 0x60, 1, 0x7f, 1, 0x7f, 3, 2, 1, 0, 5, 3, 1, 0, 1,
    7, 9, 2, 1, 'm', 2, 0, 1, 'f', 0, 0, 10, 9, 1, 7, 0, 0x20, 0, 0x28, 2, 0, 0x0b,
};
#define OUTSIDE 0x20000
// A 32-bit address and a 32-bit offset reach at most this far from the base.
#define REACH (8ull << 30)
// In the ELF header of an image: its code is Pulley's, of 64 bits.
#define FLAG_PULLEY64 8u

static struct sigaction previous;
static volatile sig_atomic_t faults;
static volatile uintptr_t fault_address;

static void watch_fault(int signal, siginfo_t *info, void *context) {
    faults++;
    fault_address = (uintptr_t)info->si_addr;
    if (previous.sa_flags & SA_SIGINFO) previous.sa_sigaction(signal, info, context);
    else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) previous.sa_handler(signal);
    else abort();
}

// Calls the tiny module's load outside its memory; true where that trapped.
static bool load_outside(wasmtime_context_t *context, const wasmtime_instance_t *instance, uintptr_t *base) {
    wasmtime_extern_t memory, load;
    wasm_trap_t *trap = NULL;
    if (!wasmtime_instance_export_get(context, instance, "m", 1, &memory)) return false;
    if (!wasmtime_instance_export_get(context, instance, "f", 1, &load)) return false;
    *base = (uintptr_t)wasmtime_memory_data(context, &memory.of.memory);
    wasmtime_val_t argument = {.kind = WASMTIME_I32, .of.i32 = OUTSIDE}, result;
    wasmtime_error_t *error = wasmtime_func_call(context, &load.of.func, &argument, 1, &result, 1, &trap);
    if (error != NULL) wasmtime_error_delete(error);
    if (trap == NULL) return false;
    wasm_trap_delete(trap);
    return true;
}

static struct evidence judge(bool trapped, uintptr_t base) {
    struct evidence found = {.checks = "explicit"};
    if (!trapped) {
        found.checks = "none";
        snprintf(found.text, sizeof found.text, "a load outside the memory did not trap");
    } else if (faults == 0) {
        snprintf(found.text, sizeof found.text, "a load outside the memory trapped without a fault");
    } else if (fault_address >= base && fault_address < base + REACH) {
        found.checks = "guard pages";
        snprintf(found.text, sizeof found.text, "a load outside the memory faulted 0x%zx bytes after its start",
                 (size_t)(fault_address - base));
    } else if (fault_address < 4096) {
        snprintf(found.text, sizeof found.text,
                 "a load outside the memory was compared, then sent to the null address");
    } else {
        found.checks = "unknown";
        snprintf(found.text, sizeof found.text, "a load outside the memory faulted somewhere else");
    }
    return found;
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

struct evidence observe(wasm_engine_t *engine) {
    struct evidence unknown = {.checks = "unknown", .text = "the module to find out with did not run"};
    wasmtime_module_t *module = NULL;
    wasmtime_instance_t instance;
    wasm_trap_t *trap = NULL;
    uintptr_t base = 0;
    if (wasmtime_module_new(engine, tiny, sizeof tiny, &module) != NULL) return unknown;
    wasmtime_store_t *store = wasmtime_store_new(engine, NULL, NULL);
    wasmtime_context_t *context = wasmtime_store_context(store);
    if (wasmtime_instance_new(context, module, NULL, 0, &instance, &trap) != NULL || trap != NULL) return unknown;

    struct sigaction watching = {.sa_sigaction = watch_fault, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    sigemptyset(&watching.sa_mask);
    sigaction(SIGSEGV, &watching, &previous);
    bool trapped = load_outside(context, &instance, &base);
    sigaction(SIGSEGV, &previous, NULL);

    struct evidence found = judge(trapped, base);
    found.made_by = made_by(module);
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
