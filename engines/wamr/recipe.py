"""How WAMR is installed: its two interpreters, compiled from the source that a crate
carries."""

import shutil
from pathlib import Path

# Of the crate: the snapshot has no number of its own.
VERSION = "0.1.1"
NEEDS = ["cc", "cmake", "make", "cargo"]
USES = ["common"]
CRATE = ("wamr-sys", "0.1.1", "7f8519ccb3c87b57003ea20d6d8ccbf57c8a2999fe1035369a2758b2d80341d0")
# Only the interpreter. WASI is ours; its own C library is asked for by its loader.
OPTIONS = ["-DCMAKE_BUILD_TYPE=Release", "-DWAMR_BUILD_AOT=0", "-DWAMR_BUILD_LIBC_WASI=0", "-DWAMR_BUILD_LIBC_BUILTIN=1",
           "-DWAMR_BUILD_BULK_MEMORY=1", "-DCMAKE_SHARED_LINKER_FLAGS=-Wl,--no-as-needed,-z,noexecstack -lm -lpthread"]


def install(step, here: Path, into: Path) -> None:
    """Fills the folder `into` with a library for each interpreter and the runner."""
    step.say("the source (a crate, about 5 MB with what the crate asks for)")
    source = into / "source"
    step.crate_source(*CRATE, source)
    for backend, fast in (("fast", 1), ("classic", 0)):
        step.say(f"the {backend} interpreter (cmake)")
        build = into / "build"
        step.run(["cmake", "-S", source / "libiwasm", "-B", build, *OPTIONS, f"-DWAMR_BUILD_FAST_INTERP={fast}"], "cmake")
        step.run(["cmake", "--build", build, "--target", "iwasm", "--parallel", "2"], "make")
        shutil.move(build / "libiwasm.so", into / f"iwasm-{backend}.so")
        shutil.rmtree(build)
    step.say("the runner (cc)")
    options = [f"-I{source / 'wasm-micro-runtime' / 'core' / 'iwasm' / 'include'}", f'-DWAMR_VERSION="{VERSION}"', "-ldl"]
    step.c_runner(here, ["engine.c"], into / "runner", options, wasi=True)
    shutil.rmtree(source)
    step.say(step.run([into / "runner", "--check"], "the runner does not run").strip())
