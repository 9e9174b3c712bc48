// A small host for SpiderMonkey: modules of JavaScript from files, and the global
// object `shell` with what they cannot do themselves.

#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include <jsapi.h>
#include <js/WasmModule.h>

// What the measured threads share.
struct Crew {
    RefPtr<JS::WasmModule> module;
    std::string script, text;
    int threads = 0;
    std::atomic<int> finished{0};
    std::mutex lock;
    std::condition_variable all_warm;
    int warm = 0;
};

// One thread's place in it; null on the main thread.
struct Place {
    Crew *crew = nullptr;
    int thread = 0;
};

// The compilers that are switched on, for every context of the process.
struct Compilers {
    bool baseline = true, ion = true;
};
extern Compilers compilers;

// The program's own path and the words after it.
extern std::vector<std::string> command;

// Runs the module in a file with a context of its own. False where it threw, which is
// then said on standard error.
bool run_script(const std::string &path, const Place &place);

// Applies `compilers` to a context.
void apply_compilers(JSContext *cx);

// Puts `shell` on a global object.
bool define_shell(JSContext *cx, JS::HandleObject global, const Place &place);
