// Where a runner lies, and programs that it starts: compilers that are not libraries.

#ifndef FATHOM_PROGRAM_H
#define FATHOM_PROGRAM_H

// The folder this program lies in.
const char *own_folder(void);

// A text of its own, as `printf` would write it.
char *format(const char *pattern, ...) __attribute__((format(printf, 1, 2)));

// Where, in its folder, a started program leaves what it has to say.
#define SAID "said"
// Runs a program in a folder until it ends; it ends with this one. Its failure is
// ours, of that kind.
void run_program(const char *folder, const char *kind, const char *const *words);
// The first line of what the last one said, without the folder.
const char *complaint(const char *folder);

#endif
