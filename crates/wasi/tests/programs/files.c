/* Files: opening, reading, writing, seeking, sizes, times. */
#include "check.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static void show(int fd) {
    char text[64];
    ssize_t got = pread(fd, text, sizeof text - 1, 0);
    text[got < 0 ? 0 : got] = 0;
    printf("contents: '%s'\n", text);
}

static void open_modes(void) {
    TRY(open("missing", O_RDONLY));
    int fd;
    TRY(fd = open("f", O_RDWR | O_CREAT | O_EXCL, 0644));
    TRY(open("f", O_RDWR | O_CREAT | O_EXCL, 0644));
    VALUE(write(fd, "hello world", 11));
    VALUE(lseek(fd, -5, SEEK_END));
    char text[16] = {0};
    VALUE(read(fd, text, sizeof text));
    printf("read: '%s'\n", text);
    VALUE(read(fd, text, sizeof text));
    VALUE(lseek(fd, 0, SEEK_CUR));
    VALUE(lseek(fd, -1, SEEK_SET));
    VALUE(lseek(fd, 100, SEEK_SET));
    VALUE(write(fd, "!", 1));
    struct stat st;
    TRY(fstat(fd, &st));
    HOLDS(st.st_size == 101 && S_ISREG(st.st_mode) && st.st_nlink == 1);
    TRY(ftruncate(fd, 5));
    show(fd);
    TRY(close(fd));
    TRY(close(fd));
    TRY(fd = open("f", O_WRONLY | O_APPEND));
    VALUE(write(fd, "+", 1));
    TRY(read(fd, text, 1));
    TRY(close(fd));
    TRY(fd = open("f", O_RDONLY));
    show(fd);
    TRY(write(fd, "x", 1));
    TRY(close(fd));
    TRY(fd = open("f", O_RDWR | O_TRUNC));
    TRY(fstat(fd, &st));
    HOLDS(st.st_size == 0);
    TRY(close(fd));
    TRY(open("f", O_RDONLY | O_DIRECTORY));
    TRY(open(".", O_RDWR));
    TRY(open("f/", O_RDONLY));
}

static void vectors(void) {
    int fd = open("v", O_RDWR | O_CREAT, 0644);
    /* A short transfer is a correct one: go on where it stopped. */
    struct iovec out[2] = {{"ab", 2}, {"cdef", 4}};
    if (writev(fd, out, 2) == 2)
        writev(fd, out + 1, 1);
    char one[3] = {0}, two[8] = {0};
    struct iovec in[2] = {{one, 2}, {two, 7}};
    lseek(fd, 1, SEEK_SET);
    ssize_t got = readv(fd, in, 2);
    if (got >= 0 && got < 2) {
        read(fd, one + got, 2 - got);
        got = 2;
    }
    if (got == 2)
        read(fd, two, 7);
    printf("'%s' '%s'\n", one, two);
    VALUE(pwrite(fd, "XY", 2, 3));
    VALUE(pread(fd, two, 3, 2));
    two[3] = 0;
    printf("'%s'\n", two);
    VALUE(lseek(fd, 0, SEEK_CUR));
    show(fd);
    close(fd);
}

static void metadata(void) {
    int fd = open("m", O_RDWR | O_CREAT, 0644);
    struct timespec times[2] = {{1000000000, 123456789}, {1500000000, 5}};
    TRY(futimens(fd, times));
    struct stat st;
    TRY(fstat(fd, &st));
    HOLDS(st.st_atim.tv_sec == 1000000000 && st.st_atim.tv_nsec == 123456789);
    HOLDS(st.st_mtim.tv_sec == 1500000000 && st.st_mtim.tv_nsec == 5);
    times[1].tv_sec = 1600000000;
    TRY(utimensat(AT_FDCWD, "m", times, 0));
    TRY(stat("m", &st));
    HOLDS(st.st_atim.tv_sec == 1000000000 && st.st_mtim.tv_sec == 1600000000);
    TRY(fsync(fd));
    TRY(fdatasync(fd));
    HOLDS(posix_fadvise(fd, 0, 10, POSIX_FADV_SEQUENTIAL) == 0);
    TRY(ftruncate(fd, 4096));
    TRY(fstat(fd, &st));
    HOLDS(st.st_size == 4096);
    int flags = fcntl(fd, F_GETFL);
    HOLDS((flags & O_ACCMODE) == O_RDWR && !(flags & O_APPEND));
    TRY(fcntl(fd, F_SETFL, O_APPEND));
    HOLDS(fcntl(fd, F_GETFL) & O_APPEND);
    VALUE(write(fd, "end", 3));
    TRY(fstat(fd, &st));
    HOLDS(st.st_size == 4099);
    close(fd);
}

static void buffered(void) {
    FILE *file = fopen("b", "w+");
    for (int i = 0; i < 20000; i++)
        fprintf(file, "%d\n", i);
    VALUE(ftell(file));
    rewind(file);
    long sum = 0;
    int value;
    while (fscanf(file, "%d", &value) == 1)
        sum += value;
    VALUE(sum);
    fseek(file, 10, SEEK_SET);
    HOLDS(fgetc(file) == '5');
    fclose(file);
    TRY(unlink("b"));
    TRY(unlink("b"));
}

int main(void) {
    open_modes();
    vectors();
    metadata();
    buffered();
    return 0;
}
