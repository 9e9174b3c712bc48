/* Calls on paths at the interface itself: what each does, and each of its errors. */
#include "check.h"
#include <wasi/api.h>

enum { FOLDER = 3, FOLLOW = __WASI_LOOKUPFLAGS_SYMLINK_FOLLOW };

static const __wasi_rights_t DIR_RIGHTS = __WASI_RIGHTS_FD_READDIR | __WASI_RIGHTS_PATH_OPEN;

/* Opens and closes again: the error. */
static int opened(int dir, int lookup, const char *path, int oflags, __wasi_rights_t rights) {
    __wasi_fd_t fd;
    int error = __wasi_path_open(dir, lookup, path, oflags, rights, rights, 0, &fd);
    return error ? error : __wasi_fd_close(fd);
}

static int file(const char *path) {
    return opened(FOLDER, 0, path, __WASI_OFLAGS_CREAT, __WASI_RIGHTS_FD_WRITE);
}

static void opening(void) {
    __wasi_rights_t read = __WASI_RIGHTS_FD_READ;
    ERRNO(file("file"));
    ERRNO(opened(FOLDER, 0, "file", __WASI_OFLAGS_CREAT | __WASI_OFLAGS_EXCL, read));
    ERRNO(opened(FOLDER, 0, "missing", 0, read));
    ERRNO(opened(FOLDER, 0, "missing/file", __WASI_OFLAGS_CREAT, read));
    ERRNO(opened(FOLDER, 0, "file", __WASI_OFLAGS_DIRECTORY, read));
    ERRNO(opened(FOLDER, 0, "file/", 0, read));
    ERRNO(opened(FOLDER, 0, "file/below", 0, read));
    ERRNO(opened(FOLDER, 0, ".", __WASI_OFLAGS_DIRECTORY, DIR_RIGHTS));
    ERRNO(opened(FOLDER, 0, ".", 0, __WASI_RIGHTS_FD_READ | __WASI_RIGHTS_FD_WRITE));
    ERRNO(opened(FOLDER, 0, "", 0, read));
    ERRNO(opened(99, 0, "file", 0, read));
    ERRNO(opened(FOLDER, 0, "dir", __WASI_OFLAGS_CREAT | __WASI_OFLAGS_DIRECTORY, read));
    char name[300];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    ERRNO(opened(FOLDER, 0, name, 0, read));
}

static void folders(void) {
    ERRNO(__wasi_path_create_directory(FOLDER, "dir"));
    ERRNO(__wasi_path_create_directory(FOLDER, "dir"));
    ERRNO(__wasi_path_create_directory(FOLDER, "dir/"));
    ERRNO(__wasi_path_create_directory(FOLDER, "slash/"));
    ERRNO(__wasi_path_create_directory(FOLDER, "missing/dir"));
    ERRNO(__wasi_path_create_directory(FOLDER, "file/dir"));
    ERRNO(__wasi_path_create_directory(99, "dir"));
    ERRNO(__wasi_path_create_directory(FOLDER, "dir/inner"));
    ERRNO(__wasi_path_remove_directory(FOLDER, "dir"));
    ERRNO(__wasi_path_remove_directory(FOLDER, "file"));
    ERRNO(__wasi_path_remove_directory(FOLDER, "missing"));
    ERRNO(__wasi_path_remove_directory(FOLDER, "dir/inner"));
    ERRNO(__wasi_path_remove_directory(FOLDER, "slash"));
    ERRNO(__wasi_path_unlink_file(FOLDER, "dir"));
    ERRNO(__wasi_path_unlink_file(FOLDER, "dir/"));
    ERRNO(__wasi_path_unlink_file(FOLDER, "file/"));
    ERRNO(__wasi_path_unlink_file(FOLDER, "missing"));
}

static int readlink_of(const char *path, __wasi_size_t len) {
    char target[64] = {0};
    __wasi_size_t used = 0;
    int error = __wasi_path_readlink(FOLDER, path, (uint8_t *)target, len, &used);
    if (error == 0)
        printf("'%.*s' ", (int)used, target);
    return error;
}

