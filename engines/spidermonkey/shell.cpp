// The program: contexts and modules. `shell [--no-huge-memory] SCRIPT [WORD...]`

#include "shell.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include <sys/resource.h>

#include <js/CompilationAndEvaluation.h>
#include <js/CompileOptions.h>
#include <js/Context.h>
#include <js/ContextOptions.h>
#include <js/Conversions.h>
#include <js/Exception.h>
#include <js/Initialization.h>
#include <js/Modules.h>
#include <js/RealmOptions.h>
#include <js/SourceText.h>
#include <js/Stack.h>
#include <jsfriendapi.h>

Compilers compilers;
std::vector<std::string> command;

namespace {

constexpr uint32_t HEAP_BYTES = 1u << 30;
// Less than what a thread of C has, so that the engine notices the end first.
constexpr size_t STACK_BYTES = 6u << 20;
// SpiderMonkey reserves whole index spaces unless a process may have little: seen to begin
// between 128 and 256 GiB.
constexpr rlim_t NOT_HUGE_BYTES = rlim_t{1} << 37;

thread_local std::map<std::string, std::unique_ptr<JS::PersistentRootedObject>> modules;

std::string utf8(JSContext *cx, JS::HandleString text) {
    JS::UniqueChars bytes = JS_EncodeStringToUTF8(cx, text);
    return bytes ? bytes.get() : "";
}

// "/a/b/c.mjs" and "../d.mjs" give "/a/d.mjs".
std::string beside(const std::string &from, const std::string &name) {
    std::string folder = from.substr(0, from.rfind('/'));
    std::string rest = name;
    while (rest.rfind("./", 0) == 0 || rest.rfind("../", 0) == 0) {
        if (rest[1] == '.') folder = folder.substr(0, folder.rfind('/'));
        rest = rest.substr(rest.find('/') + 1);
    }
    return folder + "/" + rest;
}

JSObject *load_module(JSContext *cx, const std::string &path) {
    if (auto known = modules.find(path); known != modules.end()) return known->second->get();
    std::ifstream file(path);
    if (!file) {
        JS_ReportErrorUTF8(cx, "cannot read %s", path.c_str());
        return nullptr;
    }
    std::stringstream text;
    text << file.rdbuf();
    std::string code = text.str();
    JS::CompileOptions options(cx);
    options.setFileAndLine(path.c_str(), 1);
    JS::SourceText<mozilla::Utf8Unit> source;
    if (!source.init(cx, code.data(), code.size(), JS::SourceOwnership::Borrowed)) return nullptr;
    JS::RootedObject module(cx, JS::CompileModule(cx, options, source));
    if (!module) return nullptr;
    JS::RootedString name(cx, JS_NewStringCopyUTF8N(cx, JS::UTF8Chars(path.data(), path.size())));
    if (!name) return nullptr;
    JS::SetModulePrivate(module, JS::StringValue(name));
    modules[path] = std::make_unique<JS::PersistentRootedObject>(cx, module);
    return module;
}

JSObject *resolve(JSContext *cx, JS::Handle<JS::Value> from, JS::Handle<JSObject *> request) {
    JS::RootedString name(cx, JS::GetModuleRequestSpecifier(cx, request));
    JS::RootedString importer(cx, JS::ToString(cx, from));
    if (!name || !importer) return nullptr;
    return load_module(cx, beside(utf8(cx, importer), utf8(cx, name)));
}

void complain(JSContext *cx) {
    JS::ExceptionStack stack(cx);
    JS::ErrorReportBuilder report(cx);
    if (JS::StealPendingExceptionStack(cx, &stack) && report.init(cx, stack, JS::ErrorReportBuilder::WithSideEffects)) {
        JS::PrintError(stderr, report, false);
    }
}

bool evaluate(JSContext *cx, const std::string &path) {
    JS::RootedObject module(cx, load_module(cx, path));
    JS::RootedValue result(cx);
    if (!module || !JS::ModuleLink(cx, module) || !JS::ModuleEvaluate(cx, module, &result)) return false;
    js::RunJobs(cx);
    JS::RootedObject promise(cx, result.isObject() ? &result.toObject() : nullptr);
    return !promise || JS::ThrowOnModuleEvaluationFailure(cx, promise, JS::ThrowModuleErrorsSync);
}

const JSClass GLOBAL = {"global", JSCLASS_GLOBAL_FLAGS, &JS::DefaultGlobalClassOps, nullptr, nullptr, nullptr};

bool run_in(JSContext *cx, const std::string &path, const Place &place) {
    JS::RealmOptions options;
    options.creationOptions().setSharedMemoryAndAtomicsEnabled(true);
    JS::RootedObject global(cx, JS_NewGlobalObject(cx, &GLOBAL, nullptr, JS::FireOnNewGlobalHook, options));
    if (!global) return false;
    JSAutoRealm realm(cx, global);
    bool fine = define_shell(cx, global, place) && evaluate(cx, path);
    if (!fine) complain(cx);
    modules.clear();
    return fine;
}

}  // namespace

void apply_compilers(JSContext *cx) {
    JS::ContextOptionsRef(cx).setWasm(true).setWasmBaseline(compilers.baseline).setWasmIon(compilers.ion);
}

bool run_script(const std::string &path, const Place &place) {
    JSContext *cx = JS_NewContext(HEAP_BYTES);
    if (cx == nullptr) return false;
    JS_SetNativeStackQuota(cx, STACK_BYTES);
    JS_SetFutexCanWait(cx);
    JS::SetModuleResolveHook(JS_GetRuntime(cx), resolve);
    apply_compilers(cx);
    bool fine = js::UseInternalJobQueues(cx) && JS::InitSelfHostedCode(cx) && run_in(cx, path, place);
    JS_DestroyContext(cx);
    return fine;
}

int main(int count, char **words) {
    command.assign(words, words + count);
    int script = 1;
    if (count > 1 && strcmp(words[1], "--no-huge-memory") == 0) {
        struct rlimit limit;
        getrlimit(RLIMIT_AS, &limit);
        limit.rlim_cur = limit.rlim_max = NOT_HUGE_BYTES;
        setrlimit(RLIMIT_AS, &limit);
        script++;
    }
    if (count <= script) {
        fputs("shell [--no-huge-memory] SCRIPT [WORD...]\n", stderr);
        return 2;
    }
    if (!JS_Init()) return 1;
    bool fine = run_script(words[script], Place{});
    JS_ShutDown();
    return fine ? 0 : 1;
}
