"""How wasm2c is installed: Debian's package of a later suite in a folder of its own,
and its runtime compiled once for each way to check bounds."""

import shutil
from pathlib import Path

VERSION = "1.0.36"
NEEDS = ["cc"]
USES = ["common"]
PACKAGES = {"wabt": "1.0.36+dfsg+~cs1.0.36-2", "libsimde-dev": "0.8.2-3"}
# What a strategy is to wasm2c's runtime and to the code it makes. The runner has the
# same list (translate.c): both sides must agree.
MODES = {
    "guard": ["-DWASM_RT_MEMCHECK_GUARD_PAGES=1"],
    "trap": ["-DWASM_RT_MEMCHECK_BOUNDS_CHECK=1", "-DWASM_RT_USE_MMAP=0", "-DWASM_RT_MAX_CALL_STACK_DEPTH=10000"],
}
KEPT_PROGRAMS = {"wasm2c"}


def install(step, here: Path, into: Path) -> None:
    """Fills the folder `into` with wasm2c, its runtime and the runner."""
    step.say("wasm2c and what it needs (Debian trixie, about 10 MB)")
    prefix = into / "debian"
    step.debian_prefix(PACKAGES, prefix, "trixie")
    for program in (prefix / "usr" / "bin").iterdir():
        if program.name not in KEPT_PROGRAMS:
            program.unlink()
    for folder in ("etc", "usr/share", "usr/sbin"):
        shutil.rmtree(prefix / folder, ignore_errors=True)
    for unused in [*prefix.rglob("*.a"), *prefix.rglob("gconv"), *prefix.rglob("ossl-modules")]:
        shutil.rmtree(unused) if unused.is_dir() else unused.unlink()
    step.say("its runtime and the runner (cc)")
    source = prefix / "usr" / "src" / "wasm2c"
    parts = [source / name for name in ("wasm-rt-impl.c", "wasm-rt-mem-impl.c", "wasm-rt-exceptions-impl.c")]
    for mode, macros in MODES.items():
        step.run(
            ["cc", "-O3", "-std=gnu11", "-fPIC", "-shared", "-DNDEBUG", *macros, f"-I{source}", "-w", *parts,
             here / "rt.c", "-o", into / f"rt-{mode}.so", "-lpthread"],
            "cc",
        )
    step.c_runner(here, ["engine.c", "translate.c"], into / "runner", ["-rdynamic", f'-DWASM2C_VERSION="{VERSION}"', "-ldl"], wasi=True)
    step.say(step.run([into / "runner", "--check"], "the runner does not run").strip())