static void links(void) {
    __wasi_filestat_t stat;
    ERRNO(__wasi_path_symlink("file", FOLDER, "link"));
    ERRNO(__wasi_path_symlink("file", FOLDER, "link"));
    ERRNO(__wasi_path_symlink("nowhere", FOLDER, "dangling"));
    ERRNO(__wasi_path_symlink("loop", FOLDER, "loop"));
    ERRNO(__wasi_path_symlink("dir", FOLDER, "todir"));
    ERRNO(__wasi_path_symlink("x", FOLDER, "missing/link"));
    ERRNO(__wasi_path_symlink("x", FOLDER, "new/"));
    ERRNO(__wasi_path_symlink("x", FOLDER, "dir/"));
    ERRNO(readlink_of("link", 64));
    ERRNO(readlink_of("link", 2));
    ERRNO(readlink_of("file", 64));
    ERRNO(readlink_of("missing", 64));
    ERRNO(opened(FOLDER, 0, "link", 0, __WASI_RIGHTS_FD_READ));
    ERRNO(opened(FOLDER, FOLLOW, "link", 0, __WASI_RIGHTS_FD_READ));
    ERRNO(opened(FOLDER, FOLLOW, "dangling", 0, __WASI_RIGHTS_FD_READ));
    ERRNO(opened(FOLDER, 0, "dangling", __WASI_OFLAGS_CREAT | __WASI_OFLAGS_EXCL,
                 __WASI_RIGHTS_FD_READ));
    ERRNO(opened(FOLDER, FOLLOW, "loop", 0, __WASI_RIGHTS_FD_READ));
    ERRNO(opened(FOLDER, 0, "todir/", __WASI_OFLAGS_DIRECTORY, DIR_RIGHTS));
    ERRNO(__wasi_path_filestat_get(FOLDER, 0, "dangling", &stat));
    HOLDS(stat.filetype == __WASI_FILETYPE_SYMBOLIC_LINK);
    ERRNO(__wasi_path_filestat_get(FOLDER, FOLLOW, "dangling", &stat));
    ERRNO(__wasi_path_filestat_get(FOLDER, FOLLOW, "link", &stat));
    HOLDS(stat.filetype == __WASI_FILETYPE_REGULAR_FILE);
    ERRNO(__wasi_path_link(FOLDER, 0, "file", FOLDER, "second"));
    ERRNO(__wasi_path_filestat_get(FOLDER, 0, "second", &stat));
    printf("%d names\n", (int)stat.nlink);
    ERRNO(__wasi_path_link(FOLDER, 0, "file", FOLDER, "second"));
    ERRNO(__wasi_path_link(FOLDER, 0, "missing", FOLDER, "third"));
    ERRNO(__wasi_path_link(FOLDER, 0, "dir", FOLDER, "third"));
    ERRNO(__wasi_path_link(FOLDER, 0, "dangling", FOLDER, "third"));
    ERRNO(__wasi_path_link(FOLDER, 0, "file", FOLDER, "fourth/"));
    ERRNO(__wasi_path_unlink_file(FOLDER, "third"));
    ERRNO(__wasi_path_unlink_file(FOLDER, "loop"));
}

static void renames(void) {
    ERRNO(__wasi_path_rename(FOLDER, "second", FOLDER, "moved"));
    ERRNO(__wasi_path_rename(FOLDER, "second", FOLDER, "moved"));
    ERRNO(__wasi_path_rename(FOLDER, "moved", FOLDER, "file"));
    ERRNO(__wasi_path_rename(FOLDER, "file", FOLDER, "dir"));
    ERRNO(__wasi_path_rename(FOLDER, "dir", FOLDER, "file"));
    ERRNO(__wasi_path_rename(FOLDER, "file/", FOLDER, "new"));
    ERRNO(__wasi_path_create_directory(FOLDER, "full"));
    ERRNO(__wasi_path_create_directory(FOLDER, "full/inner"));
    ERRNO(__wasi_path_rename(FOLDER, "dir", FOLDER, "full"));
    ERRNO(__wasi_path_rename(FOLDER, "full", FOLDER, "full/inner/itself"));
    ERRNO(__wasi_path_rename(FOLDER, "full", FOLDER, "dir/"));
    ERRNO(__wasi_path_rename(FOLDER, "dangling", FOLDER, "still dangling"));
    ERRNO(readlink_of("still dangling", 64));
}

static void times(void) {
    __wasi_filestat_t stat;
    int both = __WASI_FSTFLAGS_ATIM | __WASI_FSTFLAGS_MTIM;
    ERRNO(__wasi_path_filestat_set_times(FOLDER, FOLLOW, "link", 5, 7, both));
    ERRNO(__wasi_path_filestat_get(FOLDER, 0, "file", &stat));
    printf("read at %d, written at %d\n", (int)stat.atim, (int)stat.mtim);
    ERRNO(__wasi_path_filestat_set_times(FOLDER, 0, "file", 0, 9, __WASI_FSTFLAGS_MTIM));
    ERRNO(__wasi_path_filestat_get(FOLDER, 0, "file", &stat));
    printf("read at %d, written at %d\n", (int)stat.atim, (int)stat.mtim);
    ERRNO(__wasi_path_filestat_set_times(FOLDER, 0, "file", 1, 1,
                                         __WASI_FSTFLAGS_ATIM | __WASI_FSTFLAGS_ATIM_NOW));
    ERRNO(__wasi_path_filestat_set_times(FOLDER, 0, "missing", 1, 1, both));
}

int main(void) {
    opening();
    folders();
    links();
    renames();
    times();
    return 0;
}
