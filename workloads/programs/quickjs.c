/* quickjs SCRIPT: runs a JavaScript file and then every job it has left behind.
 * `print` writes a line; an uncaught exception goes to standard error, status 1. */
#include <stdio.h>
#include <stdlib.h>

#include "quickjs.h"

static JSValue print(JSContext *context, JSValueConst self, int count, JSValueConst *values) {
    (void)self;
    for (int i = 0; i < count; i++) {
        const char *text = JS_ToCString(context, values[i]);
        if (text == NULL) return JS_EXCEPTION;
        printf("%s%s", i > 0 ? " " : "", text);
        JS_FreeCString(context, text);
    }
    putchar('\n');
    return JS_UNDEFINED;
}

static void complain(JSContext *context) {
    JSValue error = JS_GetException(context);
    JSValue stack = JS_GetPropertyStr(context, error, "stack");
    const char *text = JS_ToCString(context, error), *trace = JS_ToCString(context, stack);
    fprintf(stderr, "quickjs: %s\n%s", text == NULL ? "?" : text, trace == NULL ? "" : trace);
    JS_FreeCString(context, text);
    JS_FreeCString(context, trace);
    JS_FreeValue(context, stack);
    JS_FreeValue(context, error);
}

/* The file with a zero behind it; NULL when it cannot be read. */
static char *contents(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    size_t room = 1 << 16;
    char *text = malloc(room + 1);
    *length = 0;
    while (text != NULL) {
        *length += fread(text + *length, 1, room - *length, file);
        if (*length < room) break;
        room *= 2;
        text = realloc(text, room + 1);
    }
    if (text != NULL) text[*length] = 0;
    fclose(file);
    return text;
}

int main(int argc, char **argv) {
    size_t length;
    if (argc != 2) {
        fprintf(stderr, "usage: quickjs SCRIPT\n");
        return 2;
    }
    char *text = contents(argv[1], &length);
    if (text == NULL) {
        perror(argv[1]);
        return 1;
    }
    JSRuntime *runtime = JS_NewRuntime();
    JSContext *context = JS_NewContext(runtime), *ran_in;
    JSValue global = JS_GetGlobalObject(context);
    JS_SetPropertyStr(context, global, "print", JS_NewCFunction(context, print, "print", 1));
    JS_FreeValue(context, global);
    JSValue result = JS_Eval(context, text, length, argv[1], JS_EVAL_TYPE_GLOBAL);
    int failed = JS_IsException(result);
    JS_FreeValue(context, result);
    if (failed) complain(context);
    for (int more = 1; more > 0 && !failed;) {
        more = JS_ExecutePendingJob(runtime, &ran_in);
        failed = more < 0;
        if (failed) complain(ran_in);
    }
    free(text);
    JS_FreeContext(context);
    JS_RunGC(runtime);
    /* Not JS_FreeRuntime: on WASI its own count of allocated bytes comes out too low,
     * on other engines too, and then it aborts. */
    return failed;
}
