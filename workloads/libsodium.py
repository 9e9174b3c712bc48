"""The libsodium suite: the library and its own test programs, built as benchmarks.

    crate ─▶ LATEST.tar.gz ─▶ build/source ─▶ a library a variant ─▶ 92 programs each

Nothing of the library is committed: its release is fetched by cargo inside a
crate, pinned by the lock file, and the archive in it is held against its hash
here. Its test programs are built as they are; `libsodium/cmptest.h` stands for
their header of that name and `libsodium/harness.c` runs them.

What must stay true:
- The WebAssembly builds and `native` are made of the same sources with the same
  macros but for the target's: no code for one instruction set. `native-tuned`
  has all that the library knows of this machine and chooses at run time, as its
  users have it.
- An expected answer is the hash of the library's own `.exp` file.
"""

from __future__ import annotations

import dataclasses
import fcntl
import hashlib
import pathlib
import platform
import shutil
import tarfile
import tempfile

import jobs
import packages
import suites
import toolchain
import wasm_file

FOLDER = suites.HERE / "libsodium"
PACKAGE = "libsodium-sys-stable"
ARCHIVE = "LATEST.tar.gz"
ARCHIVE_SHA256 = "eb9873cc5ccd7b26ef058394264663c99e9c047b423be1ffd484071774198f26"
SOURCE = FOLDER / "build" / "source"
# What is taken out of the archive. Not cmptest.h: a quoted include would find it first.
KEPT = ("src/libsodium/", "test/default/", "test/quirks/", "builds/msvc/version.h", "LICENSE")
LEFT = ("test/default/cmptest.h",)

INCLUDES = (f"-I{FOLDER}", f"-I{SOURCE}/src/libsodium/include", f"-I{SOURCE}/test/quirks", "-DBENCHMARKS=1")
# As the library's own build for zig compiles it.
LIBRARY_FLAGS = ("-fvisibility=hidden", "-fno-strict-aliasing", "-fno-strict-overflow", "-fwrapv",
                 "-flax-vector-conversions", "-w")
COMMON = ("_GNU_SOURCE", "CONFIGURED", "DEV_MODE", "HAVE_ATOMIC_OPS", "HAVE_C11_MEMORY_FENCES",
          "HAVE_GCC_MEMORY_FENCES", "HAVE_INLINE_ASM", "HAVE_INTTYPES_H", "HAVE_STDINT_H", "HAVE_TI_MODE",
          "NATIVE_LITTLE_ENDIAN", "HAVE_CLOCK_GETTIME", "HAVE_NANOSLEEP", "HAVE_POSIX_MEMALIGN", "HAVE_SYS_AUXV_H",
          "HAVE_SYS_PARAM_H", "HAVE_SYS_RANDOM_H")
OF_WASM = ("HAVE_ARC4RANDOM", "HAVE_ARC4RANDOM_BUF", "HAVE_GETENTROPY")
OF_LINUX = ("ASM_HIDE_SYMBOL=.hidden", "TLS=_Thread_local", "HAVE_GETPID", "HAVE_MADVISE", "HAVE_MLOCK", "HAVE_MMAP",
            "HAVE_MPROTECT", "HAVE_PTHREAD", "HAVE_PTHREAD_PRIO_INHERIT", "HAVE_RAISE", "HAVE_SYSCONF",
            "HAVE_SYS_MMAN_H", "HAVE_WEAK_SYMBOLS")
OF_MACHINE = {
    "x86_64": ("HAVE_AMD64_ASM", "HAVE_AVX_ASM", "HAVE_CPUID", "HAVE_XGETBV_ASM", "HAVE_MMINTRIN_H", "HAVE_EMMINTRIN_H",
               "HAVE_PMMINTRIN_H", "HAVE_TMMINTRIN_H", "HAVE_SMMINTRIN_H", "HAVE_AVXINTRIN_H", "HAVE_AVX2INTRIN_H",
               "HAVE_AVX512FINTRIN_H", "HAVE_WMMINTRIN_H", "HAVE_RDRAND"),
    "aarch64": ("HAVE_ARMCRYPTO",),
}


