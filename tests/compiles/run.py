#!/usr/bin/env python3
"""Compiles what no other check of `make test` does: every workspace that is outside ours,
and every runner in another language.

    tests/compiles/run.py [--changed] [PART …]     all parts, or those; `--list` names them

With `--changed` a workspace with many crates of others is left out where what its check is
about is as in the last check that went well (checked.py): its line says so.

- Rust is formatted as it should be, and clippy has nothing to say of it.
- Of the runners in C, C++ and Java the sources are compiled against the headers or the jars
  of their engines. Those are fetched once, into `.tools/compiles`, as the engine's recipe
  pins them; the engines are not built.
- Python, JavaScript and shell are parsed.

A line for each part says how long it took. What must stay true: what could not be compiled is
not passed over in silence: it has a line that says SKIPPED and why.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import warnings

from checked import Checked, digest, inputs, own_inputs, tracked

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENGINES = ROOT / "engines"
FETCHED = ROOT / ".tools" / "compiles"
# Workspaces share what they have in common of dependencies.
TARGET = ROOT / "target" / "compiles"
CARGO = os.environ.get("CARGO", "cargo")
# Longest complaint that is shown.
LINES_SHOWN = 60


class Failure(Exception):
    """Something does not compile; the message is the compiler's."""


class Skipped(Exception):
    """Something cannot be compiled here; the message says why."""


def installing():
    """What installs engines, of which only what it fetches with is used here."""
    if str(ENGINES) not in sys.path:
        sys.path.insert(0, str(ENGINES))
    import install

    return install


