/* files [COUNT]: many small files made, looked at in a walk over their folder, and removed. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io.h"

int main(int argc, char **argv) {
    uint64_t count = argument(argc, argv, 1, 1000), bytes = 0, made = 0, seen = 0;
    char name[64];
    MUST(mkdir("files.data", 0700) == 0);
    uint64_t start = now_ns();
    for (uint64_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "files.data/%" PRIu64, i);
        make_file(name, 100 + i % 100);
        made += 100 + i % 100;
    }
    DIR *folder = opendir("files.data");
    MUST(folder != NULL);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.') continue;
        struct stat about;
        snprintf(name, sizeof name, "files.data/%.40s", entry->d_name);
        MUST(stat(name, &about) == 0);
        bytes += (uint64_t)about.st_size, seen++;
    }
    MUST(closedir(folder) == 0 && seen == count);
    for (uint64_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "files.data/%" PRIu64, i);
        MUST(unlink(name) == 0);
    }
    uint64_t ns = now_ns() - start;
    MUST(rmdir("files.data") == 0);
    return report(right(bytes == made && seen == count), ns);
}
