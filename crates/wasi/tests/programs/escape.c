/* Every way out of the folder. The test puts links beside this program's own:
 * "out-absolute" and "out-relative" lead to a folder outside with a file
 * "secret" in it. */
#include "check.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void) {
    char target[256];
    struct stat st;
    struct timespec times[2] = {{1, 0}, {1, 0}};
    close(open("own", O_CREAT | O_WRONLY, 0644));
    mkdir("sub", 0755);
    REFUSED(open("..", O_RDONLY));
    REFUSED(open("../outside/secret", O_RDONLY));
    REFUSED(open("sub/../../outside/secret", O_RDONLY));
    REFUSED(open("out-absolute/secret", O_RDONLY));
    REFUSED(open("out-relative/secret", O_RDONLY));
    REFUSED(open("out-relative/new", O_RDWR | O_CREAT, 0644));
    REFUSED(open("/etc/passwd", O_RDONLY));
    REFUSED(stat("../outside", &st));
    REFUSED(stat("out-relative/secret", &st));
    REFUSED(stat("out-relative/", &st));
    REFUSED(lstat("out-absolute/", &st));
    REFUSED(mkdir("../new", 0755));
    REFUSED(mkdir("out-relative/new", 0755));
    REFUSED(rmdir("out-relative/"));
    REFUSED(rmdir("../outside"));
    REFUSED(unlink("out-relative/secret"));
    REFUSED(unlink("../outside/secret"));
    REFUSED(rename("out-relative/secret", "stolen"));
    REFUSED(rename("own", "out-relative/own"));
    REFUSED(rename("own", "../own"));
    REFUSED(link("out-relative/secret", "stolen"));
    REFUSED(link("own", "../own"));
    REFUSED(symlink("own", "../own"));
    REFUSED(symlink("own", "out-absolute/own"));
    REFUSED(readlink("../outside/link", target, sizeof target));
    REFUSED(readlink("out-relative/link", target, sizeof target));
    REFUSED(utimensat(AT_FDCWD, "out-relative/secret", times, 0));
    REFUSED(opendir("out-relative") ? 0 : -1);
    REFUSED(opendir("../") ? 0 : -1);
    /* A link of its own that leads out is as useless. */
    symlink("../outside", "mine");
    REFUSED(open("mine/secret", O_RDONLY));
    REFUSED(stat("mine/", &st));
    /* What stays inside is allowed. */
    TRY(stat("sub/../own", &st));
    TRY(open("sub/../sub/../own", O_RDONLY));
    TRY(lstat("out-relative", &st));
    TRY(unlink("out-relative"));
    return 0;
}
