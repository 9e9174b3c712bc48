/* lua SCRIPT [ARGUMENT]...: runs a Lua script with the standard libraries. An
 * uncaught error goes to standard error with its traceback, and the status is 1. */
#include <stdio.h>
#include <stdlib.h>

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

#ifdef __wasi__
#include <time.h>

/* Preview 1 has no processes, no temporary files and no CPU clock: what Lua's os
 * and io libraries ask for answers that it failed, as it may in C. */
int system(const char *command) {
    (void)command;
    return 0;
}

FILE *tmpfile(void) {
    return NULL;
}

char *tmpnam(char *name) {
    (void)name;
    return NULL;
}

clock_t clock(void) {
    return (clock_t)-1;
}
#endif

static int with_traceback(lua_State *state) {
    luaL_traceback(state, state, lua_tostring(state, 1), 1);
    return 1;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: lua SCRIPT [ARGUMENT]...\n");
        return 2;
    }
    lua_State *state = luaL_newstate();
    if (state == NULL) return 1;
    luaL_openlibs(state);
    lua_pushcfunction(state, with_traceback);
    int status = luaL_loadfile(state, argv[1]);
    if (status == LUA_OK) {
        for (int i = 2; i < argc; i++) lua_pushstring(state, argv[i]);
        status = lua_pcall(state, argc - 2, 0, 1);
    }
    if (status != LUA_OK) fprintf(stderr, "lua: %s\n", lua_tostring(state, -1));
    lua_close(state);
    return status == LUA_OK ? 0 : 1;
}
