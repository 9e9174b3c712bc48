"""The fibers suite: programs on the C library of fibers, by each of its implementations, and
the same written by hand as state machines.

    NAME.c + lib/fiber_asyncify.c ─ clang ─▶ wasm-opt --asyncify -O3            wasm-asyncify
    NAME.c + lib/fiber_switch.c ─ clang ─▶ wasm-merge (switch.wat) ─▶ wasm-opt -O3   wasm-switch
    state/NAME.c ─ clang ─▶ wasm-opt -O3                                          wasm-state
    NAME.c + lib/fiber_native.c ─ clang                                           native
    state/NAME.c ─ clang                                                          native-state

What must stay true:
- All modules go through one optimiser at one level, so that none owes its time to that. The
  implementation is compiled into each program, whichever it is.
- Nothing that only linking needs is exported, so that sizes are the programs' own.
"""

from __future__ import annotations

import dataclasses
import pathlib
import platform

import jobs
import suites
import toolchain
import wasm_file
import wasm_opt

FOLDER = suites.HERE / "fibers"
LIBRARY = FOLDER / "lib"
LEVEL = "-O3"
# A resumption that is a call is predicted wrong where it returns (lib/fiber.h), and beginning a fiber
# is a little larger than what is inlined as a rule.
INLINED = ("--flexible-inline-max-function-size=24",)
# What the modules have beyond what they say themselves; `wasm-opt` refuses it unless named.
FEATURES = ("--enable-stack-switching", "--enable-gc", "--enable-reference-types", "--enable-exception-handling",
            "--enable-bulk-memory", "--enable-mutable-globals", "--enable-sign-ext", "--enable-multivalue",
            "--enable-nontrapping-float-to-int", "--enable-tail-call")
EXPORTS = {"memory": "memory", "_start": "_start"}
ASYNCIFY = ("--asyncify", "--pass-arg=asyncify-imports@none.none")


@dataclasses.dataclass(frozen=True)
class Implementation:
    """A way to make a program of the suite."""

    target: str  # the toolchain's variant that it is compiled as
    library: str | None  # of lib/; None for state machines


VARIANTS = {
    "wasm-asyncify": Implementation("wasm", "fiber_asyncify.c"),
    "wasm-switch": Implementation("wasm", "fiber_switch.c"),
    "wasm-state": Implementation("wasm", None),
    "native": Implementation("native", "fiber_native.c"),
    "native-state": Implementation("native", None),
}


@dataclasses.dataclass(frozen=True)
class Job(jobs.Job):
    """A program by an implementation."""

    label: str
    sources: tuple[pathlib.Path, ...]
    headers: tuple[pathlib.Path, ...]
    variant: str
    output: pathlib.Path

    def _flags(self) -> list[str]:
        library = VARIANTS[self.variant].library
        return [*toolchain.FLAGS, *toolchain.WARNINGS, f"-I{LIBRARY}",
                f"-DFIBER_INLINE=\"{library}\"" if library else "-DFATHOM_STATE"]

    def recipe(self) -> list:
        target = toolchain.VARIANTS[VARIANTS[self.variant].target]
        return [toolchain.ZIG_VERSION, wasm_opt.VERSION, toolchain.FLAGS, self.variant, dataclasses.astuple(target), LEVEL, INLINED,
                FEATURES, ASYNCIFY]

    def make(self, scratch: pathlib.Path) -> pathlib.Path:
        target = toolchain.VARIANTS[VARIANTS[self.variant].target]
        compiled, linked, made = (scratch / name for name in ("compiled.o", "linked", "made"))
        toolchain.run_zig(["-target", target.target, *target.compile_flags, *self._flags(), "-c", "-o", str(compiled),
                           str(self.sources[0])], self.label)
        # A continuation begins with a function of the table.
        table = ["-Wl,--export-table"] if self.variant == "wasm-switch" else []
        toolchain.run_zig(["-target", target.target, *target.link_flags, *table, LEVEL, "-o", str(linked), str(compiled),
                           "-lm"], self.label)
        if target.suffix != ".wasm":
            return linked
        linked.write_bytes(wasm_file.without_debug_info(linked.read_bytes()))
        flags = ()
        if self.variant == "wasm-asyncify":
            linked = self._asyncified(scratch, linked)
        elif self.variant == "wasm-switch":
            linked, flags = self._merged(scratch, linked), FEATURES
        wasm_opt.binaryen("wasm-opt", [*flags, LEVEL, *INLINED, "-g", str(linked), "-o", str(made)], self.label)
        return made

    def _asyncified(self, scratch: pathlib.Path, program: pathlib.Path) -> pathlib.Path:
        """The program whose functions can be left and entered again."""
        made = scratch / "asyncified.wasm"
        wasm_opt.binaryen("wasm-opt", [*ASYNCIFY, "-g", str(program), "-o", str(made)], self.label)
        made.write_bytes(wasm_file.with_exports(made.read_bytes(), EXPORTS))
        return made

    def _merged(self, scratch: pathlib.Path, program: pathlib.Path) -> pathlib.Path:
        """The program and the module that holds its continuations, in one."""
        switch, merged = scratch / "switch.wasm", scratch / "merged.wasm"
        wasm_opt.binaryen("wasm-as", [*FEATURES, str(LIBRARY / "switch.wat"), "-o", str(switch)], self.label)
        wasm_opt.binaryen("wasm-merge", [*FEATURES, str(program), "main", str(switch), "fiber", "-g", "-o", str(merged)],
                          self.label)
        merged.write_bytes(wasm_file.with_exports(merged.read_bytes(), EXPORTS))
        return merged


SERVER = suites.HERE / "http"


def servers(variants: list[str]) -> list[jobs.Job]:
    """The HTTP server in each of these variants that has fibers."""
    headers = tuple(sorted([*SERVER.glob("*.h"), *LIBRARY.iterdir()]))
    made = []
    for variant in variants:
        implementation = VARIANTS[variant]
        if implementation.library is None or lacks(variant):
            continue
        output = SERVER / "build" / variant / ("server" + toolchain.VARIANTS[implementation.target].suffix)
        made.append(Job(f"server ({variant})", (SERVER / "server.c",), headers, variant, output))
    return made


def others(suite: str, variants: list[str]) -> list[str]:
    """The variants among these in which a suite is not made."""
    if suite in ("fibers", "http"):
        return [variant for variant in variants if variant not in VARIANTS]
    return [variant for variant in variants if variant in VARIANTS and variant not in toolchain.VARIANTS]


def lacks(variant: str) -> str | None:
    """Why a variant cannot be made on this machine."""
    if variant == "native" and (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        return "its stacks are switched by instructions of x86-64"
    return None


def stage(variants: list[str], names: list[str] | None) -> list[jobs.Job]:
    """The suite's programs in these variants; several workloads are runs of one program."""
    suite = suites.load("fibers")
    programs = dict.fromkeys(workload.table.get("program", workload.name) for workload in suite.pick(names))
    headers = tuple(sorted([*FOLDER.glob("*.h"), *LIBRARY.iterdir(), suites.HERE / "polybench" / "harness.h"]))
    made = []
    for variant in variants:
        missing = lacks(variant)
        if missing is not None:
            print(f"SKIPPED fibers ({variant}): {missing}", flush=True)
            continue
        implementation = VARIANTS[variant]
        for name in programs:
            source = FOLDER / ("" if implementation.library else "state") / f"{name}.c"
            output = FOLDER / "build" / variant / (name + toolchain.VARIANTS[implementation.target].suffix)
            made.append(Job(f"{name} ({variant})", (source,), headers, variant, output))
    return made
