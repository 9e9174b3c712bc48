/* files DIR: creates, writes, seeks, renames, lists and removes files in DIR.
 *
 * A walk through the file part of WASI preview 1, for tests and for tracing
 * system calls. Prints what it finds and leaves DIR as it was. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROUNDS = 50 };

static void check(int ok, const char *what) {
    if (ok) return;
    fprintf(stderr, "files: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void list(const char *path) {
    char *names[64];
    int count = 0;
    DIR *folder = opendir(path);
    check(folder != NULL, "opendir");
    for (struct dirent *entry; count < 64 && (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.') names[count++] = strdup(entry->d_name);
    check(closedir(folder) == 0, "closedir");
    qsort(names, (size_t)count, sizeof names[0], by_name);
    printf("%d entries:", count);
    for (int i = 0; i < count; i++) {
        printf(" %s", names[i]);
        free(names[i]);
    }
    printf("\n");
}

static void write_and_read(void) {
    char text[] = "0123456789", back[8] = {0};
    struct stat status;
    int file = open("a.txt", O_RDWR | O_CREAT | O_TRUNC, 0644);
    check(file >= 0, "open");
    for (int i = 0; i < ROUNDS; i++) check(write(file, text, 10) == 10, "write");
    check(lseek(file, -13, SEEK_END) == 10 * ROUNDS - 13, "lseek");
    check(read(file, back, 5) == 5, "read");
    check(pwrite(file, "ab", 2, 3) == 2, "pwrite");
    check(pread(file, back + 5, 2, 3) == 2, "pread");
    check(ftruncate(file, 100) == 0, "ftruncate");
    check(fsync(file) == 0, "fsync");
    check(fstat(file, &status) == 0, "fstat");
    check(close(file) == 0, "close");
    printf("read %s, %lld bytes, %s\n", back, (long long)status.st_size,
           S_ISREG(status.st_mode) ? "a file" : "not a file");
}

static void append(void) {
    int file = open("a.txt", O_WRONLY | O_APPEND);
    check(file >= 0, "open to append");
    check(write(file, "end", 3) == 3, "append");
    check(close(file) == 0, "close");
}

static void expect_errors(void) {
    check(open("missing", O_RDONLY) < 0 && errno == ENOENT, "open a missing file");
    check(mkdir("inner", 0755) < 0 && errno == EEXIST, "mkdir twice");
    check(rmdir("inner") < 0 && errno == ENOTEMPTY, "rmdir of a full folder");
    check(open("a.txt", O_CREAT | O_EXCL | O_WRONLY, 0644) < 0 && errno == EEXIST, "exclusive open");
    printf("errors as expected\n");
}

int main(int argc, char **argv) {
    struct stat status;
    if (argc != 2) {
        fprintf(stderr, "usage: files DIR\n");
        return 2;
    }
    check(chdir(argv[1]) == 0, "chdir");
    check(mkdir("files-scratch", 0755) == 0, "mkdir");
    check(chdir("files-scratch") == 0, "chdir");
    write_and_read();
    append();
    check(mkdir("inner", 0755) == 0, "mkdir");
    check(link("a.txt", "inner/b.txt") == 0, "link");
    check(symlink("a.txt", "c.txt") == 0, "symlink");
    check(stat("c.txt", &status) == 0 && status.st_size == 103, "stat through a link");
    expect_errors();
    list(".");
    list("inner");
    check(rename("inner/b.txt", "d.txt") == 0, "rename");
    list(".");
    check(unlink("a.txt") == 0 && unlink("c.txt") == 0 && unlink("d.txt") == 0, "unlink");
    check(rmdir("inner") == 0, "rmdir");
    check(chdir("..") == 0, "chdir");
    check(rmdir("files-scratch") == 0, "rmdir");
    return 0;
}
