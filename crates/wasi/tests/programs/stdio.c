/* Arguments, environment, standard streams, exit status. */
#include "check.h"
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        printf("argv[%d] = '%s'\n", i, argv[i]);
    for (char **pair = environ; *pair; pair++)
        printf("environ: %s\n", *pair);
    HOLDS(getenv("FATHOM_NOT_SET") == NULL);
    HOLDS(!isatty(0) && !isatty(1));
    char line[256];
    int lines = 0;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        printf("stdin %d: %s\n", ++lines, line);
    }
    HOLDS(feof(stdin) && !ferror(stdin));
    TRY(lseek(99, 0, SEEK_SET));
    TRY(write(99, "x", 1));
    fprintf(stderr, "to standard error\n");
    fflush(stdout);
    TRY(write(1, "unbuffered\n", 11));
    return 7;
}
