"""The programs suite: real programs and languages, for a check that the engine
gives what the native build gives. `programs/programs.toml` says which.

Each is made for the machine it is built on and for WebAssembly, with the
compiler its users would take; `build/built.json` lists what there is, and why
something is not there, for `tests/programs.rs`.
"""

from __future__ import annotations

import dataclasses
import functools
import glob
import json
import os
import pathlib
import re
import shutil
import subprocess

import cxx
import jobs
import packages
import suites
import toolchain
import wasm64
import wasm_file

FOLDER = suites.HERE / "programs"
BUILD = FOLDER / "build"

C_FLAGS = ("-std=gnu11", "-O2", "-ffp-contract=off")
NATIVE_TARGET = toolchain.VARIANTS["native"].target
# longjmp becomes a throw of the tag `__c_longjmp`, in the standard's instructions.
SETJMP_FLAGS = ("-mllvm", "-wasm-enable-sjlj", "-mllvm", "-wasm-use-legacy-eh=false")
SETJMP_CPU = "-mcpu=generic+exception_handling+reference_types+multivalue"
THREADS_TARGET = "wasm32-wasip1-threads"
THREADS_MEMORY_MAX = 64 << 20


@dataclasses.dataclass(frozen=True)
class Build(jobs.Job):
    """A program for one target; `steps` makes it, and `made_with` names tools and flags."""

    label: str
    sources: tuple[pathlib.Path, ...]
    headers: tuple[pathlib.Path, ...]
    output: pathlib.Path
    made_with: tuple
    steps: object  # (Build, scratch) -> None, leaves `scratch/out`

    def recipe(self) -> list:
        return list(self.made_with)

    def make(self, scratch: pathlib.Path) -> pathlib.Path:
        self.steps(self, scratch)
        out = scratch / "out"
        if self.output.suffix == ".wasm":
            out.write_bytes(wasm_file.without_debug_info(out.read_bytes()))
        return out


@dataclasses.dataclass(frozen=True)
class Program:
    """An entry of the list, with its patterns resolved."""

    table: dict
    sources: tuple[pathlib.Path, ...]
    flags: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.table["name"]


def _expand(pattern: str) -> list[str]:
    """`a{b,c}d` as `abd` and `acd`: shells have it, glob has not."""
    braces = re.search(r"\{([^}]*)\}", pattern)
    if braces is None:
        return [pattern]
    return [pattern[:braces.start()] + choice + pattern[braces.end():] for choice in braces[1].split(",")]


def _matches(folder: pathlib.Path, patterns: list[str]) -> list[pathlib.Path]:
    found = []
    for pattern in (choice for written in patterns for choice in _expand(written)):
        here = [pathlib.Path(path) for path in sorted(glob.glob(str(folder / pattern)))]
        if not here:
            raise toolchain.ToolError(f"programs: nothing matches {folder / pattern}")
        found += here
    return found


def load() -> list[dict]:
    """The entries of the list. Raises ToolError when it is malformed."""
    path = FOLDER / "programs.toml"
    try:
        return suites.tomllib.loads(path.read_text())["program"]
    except (OSError, KeyError, suites.tomllib.TOMLDecodeError) as error:
        raise toolchain.ToolError(f"{path}: {error}") from None


def resolve(table: dict) -> Program:
    """Finds a C program's sources, fetched if need be: our driver first."""
    sources, flags = [FOLDER / f"{table['name']}.c"], []
    if "package" in table:
        package = packages.folder(suites.HERE / table.get("of", "programs"), table["package"])
        but = table.get("but", [])
        sources += [path for path in _matches(package, table["sources"])
                    if not any(path.match(pattern) for pattern in but)]
        flags += [word.replace("{programs}", str(FOLDER)) for word in table.get("flags", [])]
        flags += [f"-I{path}" for path in _matches(package, table["includes"]) if path.is_dir()]
    return Program(table, tuple(sources), tuple(flags))


def _compile_all(build: Build, scratch: pathlib.Path, compiler) -> list[str]:
    """Compiles each source with `compiler(source, output, flags)`; ours, the first, with warnings as errors."""
    objects = []
    for number, source in enumerate(build.sources):
        objects.append(str(scratch / f"{number:03}.o"))
        warnings = toolchain.WARNINGS if number == 0 else ("-w",)
        compiler(source, objects[-1], warnings)
    return objects


def c_native(program: Program) -> Build:
    # As the modules, by the same compiler: the two are timed beside each other.
    flags = (*C_FLAGS, *program.flags)

    def steps(build: Build, scratch: pathlib.Path) -> None:
        target = ["-target", NATIVE_TARGET, "-mcpu=baseline"]
        objects = _compile_all(build, scratch, lambda source, output, warnings: toolchain.run_zig(
            [*target, *flags, *warnings, "-c", "-o", output, str(source)], build.label))
        toolchain.run_zig([*target, "-o", str(scratch / "out"), *objects, "-lm", "-pthread"], build.label)

    return _build(program.table, "native", program.sources, (toolchain.ZIG_VERSION, flags), steps)


