// The functions of the global object `shell`:
//
//   sys(number, ...)                a system call; typed arrays stand for their bytes' address
//   command                         this program and its words
//   setCompilers(baseline, ion)     which compilers of WebAssembly are on
//   gc()                            a full garbage collection
//   restart(words, input)           becomes this program again, with `input` to read
//   child(words)                    runs it beside: {died, printed}; `died` is a signal or 0
//   runThreads(script, n, module, text)   a context each; true where all said `succeed()`
//
// and on a measured thread: module, text, thread, waitUntilAllAreWarm(), finish(),
// allHaveFinished(), succeed().

#include "shell.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <js/Array.h>
#include <js/BigInt.h>
#include <js/CallArgs.h>
#include <js/Conversions.h>
#include <js/GCAPI.h>
#include <js/PropertyAndElement.h>
#include <js/experimental/TypedData.h>

extern "C" long fathom_syscall(long number, long a, long b, long c, long d, long e, long f);

namespace {

constexpr unsigned SYS_WORDS = 7;
thread_local Place here;
thread_local bool succeeded = false;

std::string text_of(JSContext *cx, JS::HandleValue value) {
    JS::RootedString text(cx, JS::ToString(cx, value));
    JS::UniqueChars bytes = text ? JS_EncodeStringToUTF8(cx, text) : nullptr;
    return bytes ? bytes.get() : "";
}

bool sys(JSContext *cx, unsigned count, JS::Value *values) {
    JS::CallArgs args = JS::CallArgsFromVp(count, values);
    long words[SYS_WORDS] = {0};
    for (unsigned i = 0; i < SYS_WORDS && i < count; i++) {
        if (args[i].isBigInt()) words[i] = JS::ToBigInt64(args[i].toBigInt());
        else if (args[i].isNumber()) words[i] = static_cast<long>(args[i].toNumber());
    }
    // From here on nothing may move what the addresses point to.
    JS::AutoCheckCannotGC still(cx);
    for (unsigned i = 0; i < SYS_WORDS && i < count; i++) {
        if (!args[i].isObject() || !JS_IsArrayBufferViewObject(&args[i].toObject())) continue;
        bool shared;
        words[i] = reinterpret_cast<long>(JS_GetArrayBufferViewData(&args[i].toObject(), &shared, still));
    }
    args.rval().setNumber(static_cast<double>(
        fathom_syscall(words[0], words[1], words[2], words[3], words[4], words[5], words[6])));
    return true;
}

bool set_compilers(JSContext *cx, unsigned count, JS::Value *values) {
    JS::CallArgs args = JS::CallArgsFromVp(count, values);
    compilers = {args.get(0).isTrue(), args.get(1).isTrue()};
    apply_compilers(cx);
    return true;
}

bool gc(JSContext *cx, unsigned, JS::Value *) {
    JS_GC(cx);
    return true;
}

// This program with the words of a JavaScript array, ready for execv.
std::vector<std::string> words_of(JSContext *cx, JS::HandleValue list) {
    std::vector<std::string> words{command[0]};
    JS::RootedObject array(cx, list.isObject() ? &list.toObject() : nullptr);
    uint32_t length = 0;
    if (array) JS::GetArrayLength(cx, array, &length);
    for (uint32_t i = 0; i < length; i++) {
        JS::RootedValue word(cx);
        if (JS_GetElement(cx, array, i, &word)) words.push_back(text_of(cx, word));
    }
    return words;
}

// The program is started through a loader of its own, so its path comes from the environment.
[[noreturn]] void become(std::vector<std::string> words) {
    std::vector<char *> pointers;
    const char *start = getenv("FATHOM_SHELL");
    if (start != nullptr) words[0] = start;
    for (std::string &word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execv(pointers[0], pointers.data());
    _exit(127);
}

bool restart(JSContext *cx, unsigned count, JS::Value *values) {
    JS::CallArgs args = JS::CallArgsFromVp(count, values);
    std::vector<std::string> words = words_of(cx, args.get(0));
    std::string input = text_of(cx, args.get(1));
    int file = memfd_create("request", 0);
    if (write(file, input.data(), input.size()) != static_cast<ssize_t>(input.size()) || lseek(file, 0, SEEK_SET) < 0
        || dup2(file, STDIN_FILENO) < 0) {
        JS_ReportErrorUTF8(cx, "the engine cannot be started with its switches: %s", strerror(errno));
        return false;
    }
    become(std::move(words));
}

bool child(JSContext *cx, unsigned count, JS::Value *values) {
    JS::CallArgs args = JS::CallArgsFromVp(count, values);
    std::vector<std::string> words = words_of(cx, args.get(0));
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    pid_t id = fork();
    if (id == 0) {
        dup2(ends[1], STDOUT_FILENO);
        become(std::move(words));
    }
    close(ends[1]);
    std::string printed;
    char bytes[512];
    for (ssize_t got; (got = read(ends[0], bytes, sizeof bytes)) > 0;) printed.append(bytes, got);
    close(ends[0]);
    int status = 0;
    waitpid(id, &status, 0);
    JS::RootedObject result(cx, JS_NewPlainObject(cx));
    JS::RootedString text(cx, JS_NewStringCopyN(cx, printed.data(), printed.size()));
    if (!result || !text) return false;
    JS::RootedValue died(cx, JS::Int32Value(WIFSIGNALED(status) ? WTERMSIG(status) : 0));
    JS::RootedValue said(cx, JS::StringValue(text));
    args.rval().setObject(*result);
    return JS_SetProperty(cx, result, "died", died) && JS_SetProperty(cx, result, "printed", said);
}

bool run_threads(JSContext *cx, unsigned count, JS::Value *values) {
    JS::CallArgs args = JS::CallArgsFromVp(count, values);
    JS::RootedObject module(cx, args.get(2).isObject() ? &args.get(2).toObject() : nullptr);
    Crew crew;
    crew.script = text_of(cx, args.get(0));
    crew.threads = args.get(1).toInt32();
    crew.module = module ? JS::GetWasmModule(module) : nullptr;
    crew.text = text_of(cx, args.get(3));
    std::atomic<int> fine{0};
    std::vector<std::thread> threads;
    for (int number = 0; number < crew.threads; number++) {
        threads.emplace_back([&crew, &fine, number] {
            if (run_script(crew.script, Place{&crew, number}) && succeeded) fine++;
            // The others would wait for it for ever.
            else _exit(1);
        });
    }
    for (std::thread &thread : threads) thread.join();
    args.rval().setBoolean(fine == crew.threads);
    return true;
}

bool wait_until_all_are_warm(JSContext *, unsigned, JS::Value *) {
    Crew &crew = *here.crew;
    std::unique_lock<std::mutex> hold(crew.lock);
    if (++crew.warm == crew.threads) crew.all_warm.notify_all();
    crew.all_warm.wait(hold, [&crew] { return crew.warm == crew.threads; });
    return true;
}

bool finish(JSContext *, unsigned, JS::Value *) {
    here.crew->finished++;
    return true;
}

bool all_have_finished(JSContext *, unsigned count, JS::Value *values) {
    JS::CallArgsFromVp(count, values).rval().setBoolean(here.crew->finished >= here.crew->threads);
    return true;
}

bool succeed(JSContext *, unsigned, JS::Value *) {
    succeeded = true;
    return true;
}

const JSFunctionSpec MAIN[] = {
    JS_FN("sys", sys, SYS_WORDS, 0), JS_FN("setCompilers", set_compilers, 2, 0), JS_FN("gc", gc, 0, 0),
    JS_FN("restart", restart, 2, 0), JS_FN("child", child, 1, 0),      JS_FN("runThreads", run_threads, 4, 0),
    JS_FS_END,
};
const JSFunctionSpec THREAD[] = {
    JS_FN("waitUntilAllAreWarm", wait_until_all_are_warm, 0, 0), JS_FN("finish", finish, 0, 0),
    JS_FN("allHaveFinished", all_have_finished, 0, 0), JS_FN("succeed", succeed, 0, 0), JS_FS_END,
};

bool define_text(JSContext *cx, JS::HandleObject on, const char *name, const std::string &text) {
    JS::RootedString value(cx, JS_NewStringCopyUTF8N(cx, JS::UTF8Chars(text.data(), text.size())));
    return value && JS_DefineProperty(cx, on, name, value, 0);
}

}  // namespace

bool define_shell(JSContext *cx, JS::HandleObject global, const Place &place) {
    here = place;
    JS::RootedObject shell(cx, JS_NewPlainObject(cx));
    std::string words;
    for (const std::string &word : command) words += (words.empty() ? "" : "\n") + word;
    if (!shell || !JS_DefineProperty(cx, global, "shell", shell, 0) || !JS_DefineFunctions(cx, shell, MAIN)
        || !define_text(cx, shell, "command", words)) {
        return false;
    }
    if (place.crew == nullptr) return true;
    JS::RootedObject module(cx, place.crew->module ? place.crew->module->createObject(cx) : nullptr);
    JS::RootedValue thread(cx, JS::Int32Value(place.thread));
    return module && JS_DefineProperty(cx, shell, "module", module, 0) && JS_DefineFunctions(cx, shell, THREAD)
        && define_text(cx, shell, "text", place.crew->text) && JS_DefineProperty(cx, shell, "thread", thread, 0);
}
