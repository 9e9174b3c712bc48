"""How WAMR is installed: its two interpreters, its ahead-of-time compiler and what runs
that one's code, compiled from the source that a crate carries."""

import shutil
from pathlib import Path

# Of the crate: the snapshot has no number of its own.
VERSION = "0.1.1"
NEEDS = ["cc", "c++", "cmake", "make", "cargo"]
USES = ["common"]
CRATE = ("wamr-sys", "0.1.1", "7f8519ccb3c87b57003ea20d6d8ccbf57c8a2999fe1035369a2758b2d80341d0")
# A library for each backend, and for compiled code one for each way to check bounds.
LIBRARIES = {
    "fast": ["-DWAMR_BUILD_AOT=0", "-DWAMR_BUILD_FAST_INTERP=1"],
    "classic": ["-DWAMR_BUILD_AOT=0", "-DWAMR_BUILD_FAST_INTERP=0"],
    "aot-guard": ["-DWAMR_BUILD_AOT=1", "-DWAMR_BUILD_INTERP=0"],
    "aot-trap": ["-DWAMR_BUILD_AOT=1", "-DWAMR_BUILD_INTERP=0", "-DWAMR_DISABLE_HW_BOUND_CHECK=1"],
}
# WASI is ours; its own C library is asked for by its loader.
OPTIONS = ["-DCMAKE_BUILD_TYPE=Release", "-DWAMR_BUILD_LIBC_WASI=0", "-DWAMR_BUILD_LIBC_BUILTIN=1",
           "-DWAMR_BUILD_BULK_MEMORY=1", "-DCMAKE_SHARED_LINKER_FLAGS=-Wl,--no-as-needed,-z,noexecstack -lm -lpthread"]


# The oldest LLVM that Debian has; the compiler was written for 10.
LLVM = {"llvm-13-dev": "1:13.0.1-11+b2", "zlib1g-dev": "1:1.2.13.dfsg-1", "libncurses-dev": "6.4-4"}
# A pass that LLVM has dropped, and what it offers in its place.
RENAMED = "-DLLVMAddConstantPropagationPass=LLVMAddInstructionSimplifyPass"
# What the compiler's build asks LLVM's own package for, which wants LLVM's programs too.
LLVM_CONFIG = """set (LLVM_PACKAGE_VERSION 13.0.1)
set (LLVM_INCLUDE_DIRS {usr}/include/llvm-13 {usr}/include/llvm-c-13)
set (LLVM_DEFINITIONS -D__STDC_CONSTANT_MACROS -D__STDC_LIMIT_MACROS -D__STDC_FORMAT_MACROS)
file (GLOB archives {usr}/lib/llvm-13/lib/libLLVM*.a)
file (GLOB others {usr}/lib/*/libz.a {usr}/lib/*/libtinfo.a)
set (LLVM_AVAILABLE_LIBS -Wl,--start-group ${{archives}} -Wl,--end-group ${{others}} -lstdc++)
link_directories ({usr}/lib/llvm-13/lib)
"""


def _compiler(step, source, into):
    """Builds wamrc, linked with LLVM."""
    step.say("LLVM 13 (Debian bookworm, about 32 MB)")
    llvm = into / "llvm"
    step.debian_packages(LLVM, llvm, "bookworm")
    config = source / "wasm-micro-runtime" / "core" / "deps" / "llvm" / "build" / "lib" / "cmake" / "llvm"
    config.mkdir(parents=True)
    (config / "LLVMConfig.cmake").write_text(LLVM_CONFIG.format(usr=llvm / "usr"))
    step.say("its compiler (cmake)")
    build = into / "build"
    step.run(
        ["cmake", "-S", source / "wasm-micro-runtime" / "wamr-compiler", "-B", build, "-DCMAKE_BUILD_TYPE=Release",
         f"-DCMAKE_C_FLAGS={RENAMED}", "-DCMAKE_EXE_LINKER_FLAGS=-s"],
        "cmake",
    )
    step.run(["cmake", "--build", build, "--target", "wamrc", "--parallel", "2"], "make")
    shutil.move(build / "wamrc", into / "wamrc")
    for folder in (build, llvm):
        shutil.rmtree(folder)


def install(step, here, into):
    """Fills the folder `into` with a library for each backend, the compiler and the
    runner."""
    step.say("the source (a crate, about 5 MB with what the crate asks for)")
    source = into / "source"
    step.crate_source(*CRATE, source)
    for backend, options in LIBRARIES.items():
        step.say(f"the library {backend} (cmake)")
        build = into / "build"
        step.run(["cmake", "-S", source / "libiwasm", "-B", build, *OPTIONS, *options], "cmake")
        step.run(["cmake", "--build", build, "--target", "iwasm", "--parallel", "2"], "make")
        shutil.move(build / "libiwasm.so", into / f"iwasm-{backend}.so")
        shutil.rmtree(build)
    if step.has_debian():
        _compiler(step, source, into)
    else:
        step.say("without its compiler, which needs LLVM from Debian's packages")
    step.say("the runner (cc)")
    options = [f"-I{source / 'wasm-micro-runtime' / 'core' / 'iwasm' / 'include'}", f'-DWAMR_VERSION="{VERSION}"', "-ldl"]
    step.c_runner(here, ["engine.c", "ahead.c"], into / "runner", options, wasi=True)
    shutil.rmtree(source)
    step.say(step.run([into / "runner", "--check"], "the runner does not run").strip())