def c_wasm32(program: Program) -> Build:
    wasm_flags = [word.replace("{programs}", str(FOLDER)) for word in program.table.get("wasm_flags", [])]
    setjmp = program.table.get("setjmp", False)
    special = (SETJMP_CPU, *SETJMP_FLAGS) if setjmp else ("-mcpu=generic",)
    flags = (*special, *C_FLAGS, *program.flags, *wasm_flags)
    sources = (*program.sources, FOLDER / "setjmp.c") if setjmp else program.sources

    def steps(build: Build, scratch: pathlib.Path) -> None:
        objects = _compile_all(build, scratch, lambda source, output, warnings: toolchain.run_zig(
            ["-target", "wasm32-wasi", *flags, *warnings, "-c", "-o", output, str(source)], build.label))
        toolchain.run_zig(["-target", "wasm32-wasi", "-mcpu=generic", "-O2", "-o", str(scratch / "out"), *objects],
                          build.label)

    return _build(program.table, "wasm32", sources, (toolchain.ZIG_VERSION, flags), steps)


def c_wasm64(program: Program) -> Build:
    flags = (*C_FLAGS, *program.flags)

    def steps(build: Build, scratch: pathlib.Path) -> None:
        wasm64.build()
        objects = _compile_all(build, scratch, lambda source, output, warnings: toolchain.run(
            [wasm64.CLANG, *wasm64.compile_flags(), *flags, *warnings, "-c", "-o", output, str(source)], build.label))
        wasm64.link(objects, str(scratch / "out"), build.label)

    return _build(program.table, "wasm64", program.sources, (wasm64.stamp(), flags), steps)


def threads_wasm32(program: Program) -> Build:
    flags = (f"--target={THREADS_TARGET}", "-pthread", "-nostdlibinc", *C_FLAGS)

    def steps(build: Build, scratch: pathlib.Path) -> None:
        include = toolchain.ZIG_HOME / "ziglang" / "lib" / "libc" / "include"
        headers = [word for layer in ("wasm-wasi-musl", "generic-musl") for word in ("-idirafter", str(include / layer))]
        objects = _compile_all(build, scratch, lambda source, output, warnings: toolchain.run(
            [wasm64.CLANG, *flags, *headers, *warnings, "-c", "-o", output, str(source)], build.label))
        target = rust_target(THREADS_TARGET)
        runtime = glob.glob(str(target / "libcompiler_builtins-*.rlib"))
        toolchain.run([wasm64.LINKER, "--import-memory", "--export-memory", "--shared-memory",
                    f"--max-memory={THREADS_MEMORY_MAX}", "--stack-first", "-z", "stack-size=131072", "-o",
                    str(scratch / "out"), str(target / "self-contained/crt1-command.o"), *objects,
                    str(target / "self-contained/libc.a"), *runtime], build.label)

    return _build(program.table, "wasm32", program.sources, (rustc_version(), flags), steps)


def cxx_native(table: dict) -> Build:
    def steps(build: Build, scratch: pathlib.Path) -> None:
        toolchain.run(["c++", *cxx.FLAGS, *toolchain.WARNINGS, "-o", str(scratch / "out"), *map(str, build.sources)],
                   build.label)

    return _build(table, "native", (FOLDER / f"{table['name']}.cpp",), ("c++", cxx.FLAGS), steps)


def cxx_wasm32(table: dict, form: str = "standard") -> Build:
    def steps(build: Build, scratch: pathlib.Path) -> None:
        runtime = cxx.runtime(form)
        cxx.compile_one(build.sources[0], scratch / "main.o", toolchain.WARNINGS, build.label, form)
        toolchain.run_zig(["-target", "wasm32-wasi", "-mcpu=generic", "-O2", "-o", str(scratch / "out"),
                           str(scratch / "main.o"), *runtime], build.label)

    variant = "wasm32" if form == "standard" else f"wasm32-{form}"
    return _build(table, variant, (FOLDER / f"{table['name']}.cpp",), (cxx.stamp(form),), steps)


def rust(table: dict, target: str | None) -> Build:
    def steps(build: Build, scratch: pathlib.Path) -> None:
        options = ["--target", target] if target else []
        toolchain.run(["rustc", "--edition=2024", "-Copt-level=2", "-Cdebuginfo=0", "--deny=warnings", *options, "-o",
                    str(scratch / "out"), *map(str, build.sources)], build.label)

    return _build(table, "wasm32" if target else "native", (FOLDER / f"{table['name']}.rs",),
                  (rustc_version(), target), steps)


def go(table: dict, system: dict[str, str]) -> Build:
    def steps(build: Build, scratch: pathlib.Path) -> None:
        environment = {**os.environ, "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0",
                       "GOCACHE": str(toolchain.TOOLS / "go-cache"), **system}
        toolchain.run(["go", "build", "-trimpath", "-o", str(scratch / "out"), *map(str, build.sources)], build.label,
                   environment)

    return _build(table, "wasm32" if system else "native", (FOLDER / f"{table['name']}.go",), (go_version(),), steps)


