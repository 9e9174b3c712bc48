/* transfer write | read: 2000 blocks of 4 KiB to a file, or to a file and from it again, each by a call. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS = 2000, BLOCK = 4096 };

int main(int argc, char **argv) {
    static char block[BLOCK];
    const char *name = "transfer.data";
    int is_read = argc > 1 && strcmp(argv[1], "read") == 0, right = 0;
    int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < BLOCKS; i++) {
        memset(block, i % 251, BLOCK);
        right += write(file, block, BLOCK) == BLOCK;
    }
    if (is_read && lseek(file, 0, SEEK_SET) == 0) {
        right = 0;
        for (int i = 0; i < BLOCKS; i++)
            right += read(file, block, BLOCK) == BLOCK && block[0] == (char)(i % 251) && block[BLOCK - 1] == block[0];
    }
    close(file);
    unlink(name);
    printf("transfer: %d of %d blocks right\n", right, BLOCKS);
    return right != BLOCKS;
}
