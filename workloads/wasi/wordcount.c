/* wordcount [FILE...]: lines, words and bytes of each file, or of the input.
 *
 * One pass over 64 KiB blocks: bound by reading at first, then by a loop with
 * an unpredictable branch per byte. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct counts {
    unsigned long long lines, words, bytes;
};

/* Returns 0, or -1 with errno set. */
static int count(FILE *file, struct counts *counts) {
    static unsigned char block[1 << 16];
    int in_word = 0;
    size_t length;
    while ((length = fread(block, 1, sizeof block, file)) > 0) {
        counts->bytes += length;
        for (size_t i = 0; i < length; i++) {
            if (block[i] == '\n') counts->lines++;
            int space = isspace(block[i]);
            if (!space && !in_word) counts->words++;
            in_word = !space;
        }
    }
    return ferror(file) ? -1 : 0;
}

static void print(const struct counts *counts, const char *name) {
    printf("%llu %llu %llu%s%s\n", counts->lines, counts->words, counts->bytes, *name ? " " : "",
           name);
}

int main(int argc, char **argv) {
    struct counts total = {0, 0, 0};
    int status = 0;
    if (argc < 2) {
        if (count(stdin, &total) != 0) {
            fprintf(stderr, "wordcount: input: %s\n", strerror(errno));
            return 1;
        }
        print(&total, "");
        return 0;
    }
    for (int i = 1; i < argc; i++) {
        struct counts counts = {0, 0, 0};
        FILE *file = fopen(argv[i], "rb");
        if (file == NULL || count(file, &counts) != 0) {
            fprintf(stderr, "wordcount: %s: %s\n", argv[i], strerror(errno));
            status = 1;
        } else {
            print(&counts, argv[i]);
        }
        if (file != NULL) fclose(file);
        total.lines += counts.lines;
        total.words += counts.words;
        total.bytes += counts.bytes;
    }
    if (argc > 2) print(&total, "total");
    return status;
}
