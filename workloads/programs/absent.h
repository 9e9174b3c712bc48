/* Declares what wasi-libc's headers leave out and lua.c defines. */
#ifndef ABSENT_H
#define ABSENT_H

#include <stdio.h>

int system(const char *);
FILE *tmpfile(void);
char *tmpnam(char *);

#endif