def recipe(engine: str):
    """An engine's recipe, for what it pins."""
    spec = importlib.util.spec_from_file_location(f"recipe_{engine}", ENGINES / engine / "recipe.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(command: list, cwd: pathlib.Path = ROOT, env: dict | None = None) -> str:
    """Runs a command that must go well, and returns what it printed."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=os.environ | (env or {}), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise Failure("\n".join([" ".join(words), *done.stdout.splitlines()[-LINES_SHOWN:]]))
    return done.stdout


def needed(program: str, package: str) -> str:
    """The path of a program."""
    found = shutil.which(program)
    if found is None:
        raise Skipped(f"needs the program {program} (Debian: apt-get install {package})")
    return found


# Rust -------------------------------------------------------------------


def cargo(*words: str) -> str:
    return run([CARGO, *words], env={"CARGO_TARGET_DIR": str(TARGET), "CARGO_TERM_COLOR": "never"})


def rust(folder: str, *options: str) -> None:
    """Checks the workspace in a folder."""
    manifest = ("--manifest-path", f"{folder}/Cargo.toml")
    cargo("fmt", "--all", "--check", *manifest)
    cargo("clippy", "--quiet", "--locked", "--all-targets", *manifest, *options, "--", "--deny", "warnings")


def fuzz() -> None:
    rust("fuzz", "--features", "libfuzzer")


def sql() -> None:
    """All of it, DataFusion and Ballista included, which are compiled no further than types."""
    rust("sql", "--workspace", "--all-features")


def sql_guest() -> None:
    """What calls modules with Arrow's arrays, tested: it needs no query engine."""
    cargo("test", "--quiet", "--locked", "--manifest-path", "sql/Cargo.toml", "-p", "fathom-guest")


def sql_tests() -> None:
    """The tests of sql: statements, functions and their data in DataFusion."""
    run([sys.executable, "workloads/setup.py"])
    run([sys.executable, "sql/operators/build.py"])
    cargo("test", "--quiet", "--locked", "--manifest-path", "sql/Cargo.toml")


def wasmi() -> None:
    rust("engines/wasmi")


def wasmtime48() -> None:
    rust("engines/wasmtime48")


def wasmer() -> None:
    rust("engines/wasmer")


def beside() -> None:
    rust("engines/wasmtime/beside")


# Other languages ----------------------------------------------------------


def fetched(engine: str, fetch) -> pathlib.Path:
    """A folder that `fetch` has filled with what an engine's runner is compiled against, once for
    each state of the recipe."""
    place, stamp = FETCHED / engine, FETCHED / f"{engine}.recipe"
    pinned = "".join((ENGINES / engine / name).read_text() for name in ("recipe.py", "requirements.txt")
                     if (ENGINES / engine / name).is_file())
    if stamp.is_file() and stamp.read_text() == pinned:
        return place
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    try:
        fetch(installing().EngineStep(f"  {engine}"), place)
    except installing().Failed as error:
        raise Skipped(str(error)) from error
    stamp.write_text(pinned)
    return place


def c(engine: str, sources: list[str], options: list) -> None:
    """Compiles a runner's sources in C, as its recipe does."""
    compiler = needed("cc", "gcc")
    files = [ENGINES / engine / name for name in sources]
    run([compiler, "-fsyntax-only", "-O2", "-std=gnu11", "-Wall", "-Wextra", "-Werror", f"-I{ENGINES / 'common'}", *options, *files])


def c_common() -> None:
    sources = [str(file.relative_to(ENGINES)) for file in tracked("engines/common/*.c", "engines/common-js/*.c")]
    c(".", sources, [])


def c_wasm2c() -> None:
    def fetch(step, into):
        step.debian_packages({"wabt": recipe("wasm2c").PACKAGES["wabt"]}, into, "trixie")

    include = fetched("wasm2c", fetch) / "usr" / "src" / "wasm2c"
    modes, version = recipe("wasm2c").MODES, recipe("wasm2c").VERSION
    c("wasm2c", ["engine.c", "translate.c"], [f'-DWASM2C_VERSION="{version}"'])
    for macros in modes.values():
        c("wasm2c", ["rt.c"], ["-isystem", include, *macros])


def c_wasm3() -> None:
    place = fetched("wasm3", lambda step, into: step.pip_source(ENGINES / "wasm3" / "requirements.txt", into / "source"))
    c("wasm3", ["engine.c"], ["-isystem", place / "source" / "wasm3"])


def c_wamr() -> None:
    place = fetched("wamr", lambda step, into: step.crate_source(*recipe("wamr").CRATE, into / "source"))
    include = place / "source" / "wasm-micro-runtime" / "core" / "iwasm" / "include"
    c("wamr", ["engine.c", "ahead.c"], ["-isystem", include, f'-DWAMR_VERSION="{recipe("wamr").VERSION}"'])


def c_wasmedge() -> None:
    def fetch(step, into):
        step.debian_packages({"libwasmedge-dev": recipe("wasmedge").PACKAGES["libwasmedge-dev"]}, into, "sid")

    c("wasmedge", ["engine.c"], ["-isystem", fetched("wasmedge", fetch) / "usr" / "include"])


def c_wasmtime() -> None:
    headers = recipe("wasmtime")
    place = fetched("wasmtime", lambda step, into: headers._headers(step, ENGINES / "wasmtime", into))
    c("wasmtime", headers.SOURCES, ["-isystem", place / "include", *headers.defines(place / "include")])


def cpp_spidermonkey() -> None:
    def fetch(step, into):
        shell = recipe("spidermonkey")
        step.debian_packages({"libmozjs-140-dev": shell.ENGINE["libmozjs-140-dev"]}, into, shell.ENGINE_SUITE)

    compiler = needed("c++", "g++")
    include = fetched("spidermonkey", fetch) / "usr/include/x86_64-linux-gnu/mozjs-140"
    sources = [ENGINES / "spidermonkey" / name for name in ("shell.cpp", "natives.cpp")]
    run([compiler, "-fsyntax-only", "-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-fno-rtti", "-isystem", include, *sources])


def java(engine: str) -> None:
    """Compiles what runners in Java share, and an engine's own sources, with our own Java."""

    def fetch(step, into):
        step.maven_artifacts(recipe(engine).ARTIFACTS, into / "jars")

    jars = sorted((fetched(engine, fetch) / "jars").glob("*.jar"))
    try:
        program = recipe(engine).java25.java(installing().EngineStep(f"  {engine}"))
    except installing().Failed as error:
        raise Skipped(str(error)) from error
    sources = [*sorted((ENGINES / "common-java").glob("*.java")), *sorted((ENGINES / engine).glob("*.java"))]
    classes = TARGET / "java" / engine
    run([program, "-m", "jdk.compiler/com.sun.tools.javac.Main", "-Xlint:all,-processing,-serial,-restricted", "-d", classes,
         "-cp", ":".join(map(str, jars)), *sources])


def java_chicory() -> None:
    java("chicory")


def java_graalwasm() -> None:
    java("graalwasm")


def go() -> None:
    program = shutil.which("go") or ("/usr/local/go/bin/go" if pathlib.Path("/usr/local/go/bin/go").is_file() else None)
    if program is None:
        raise Skipped("needs Go 1.25 or newer")
    # No other Go than this one, and nothing that go.sum does not have.
    env = {"GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly -trimpath", "CGO_ENABLED": "0", "GOWORK": "off"}
    here = ENGINES / "wazero"
    unformatted = run([pathlib.Path(program).with_name("gofmt"), "-l", "."], cwd=here).strip()
    if unformatted:
        raise Failure(f"gofmt would change {unformatted}")
    run([program, "vet", "./..."], cwd=here, env=env)
    run([program, "build", "-o", os.devnull, "."], cwd=here, env=env)


def javascript() -> None:
    node = needed("node", "nodejs")
    for file in tracked("*.mjs", "*.cjs", "*.js"):
        run([node, "--check", file])


def python() -> None:
    for file in tracked("*.py"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                ast.parse(file.read_text(), str(file))
            except (SyntaxError, SyntaxWarning) as error:
                raise Failure(f"{file.relative_to(ROOT)}: {error}") from error


def shell() -> None:
    for file in tracked():
        with open(file, "rb") as opened:
            first = opened.readline(80)
        if first.startswith(b"#!") and first.split()[-1].split(b"/")[-1] in (b"sh", b"bash"):
            run(["bash", "-n", file])


# What takes minutes from nothing, and what of ours its check is about: with the crates that it
# depends on, or, where those have tests of their own that `make test` runs each time, without.
SLOW = {
    "engines/wasmi": inputs,
    "engines/wasmtime48": inputs,
    "engines/wasmer": inputs,
    "engines/wasmtime/beside": inputs,
    "fuzz": inputs,
    "sql": inputs,
    "sql/guest": lambda _, root=ROOT: inputs("sql", root),
    "sql/tests": own_inputs,
}
# By the folder that is compiled, or by what is parsed.
PARTS = {
    "python": python,
    "javascript": javascript,
    "shell": shell,
    "engines/wazero": go,
    "engines/common": c_common,
    "engines/wasm2c": c_wasm2c,
    "engines/wasm3": c_wasm3,
    "engines/wamr": c_wamr,
    "engines/wasmedge": c_wasmedge,
    "engines/wasmtime": c_wasmtime,
    "engines/spidermonkey": cpp_spidermonkey,
    "engines/chicory": java_chicory,
    "engines/graalwasm": java_graalwasm,
    "engines/wasmi": wasmi,
    "engines/wasmtime48": wasmtime48,
    "engines/wasmer": wasmer,
    "engines/wasmtime/beside": beside,
    "fuzz": fuzz,
    "sql/guest": sql_guest,
    "sql": sql,
    "sql/tests": sql_tests,
}


def part(name: str, is_changed_only: bool) -> str:
    """Checks one, and says what there is to say of it; nothing where it went well."""
    if name not in SLOW:
        PARTS[name]()
        return ""
    checked, of = Checked(), SLOW[name]
    before = digest(name, of)
    if is_changed_only and checked.has(name, of):
        return "  unchanged since it was checked"
    PARTS[name]()
    checked.add(name, before, of)
    return ""


def main(words: list[str]) -> int:
    if words == ["--list"]:
        print("\n".join(PARTS))
        return 0
    is_changed_only = "--changed" in words
    words = [word for word in words if word != "--changed"]
    unknown = [word for word in words if word not in PARTS]
    if unknown:
        print(f"no part {unknown[0]}; there are: {', '.join(PARTS)}", file=sys.stderr)
        return 2
    failed, began = [], time.monotonic()
    for name in words or PARTS:
        start = time.monotonic()
        try:
            note = part(name, is_changed_only)
        except Skipped as why:
            note = f"  SKIPPED: {why}"
        except Failure as error:
            failed.append(name)
            note = f"  FAILED\n{error}"
        print(f"check: {name:<24} {time.monotonic() - start:5.0f} s{note}", flush=True)
    ending = f", failed: {', '.join(failed)}" if failed else ""
    print(f"check: all together              {time.monotonic() - began:5.0f} s{ending}")
    return 1 if failed else 0


if __name__ == "__main__":
    # A shell has those that run beside it ignore an interrupt. What is being compiled ends with us.
    for asked_to_stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(asked_to_stop, lambda number, _: sys.exit(128 + number))
    sys.exit(main(sys.argv[1:]))
