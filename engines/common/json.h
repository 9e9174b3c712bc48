// A small JSON reader for one request, and a writer for one event.
//
// A document is parsed into a tree of nodes that lives as long as the process:
// the runner reads one request and never frees it.

#ifndef FATHOM_JSON_H
#define FATHOM_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

// An array's or object's children are a list through `next`; a child of an
// object has its `name`.
struct json {
    enum json_kind kind;
    const char *name;
    const char *text; // of a string (unescaped), or the digits of a number
    bool truth;
    struct json *first;
    struct json *next;
};

// Parses a whole document; NULL where it is not well formed.
const struct json *json_parse(const char *source);

// The member `name` of an object, or NULL where there is none or it is null.
const struct json *json_get(const struct json *object, const char *name);
// The member as text, as a whole number, and as a flag, with a default.
const char *json_text(const struct json *object, const char *name, const char *otherwise);
long json_long(const struct json *object, const char *name, long otherwise);
// How many children an array or object has (0 for NULL).
size_t json_count(const struct json *node);

// Appends to a growing string. `json_append_text` quotes and escapes.
struct json_out {
    char *bytes;
    size_t length, room;
};
void json_append(struct json_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void json_append_text(struct json_out *out, const char *text);

#endif
