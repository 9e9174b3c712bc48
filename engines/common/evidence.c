// How a load outside a memory is caught, with the engine's own fault handler wrapped
// for that moment. A fault inside the memory's reservation means that guard pages
// caught the access. No fault, or one at address 0 (where a Spectre-safe comparison
// sends an access that fails it), means that an explicit comparison did.

#include "evidence.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const uint8_t tiny_module[] = {
    0, 'a', 's', 'm', 1, 0, 0, 0, 1, 6, 1, 0x60, 1, 0x7f, 1, 0x7f, 3, 2, 1, 0, 5, 3, 1, 0, 1,
    7, 9, 2, 1, 'm', 2, 0, 1, 'f', 0, 0, 10, 9, 1, 7, 0, 0x20, 0, 0x28, 2, 0, 0x0b,
};
const size_t tiny_module_size = sizeof tiny_module;

// A 32-bit address and a 32-bit offset reach at most this far from the base.
#define REACH (8ull << 30)

static bool watching_now;
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

bool watch_behind(int number, const struct sigaction *action) {
    bool kept = watching_now && number == SIGSEGV && action != NULL;
    if (kept) previous = *action;
    return kept;
}

void add_evidence(struct hello *hello, const char *format, ...) {
    size_t used = strlen(hello->evidence);
    if (used > 0) used += (size_t)snprintf(hello->evidence + used, sizeof hello->evidence - used, "; ");
    if (used >= sizeof hello->evidence) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(hello->evidence + used, sizeof hello->evidence - used, format, arguments);
    va_end(arguments);
}

static void judge(struct hello *hello, bool trapped, uintptr_t base) {
    bool inside = base != 0 && fault_address >= base && fault_address < base + REACH;
    if (!trapped) {
        hello->checks = "none";
        add_evidence(hello, "a load outside the memory did not trap");
    } else if (faults == 0) {
        hello->checks = "explicit";
        add_evidence(hello, "a load outside the memory trapped without a fault");
    } else if (inside) {
        hello->checks = "guard pages";
        add_evidence(hello, "a load outside the memory faulted 0x%zx bytes after its start",
                     (size_t)(fault_address - base));
    } else if (fault_address < 4096) {
        hello->checks = "explicit";
        add_evidence(hello, "a load outside the memory was compared, then sent to the null address");
    } else {
        hello->checks = "unknown";
        add_evidence(hello, "a load outside the memory faulted somewhere else");
    }
}

void observe_checks(struct hello *hello, bool (*load_outside)(uintptr_t *base)) {
    struct sigaction watching = {.sa_sigaction = watch_fault, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    uintptr_t base = 0;
    faults = 0;
    sigemptyset(&watching.sa_mask);
    sigaction(SIGSEGV, &watching, &previous);
    watching_now = true;
    bool trapped = load_outside(&base);
    watching_now = false;
    sigaction(SIGSEGV, &previous, NULL);
    judge(hello, trapped, base);
}

uint64_t made_code_bytes(void) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    uint64_t total = 0;
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long from, to, inode;
        char rights[8], rest[256] = "";
        int fields = sscanf(line, "%lx-%lx %7s %*x %*s %lu %255s", &from, &to, rights, &inode, rest);
        // The kernel's own pages have names in brackets, as [vdso].
        if (fields >= 4 && inode == 0 && rights[2] == 'x' && strncmp(rest, "[v", 2) != 0) total += to - from;
    }
    if (maps != NULL) fclose(maps);
    return total;
}
