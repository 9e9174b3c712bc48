// See ahead.h. Everything is made in a folder that is gone afterwards.

#define _GNU_SOURCE
#include "ahead.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program.h"

static char *work;

static void sweep(void) {
    static const char *const names[] = {"m.wasm", "m.aot", SAID};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = format("%s/%s", work, names[i]);
        unlink(path);
        free(path);
    }
    rmdir(work);
}

bool can_compile_ahead(void) {
    return access(format("%s/wamrc", own_folder()), X_OK) == 0;
}

static void write_module(const uint8_t *bytes, size_t size) {
    char *path = format("%s/m.wasm", work);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) fail("io", "%s: %s", path, strerror(errno));
    free(path);
}

uint8_t *compile_ahead(struct choice choice, const uint8_t *bytes, size_t size, size_t *made_size) {
    bool compared = strcmp(choice.strategy, "trap") == 0, none = strcmp(choice.opt, "none") == 0;
    work = in_temporary("fathom-wamr-" FRESH);
    if (mkdtemp(work) == NULL) fail("io", "%s: %s", work, strerror(errno));
    before_fail = sweep;
    write_module(bytes, size);
    const char *const words[] = {
        format("%s/wamrc", own_folder()), none ? "--opt-level=0" : "--opt-level=3",
        compared ? "--bounds-checks=1" : "--bounds-checks=0", "--enable-bulk-memory", "-o", "m.aot", "m.wasm", NULL};
    run_program(work, "unsupported", words);
    char *path = format("%s/m.aot", work);
    // Its exit status is 0 in any case.
    if (access(path, R_OK) != 0) {
        const char *why = complaint(work);
        fail(strncmp(why, "WASM module load failed", 23) == 0 ? "invalid" : "unsupported", "%s", why);
    }
    uint8_t *made = (uint8_t *)read_file(path, made_size);
    free(path);
    sweep();
    before_fail = NULL;
    return made;
}
