/* Directories and links. */
#include "check.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int by_name(const void *a, const void *b) {
    return strcmp(*(char **)a, *(char **)b);
}

static void list(const char *path) {
    DIR *dir = opendir(path);
    if (!dir) {
        printf("opendir %s: %s\n", path, strerror(errno));
        return;
    }
    char *names[2048];
    int count = 0;
    struct dirent *entry;
    while ((entry = readdir(dir))) {
        /* Not every runtime lists these two. */
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        char text[300];
        snprintf(text, sizeof text, "%s (%d)", entry->d_name, entry->d_type);
        names[count++] = strdup(text);
    }
    qsort(names, count, sizeof *names, by_name);
    printf("%s:", path);
    for (int i = 0; i < count && i < 8; i++)
        printf(" %s", names[i]);
    printf(" [%d]\n", count);
    closedir(dir);
}

static void folders(void) {
    TRY(mkdir("d", 0755));
    TRY(mkdir("d", 0755));
    TRY(mkdir("d/e/f", 0755));
    TRY(mkdir("d/e", 0755));
    TRY(rmdir("d"));
    TRY(close(open("d/e/file", O_CREAT | O_WRONLY, 0644)));
    list("d/e");
    TRY(rmdir("d/e/file"));
    TRY(unlink("d/e"));
    struct stat st;
    TRY(stat("d/e/../e/./file", &st));
    HOLDS(S_ISREG(st.st_mode));
    TRY(stat("d", &st));
    HOLDS(S_ISDIR(st.st_mode));
    TRY(stat("d/e/file/", &st));
    TRY(access("d/e/file", R_OK));
    TRY(access("d/e/none", F_OK));
}

static void renames(void) {
    TRY(rename("d/e/file", "d/moved"));
    TRY(rename("d/e/file", "d/again"));
    TRY(rename("d/e", "d/moved"));
    TRY(rename("d/moved", "d/e"));
    TRY(rename("d/e", "g"));
    TRY(rename("g/", "h/"));
    TRY(rename("d/moved", "h/file"));
    list("h");
    list("d");
    list("none");
}

static void links(void) {
    char target[64] = {0};
    struct stat st;
    TRY(link("h/file", "h/hard"));
    TRY(stat("h/hard", &st));
    HOLDS(st.st_nlink == 2);
    TRY(link("h/file", "h/hard"));
    TRY(symlink("file", "h/soft"));
    TRY(symlink("file", "h/soft"));
    VALUE(readlink("h/soft", target, sizeof target));
    printf("target '%s'\n", target);
    VALUE(readlink("h/soft", target, 2));
    TRY(readlink("h/file", target, sizeof target));
    TRY(lstat("h/soft", &st));
    HOLDS(S_ISLNK(st.st_mode));
    TRY(stat("h/soft", &st));
    HOLDS(S_ISREG(st.st_mode));
    TRY(symlink("loop", "loop"));
    TRY(open("loop", O_RDONLY));
    TRY(open("h/soft", O_RDONLY | O_NOFOLLOW));
    list("h");
    TRY(symlink("nowhere", "dangling"));
    TRY(stat("dangling", &st));
    TRY(unlink("dangling"));
    TRY(unlink("loop"));
}

static void many(void) {
    char name[32];
    mkdir("many", 0755);
    for (int i = 0; i < 1500; i++) {
        snprintf(name, sizeof name, "many/entry-%04d", i);
        close(open(name, O_CREAT | O_WRONLY, 0644));
    }
    list("many");
    for (int i = 0; i < 1500; i += 2) {
        snprintf(name, sizeof name, "many/entry-%04d", i);
        unlink(name);
    }
    list("many");
    DIR *dir = opendir("many");
    for (int i = 0; i < 100; i++)
        readdir(dir);
    long place = telldir(dir);
    char *after = strdup(readdir(dir)->d_name);
    for (int i = 0; i < 300; i++)
        readdir(dir);
    seekdir(dir, place);
    HOLDS(strcmp(readdir(dir)->d_name, after) == 0);
    rewinddir(dir);
    int count = 0;
    while (readdir(dir))
        count++;
    HOLDS(count == 750 || count == 752);
    closedir(dir);
}

int main(void) {
    folders();
    renames();
    links();
    many();
    return 0;
}