def fetch() -> pathlib.Path:
    """The library's sources, fetched and unpacked if need be. Raises ToolError."""
    if (SOURCE / "complete").is_file() and (SOURCE / "complete").read_text() == ARCHIVE_SHA256:
        return SOURCE
    archive = packages.folder(FOLDER, PACKAGE) / ARCHIVE
    SOURCE.parent.mkdir(parents=True, exist_ok=True)
    with open(SOURCE.parent / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if hashlib.sha256(archive.read_bytes()).hexdigest() != ARCHIVE_SHA256:
            raise toolchain.ToolError(f"{archive} is not the release of libsodium that is pinned")
        with tempfile.TemporaryDirectory(prefix=".source-", dir=SOURCE.parent) as scratch:
            _unpack(archive, pathlib.Path(scratch))
            shutil.rmtree(SOURCE, ignore_errors=True)
            shutil.copytree(scratch, SOURCE)
        (SOURCE / "complete").write_text(ARCHIVE_SHA256)
    return SOURCE


def _unpack(archive: pathlib.Path, into: pathlib.Path) -> None:
    with tarfile.open(archive) as tar:
        for member in tar:
            _, _, name = member.name.partition("/")
            if member.isfile() and name.startswith(KEPT) and name not in LEFT:
                path = into / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(tar.extractfile(member).read())
    include = into / "src/libsodium/include/sodium"
    shutil.copy(into / "builds/msvc/version.h", include / "version.h")


def answer_of(text: bytes) -> str:
    """What a program that prints the text answers: FNV-1a, as harness.c computes it."""
    value = 0xCBF29CE484222325
    for byte in text:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def expected(name: str) -> str:
    """The answer by the file that the library's authors give with the program."""
    return answer_of((fetch() / "test/default" / f"{name}.exp").read_bytes())


def _macros(variant: toolchain.Variant) -> list[str]:
    names = [*COMMON, *(OF_WASM if variant.suffix == ".wasm" else OF_LINUX)]
    if variant.name == "native-tuned":
        names += OF_MACHINE.get(platform.machine(), ())
    return [f"-D{name}" if "=" in name else f"-D{name}=1" for name in names]


@dataclasses.dataclass(frozen=True)
class Job(jobs.Job):
    """What both the library and its programs are made with."""

    label: str
    sources: tuple[pathlib.Path, ...]
    headers: tuple[pathlib.Path, ...]
    variant: toolchain.Variant
    output: pathlib.Path

    def recipe(self) -> list:
        tuned = toolchain.host_cpu() if self.variant.name == "native-tuned" else ""
        return [toolchain.ZIG_VERSION, [toolchain.FLAGS, LIBRARY_FLAGS, _macros(self.variant)],
                dataclasses.astuple(self.variant), ARCHIVE_SHA256, tuned]

    def compile(self, source: pathlib.Path, output: pathlib.Path, flags: list[str]) -> str:
        toolchain.run_zig(["-target", self.variant.target, *self.variant.compile_flags, *toolchain.FLAGS, *flags,
                           "-c", "-o", str(output), str(source)], f"{self.label}: {source.name}")
        return str(output)


@dataclasses.dataclass(frozen=True)
class Library(Job):
    """The whole library in one archive, with the harness: the first source."""

    def make(self, scratch: pathlib.Path) -> pathlib.Path:
        made = scratch / "libsodium.a"
        flags = [*LIBRARY_FLAGS, *_macros(self.variant), f"-I{SOURCE}/src/libsodium/include/sodium"]
        # Of what the suites share not everything is used.
        objects = [self.compile(self.sources[0], scratch / "harness.o",
                                [*INCLUDES, *toolchain.WARNINGS, "-Wno-unused-function"])]
        objects += [self.compile(source, scratch / f"{number:03}.o", flags)
                    for number, source in enumerate(self.sources[1:])]
        toolchain.run_zig(["rcs", str(made), *objects], self.label, "ar")
        return made


@dataclasses.dataclass(frozen=True)
class Program(Job):
    """One test program and what it needs of the library."""

    def make(self, scratch: pathlib.Path) -> pathlib.Path:
        linked = scratch / "linked"
        program = self.compile(self.sources[0], scratch / "program.o", [*INCLUDES, "-w"])
        toolchain.run_zig(["-target", self.variant.target, *self.variant.link_flags, "-O3", "-o", str(linked), program,
                           str(self.sources[1]), "-lm"], self.label)
        if self.variant.suffix == ".wasm":
            linked.write_bytes(wasm_file.without_debug_info(linked.read_bytes()))
        return linked


def _library(variant: toolchain.Variant) -> Library:
    folder = SOURCE / "src/libsodium"
    sources = sorted(folder.rglob("*.c")) + (sorted(folder.rglob("*.S")) if variant.name == "native-tuned" else [])
    headers = (suites.HERE / "polybench" / "harness.h", *sorted(folder.rglob("*.h")))
    return Library(f"libsodium ({variant.name})", (FOLDER / "harness.c", *sources), headers, variant,
                   FOLDER / "build" / variant.name / "libsodium.a")


def _program(name: str, variant: toolchain.Variant, library: Library) -> Program:
    sources = (SOURCE / "test/default" / f"{name}.c", library.output)
    return Program(f"{name} ({variant.name})", sources, (FOLDER / "cmptest.h",), variant,
                   FOLDER / "build" / variant.name / (name + variant.suffix))


def stages(variants: list[str], names: list[str] | None) -> list[list[jobs.Job]]:
    """The libraries, and then the programs, which need them. Raises ToolError."""
    fetch()
    suite = suites.load("libsodium")
    for workload in suite.workloads:
        if workload.table["answer"] != expected(workload.name):
            raise toolchain.ToolError(f"{suite.folder / 'suite.toml'}: {workload.name} must answer "
                                      f"{expected(workload.name)}, by the library's {workload.name}.exp")
    libraries = [_library(toolchain.VARIANTS[variant]) for variant in variants]
    programs = [_program(workload.name, library.variant, library)
                for library in libraries for workload in suite.pick(names)]
    return [list(libraries), list(programs)]