def _build(table: dict, variant: str, sources, made_with: tuple, steps) -> Build:
    headers = tuple(sorted(path for pattern in ("*.h", "*/*.h") for path in FOLDER.glob(pattern)))
    output = BUILD / variant / (table["name"] + (".wasm" if variant != "native" else ""))
    return Build(f"{table['name']} ({variant})", tuple(sources), headers, output, made_with, steps)


@functools.cache
def _said(*command: str) -> str | None:
    """What a tool says about itself, None when there is no such tool."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=toolchain.ROOT)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def rustc_version() -> str | None:
    return _said("rustc", "--version", "--verbose")


def go_version() -> str | None:
    return _said("go", "env", "GOVERSION")


def rust_target(target: str) -> pathlib.Path:
    """The libraries of one of rustc's targets, which may not be installed."""
    return pathlib.Path(_said("rustc", "--print", "sysroot") or "/", "lib", "rustlib", target, "lib")


def _rust_missing(target: str) -> str | None:
    if rustc_version() is None:
        return "rustc is missing"
    if not (rust_target(target) / "self-contained").is_dir():
        return f"rustc's target {target} is missing (rustup target add {target})"
    return None


def _missing(tool: str, package: str) -> str | None:
    return None if shutil.which(tool) else f"{tool} is missing (Debian: apt-get install {package})"


def variants_of(table: dict) -> list[tuple[str, str | None, object]]:
    """What is to be made of an entry: variant, why it cannot be made here or None, how."""
    language = table.get("language", "c")
    if language == "rust":
        return [("native", None, lambda: rust(table, None)),
                ("wasm32", _rust_missing("wasm32-wasip1"), lambda: rust(table, "wasm32-wasip1"))]
    if language == "go":
        missing = None if "wasip1/wasm" in (_said("go", "tool", "dist", "list") or "") else "no go 1.21 or newer"
        return [("native", missing, lambda: go(table, {})),
                ("wasm32", missing, lambda: go(table, {"GOOS": "wasip1", "GOARCH": "wasm"}))]
    if language == "c++":
        missing = _missing("c++", "g++")
        return [("native", missing, lambda: cxx_native(table)), ("wasm32", missing, lambda: cxx_wasm32(table)),
                ("wasm32-legacy", missing, lambda: cxx_wasm32(table, "legacy"))]
    program = functools.cache(lambda: resolve(table))
    if language == "c-threads":
        return [("native", None, lambda: c_native(program())),
                ("wasm32", wasm64.missing() or _rust_missing(THREADS_TARGET), lambda: threads_wasm32(program()))]
    makers = {32: ("wasm32", None, lambda: c_wasm32(program())),
              64: ("wasm64", wasm64.missing(), lambda: c_wasm64(program()))}
    return [("native", None, lambda: c_native(program())), *(makers[width] for width in table["widths"])]


def plan(names: list[str] | None) -> tuple[list[Build], list[dict]]:
    """What to build, and the list of it that `built.json` becomes. Raises ToolError."""
    tables = load()
    for name in names or []:
        if name not in {table["name"] for table in tables}:
            raise toolchain.ToolError(f"no program `{name}`; there are {', '.join(table['name'] for table in tables)}")
    wanted, listed = [], []
    for table in tables:
        if names is not None and table["name"] not in names:
            continue
        entry = {"name": table["name"], "version": table["version"], "args": table.get("args", []),
                 "files": table.get("files", []), "dir": table.get("dir", "."), "quick": table.get("quick", False), "variants": {}}
        for variant, reason, maker in variants_of(table):
            if reason is None:
                build = maker()
                wanted.append(build)
                entry["variants"][variant] = {"path": str(build.output.relative_to(FOLDER))}
            else:
                print(f"SKIPPED {table['name']} ({variant}): {reason}", flush=True)
                entry["variants"][variant] = {"skipped": reason}
        listed.append(entry)
    return wanted, listed


def write_list(listed: list[dict], wanted: list[jobs.Job]) -> None:
    """Says what there is and what could not be made, for the tests; programs that were left out keep their entry."""
    failed = {str(job.output) for job in wanted if isinstance(job, Build) and not job.is_current()}
    for entry in listed:
        for variant, build in entry["variants"].items():
            if "path" in build and str(FOLDER / build["path"]) in failed:
                entry["variants"][variant] = {"failed": "its build failed; `make programs` says why"}
    path = BUILD / "built.json"
    BUILD.mkdir(exist_ok=True)
    try:
        known = {entry["name"]: entry for entry in json.loads(path.read_text())}
    except (OSError, ValueError):
        known = {}
    known.update({entry["name"]: entry for entry in listed})
    order = [table["name"] for table in load()]
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps([known[name] for name in order if name in known], indent=1) + "\n")
    os.replace(partial, path)
