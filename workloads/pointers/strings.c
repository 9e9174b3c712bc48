/* strings: splits a text into words, counts them, orders them by how often they
 * come, and looks for phrases: byte after byte, and a pointer for each string. */
#include "pointers.h"

enum {
    BYTES = EXTENT(3000, 150000, 16000000, 40000000, 160000000),
    VOCABULARY = EXTENT(50, 1000, 20000, 50000, 100000),
    BUCKETS = 1 << 15,
    LONGEST = 16,
    PHRASES = 24,
    PHRASE_LENGTH = 9,
};

typedef struct word word;

struct word {
    word *next; /* in its bucket, later in the order */
    const char *text;
    uint32_t length;
    uint32_t count;
};

typedef struct {
    word *buckets[BUCKETS];
    word *words;  /* VOCABULARY of them */
    char *letters; /* where the words' text is copied to */
    uint32_t taken;
} table;

/* Frequent words are low numbers; capitals come and go. */
static void init(char text[BYTES + 1], char (*vocabulary)[LONGEST]) {
    for (uint32_t i = 0; i < VOCABULARY; i++) {
        uint32_t length = 2 + random_below(LONGEST - 3), number = i;
        for (uint32_t k = 0; k < length; k++) {
            vocabulary[i][k] = (char)('a' + (k < 4 ? number % 26 : random_below(26)));
            number /= 26;
        }
        vocabulary[i][length] = '\0';
    }
    for (uint32_t at = 0; at < BYTES;) {
        uint32_t a = random_below(VOCABULARY), b = random_below(VOCABULARY);
        const char *word = vocabulary[(uint64_t)a * b / VOCABULARY];
        int capital = random_below(8) == 0;
        for (; *word != '\0' && at < BYTES; word++) {
            text[at++] = capital ? (char)(*word - 'a' + 'A') : *word;
            capital = 0;
        }
        if (at < BYTES) text[at++] = "  \n,. "[random_below(6)];
    }
    text[BYTES] = '\0';
}

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static int compare(const char *a, const char *b) {
    while (*a != '\0' && *a == *b) a++, b++;
    return (int)(uint8_t)*a - (int)(uint8_t)*b;
}

static void count_word(table *in, const char *text, uint32_t length, uint32_t hash) {
    word **bucket = &in->buckets[hash % BUCKETS];
    for (word *at = *bucket; at != NULL; at = at->next)
        if (at->length == length && compare(at->text, text) == 0) {
            at->count++;
            return;
        }
    char *copy = in->letters;
    for (uint32_t i = 0; i <= length; i++) *in->letters++ = text[i];
    word *fresh = &in->words[in->taken++];
    *fresh = (word){*bucket, copy, length, 1};
    *bucket = fresh;
}

static void count_words(table *in, const char *text) {
    char current[LONGEST];
    while (*text != '\0') {
        uint32_t length = 0, hash = 2166136261u;
        for (; is_letter(*text); text++) {
            current[length] = lower(*text);
            hash = (hash ^ (uint8_t)current[length++]) * 16777619u;
        }
        current[length] = '\0';
        if (length > 0) count_word(in, current, length, hash ^ hash >> 15);
        while (*text != '\0' && !is_letter(*text)) text++;
    }
}

/* The more frequent first, then by the alphabet. */
static int is_before(const word *a, const word *b) {
    return a->count != b->count ? a->count > b->count : compare(a->text, b->text) < 0;
}

static word *merge(word *a, word *b) {
    word *first = NULL, **end = &first;
    while (a != NULL && b != NULL) {
        word **less = is_before(a, b) ? &a : &b;
        *end = *less;
        end = &(*less)->next;
        *less = *end;
    }
    *end = a != NULL ? a : b;
    return first;
}

/* Sorts `count` words of an array into a list. */
static word *in_order(word *words, uint32_t count) {
    if (count == 0) return NULL;
    if (count == 1) {
        words->next = NULL;
        return words;
    }
    return merge(in_order(words, count / 2), in_order(words + count / 2, count - count / 2));
}

/* How often a phrase comes, by Horspool's skips. */
static uint32_t find(const char *text, uint32_t bytes, const char *phrase) {
    uint32_t skips[256], found = 0;
    for (uint32_t i = 0; i < 256; i++) skips[i] = PHRASE_LENGTH;
    for (uint32_t i = 0; i + 1 < PHRASE_LENGTH; i++) skips[(uint8_t)phrase[i]] = PHRASE_LENGTH - 1 - i;
    for (uint32_t at = 0; at + PHRASE_LENGTH <= bytes; at += skips[(uint8_t)text[at + PHRASE_LENGTH - 1]]) {
        uint32_t i = PHRASE_LENGTH;
        while (i > 0 && text[at + i - 1] == phrase[i - 1]) i--;
        found += i == 0;
    }
    return found;
}

KERNEL kernel_strings(table *in, const char text[BYTES + 1], word **first, uint32_t found[PHRASES]) {
    count_words(in, text);
    *first = in_order(in->words, in->taken);
    for (uint32_t i = 0; i < PHRASES; i++) found[i] = find(text, BYTES, text + (uint64_t)i * (BYTES - 64) / PHRASES);
}

int main(void) {
    NEW_1D(char, text, BYTES + 1);
    NEW_2D(char, vocabulary, VOCABULARY, LONGEST);
    NEW_1D(table, in, 1);
    /* The last word of the text may be the start of one, and so not in the vocabulary. */
    in->words = allocate((VOCABULARY + 1) * sizeof(word));
    in->letters = allocate((VOCABULARY + 1) * LONGEST);
    uint32_t found[PHRASES];
    word *first = NULL;
    init(text, vocabulary);
    MEASURE(kernel_strings(in, text, &first, found));
    uint64_t rank = 0;
    for (const word *at = first; at != NULL; at = at->next) {
        if (at->next != NULL && !is_before(at, at->next)) fail("not in order");
        uint64_t letters = 0;
        memcpy(&letters, at->text, at->length < 8 ? at->length : 8);
        mix(letters);
        mix(++rank * at->count);
    }
    if (rank != in->taken) fail("words are missing");
    for (uint32_t i = 0; i < PHRASES; i++) {
        if (found[i] == 0) fail("a phrase is not found where it was taken from");
        mix(found[i]);
    }
    return report();
}
