/* sortlines [FILE]: the lines of a file, or of the input, in byte order.
 *
 * Reads everything into one growing buffer and merge-sorts pointers: string
 * comparisons behind two loads, a heap that doubles, one large write. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line {
    const char *text;
    size_t length;
};

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "sortlines: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void *grow(void *memory, size_t bytes) {
    void *grown = realloc(memory, bytes);
    if (grown == NULL) fail("memory");
    return grown;
}

static char *read_all(FILE *file, const char *name, size_t *length) {
    size_t capacity = 1 << 16, part;
    char *text = grow(NULL, capacity);
    *length = 0;
    while ((part = fread(text + *length, 1, capacity - *length, file)) > 0) {
        *length += part;
        if (*length == capacity) text = grow(text, capacity *= 2);
    }
    if (ferror(file)) fail(name);
    return text;
}

/* A last line without a newline counts as a line. */
static struct line *split(const char *text, size_t length, size_t *count) {
    size_t capacity = 1024;
    struct line *lines = grow(NULL, capacity * sizeof *lines);
    *count = 0;
    for (size_t at = 0; at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t size = end == NULL ? length - at : (size_t)(end - (text + at));
        if (*count == capacity) lines = grow(lines, (capacity *= 2) * sizeof *lines);
        lines[(*count)++] = (struct line){text + at, size};
        at += size + 1;
    }
    return lines;
}

static int compare(const struct line *a, const struct line *b) {
    size_t common = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->text, b->text, common);
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

static void sort(struct line *lines, struct line *scratch, size_t count) {
    if (count < 2) return;
    size_t half = count / 2, left = 0, right = half, out = 0;
    sort(lines, scratch, half);
    sort(lines + half, scratch, count - half);
    while (left < half && right < count)
        scratch[out++] = compare(&lines[left], &lines[right]) <= 0 ? lines[left++] : lines[right++];
    while (left < half) scratch[out++] = lines[left++];
    memcpy(lines, scratch, out * sizeof *lines); /* the rest of the right half is in place */
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "input";
    FILE *file = argc > 1 ? fopen(name, "rb") : stdin;
    size_t length, count;
    if (file == NULL) fail(name);
    char *text = read_all(file, name, &length);
    struct line *lines = split(text, length, &count);
    sort(lines, grow(NULL, (count + 1) * sizeof *lines), count);
    for (size_t i = 0; i < count; i++) {
        fwrite(lines[i].text, 1, lines[i].length, stdout);
        putchar('\n');
    }
    if (fflush(stdout) != 0) fail("output");
    return 0;
}
