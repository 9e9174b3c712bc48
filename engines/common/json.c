// The JSON of one request: read into a tree, strict and bounded.

#include "json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Deeper nesting than any request has; keeps a hostile one from our stack.
#define DEPTH_MAX 32

struct parser {
    const char *at;
    int depth;
};

static struct json *parse_value(struct parser *p);

static void *allocate(size_t size) {
    void *memory = calloc(1, size);
    if (memory == NULL) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

static void skip_blanks(struct parser *p) {
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r') p->at++;
}

static bool take(struct parser *p, char wanted) {
    skip_blanks(p);
    if (*p->at != wanted) return false;
    p->at++;
    return true;
}

// Four hexadecimal digits, or -1.
static long parse_unit(struct parser *p) {
    char digits[5] = {0};
    for (int i = 0; i < 4; i++) {
        char c = p->at[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))) return -1;
        digits[i] = c;
    }
    p->at += 4;
    return strtol(digits, NULL, 16);
}

// A \u escape (the `\u` is read): one unit, or a pair of surrogates.
static long parse_escape(struct parser *p) {
    long high = parse_unit(p);
    if (high < 0xd800 || high > 0xdfff) return high;
    if (high > 0xdbff || p->at[0] != '\\' || p->at[1] != 'u') return -1;
    p->at += 2;
    long low = parse_unit(p);
    if (low < 0xdc00 || low > 0xdfff) return -1;
    return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

static char *write_utf8(char *to, long code) {
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | (code >> 6));
        *to++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *to++ = (char)(0xe0 | (code >> 12));
        *to++ = (char)(0x80 | ((code >> 6) & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    } else {
        *to++ = (char)(0xf0 | (code >> 18));
        *to++ = (char)(0x80 | ((code >> 12) & 0x3f));
        *to++ = (char)(0x80 | ((code >> 6) & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    }
    return to;
}

// A string whose opening quote is read. An unescaped string is never longer
// than its escaped form, so the room up to the closing quote is enough.
static const char *parse_string(struct parser *p) {
    const char *end = p->at;
    while (*end != '"') {
        if (*end == '\0' || (*end == '\\' && *++end == '\0')) return NULL;
        end++;
    }
    char *text = allocate((size_t)(end - p->at) + 1), *to = text;
    while (p->at < end) {
        if (*p->at != '\\') {
            *to++ = *p->at++;
            continue;
        }
        static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
        char escape = p->at[1];
        p->at += 2;
        const char *known = strchr(names, escape);
        if (known != NULL) {
            *to++ = values[known - names];
            continue;
        }
        long code = escape == 'u' ? parse_escape(p) : -1;
        // A NUL could not be told from the end of the text.
        if (code <= 0) return NULL;
        to = write_utf8(to, code);
    }
    p->at++;
    return text;
}

// The children of an array or object whose opening bracket is read.
static bool parse_children(struct parser *p, struct json *parent, char closing) {
    struct json **last = &parent->first;
    if (take(p, closing)) return true;
    do {
        const char *name = NULL;
        if (closing == '}') {
            if (!take(p, '"') || (name = parse_string(p)) == NULL || !take(p, ':')) return false;
        }
        struct json *child = parse_value(p);
        if (child == NULL) return false;
        child->name = name;
        *last = child;
        last = &child->next;
    } while (take(p, ','));
    return take(p, closing);
}

static bool parse_word(struct parser *p, const char *word) {
    size_t length = strlen(word);
    if (strncmp(p->at, word, length) != 0) return false;
    p->at += length;
    return true;
}

static bool parse_number(struct parser *p, struct json *node) {
    size_t length = strspn(p->at, "+-.0123456789eE");
    if (length == 0) return false;
    char *digits = allocate(length + 1);
    memcpy(digits, p->at, length);
    node->kind = JSON_NUMBER;
    node->text = digits;
    p->at += length;
    return true;
}

static bool parse_into(struct parser *p, struct json *node) {
    skip_blanks(p);
    switch (*p->at) {
    case '{':
    case '[':
        node->kind = *p->at == '{' ? JSON_OBJECT : JSON_ARRAY;
        return parse_children(p, node, *p->at++ == '{' ? '}' : ']');
    case '"':
        p->at++;
        node->kind = JSON_STRING;
        return (node->text = parse_string(p)) != NULL;
    case 't':
        node->kind = JSON_BOOL;
        node->truth = true;
        return parse_word(p, "true");
    case 'f':
        node->kind = JSON_BOOL;
        return parse_word(p, "false");
    case 'n':
        node->kind = JSON_NULL;
        return parse_word(p, "null");
    default:
        return parse_number(p, node);
    }
}

static struct json *parse_value(struct parser *p) {
    if (p->depth >= DEPTH_MAX) return NULL;
    p->depth++;
    struct json *node = allocate(sizeof *node);
    bool good = parse_into(p, node);
    p->depth--;
    return good ? node : NULL;
}

const struct json *json_parse(const char *source) {
    struct parser p = {source, 0};
    struct json *root = parse_value(&p);
    skip_blanks(&p);
    return *p.at == '\0' ? root : NULL;
}

const struct json *json_get(const struct json *object, const char *name) {
    if (object == NULL || object->kind != JSON_OBJECT) return NULL;
    for (const struct json *child = object->first; child != NULL; child = child->next) {
        if (strcmp(child->name, name) == 0) return child->kind == JSON_NULL ? NULL : child;
    }
    return NULL;
}

const char *json_text(const struct json *object, const char *name, const char *otherwise) {
    const struct json *node = json_get(object, name);
    return node != NULL && node->kind == JSON_STRING ? node->text : otherwise;
}

long json_long(const struct json *object, const char *name, long otherwise) {
    const struct json *node = json_get(object, name);
    return node != NULL && node->kind == JSON_NUMBER ? strtol(node->text, NULL, 10) : otherwise;
}

size_t json_count(const struct json *node) {
    size_t count = 0;
    for (const struct json *child = node == NULL ? NULL : node->first; child != NULL; child = child->next) count++;
    return count;
}

static void make_room(struct json_out *out, size_t more) {
    if (out->length + more + 1 <= out->room) return;
    out->room = (out->length + more + 1) * 2;
    out->bytes = realloc(out->bytes, out->room);
    if (out->bytes == NULL) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
}

void json_append(struct json_out *out, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    make_room(out, (size_t)length);
    va_start(arguments, format);
    vsnprintf(out->bytes + out->length, out->room - out->length, format, arguments);
    va_end(arguments);
    out->length += (size_t)length;
}

void json_append_text(struct json_out *out, const char *text) {
    json_append(out, "\"");
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') json_append(out, "\\%c", *c);
        else if (*c < 0x20) json_append(out, "\\u%04x", *c);
        else json_append(out, "%c", *c);
    }
    json_append(out, "\"");
}
