// See program.h.

#define _GNU_SOURCE
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events.h"

const char *own_folder(void) {
    static char folder[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (length < 0) fail("internal", "cannot find this program: %s", strerror(errno));
    folder[length] = '\0';
    *strrchr(folder, '/') = '\0';
    return folder;
}

char *format(const char *pattern, ...) {
    char *text;
    va_list arguments;
    va_start(arguments, pattern);
    if (vasprintf(&text, pattern, arguments) < 0) fail("internal", "out of memory");
    va_end(arguments);
    return text;
}

const char *complaint(const char *folder) {
    static char line[600];
    char *path = format("%s/" SAID, folder);
    FILE *said = fopen(path, "r");
    free(path);
    line[0] = '\0';
    while (said != NULL && fgets(line, sizeof line, said) != NULL && strspn(line, " \n") == strlen(line)) continue;
    if (said != NULL) fclose(said);
    line[strcspn(line, "\n")] = '\0';
    const char *text = strncmp(line, folder, strlen(folder)) == 0 ? line + strlen(folder) + 1 : line;
    return text[0] == '\0' ? "it failed without a word" : text;
}

void run_program(const char *folder, const char *kind, const char *const *words) {
    char *said = format("%s/" SAID, folder);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int output = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(output, 1), dup2(output, 2);
        if (chdir(folder) == 0) execvp(words[0], (char *const *)words);
        dprintf(2, "%s: %s\n", words[0], strerror(errno));
        _exit(127);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) < 0) fail("internal", "cannot start %s: %s", words[0], strerror(errno));
    if (status != 0) fail(kind, "%s", complaint(folder));
    free(said);
}
