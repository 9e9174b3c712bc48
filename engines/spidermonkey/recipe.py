"""How SpiderMonkey is installed: Debian's library of a later suite, beside the C library
that it wants, and a small shell compiled against it."""

import shutil
from pathlib import Path

VERSION = "140.17.0"
NEEDS = ["apt-get", "dpkg-deb", "cc", "c++"]
USES = ["common-js"]
ENGINE = {"libmozjs-140-0": "140.17.0-1", "libmozjs-140-dev": "140.17.0-1"}
ENGINE_SUITE = "forky"
# What the library stands on; it asks for no newer.
LIBRARIES = {
    "libc6": "2.41-12+deb13u4",
    "libgcc-s1": "14.2.0-19",
    "libstdc++6": "14.2.0-19",
    "zlib1g": "1:1.3.dfsg+really1.3.1-1+b1",
}
LIBRARIES_SUITE = "trixie"
LAUNCHER = f"""#!/bin/sh
# The shell with its own C library; FATHOM_SHELL is how it starts itself again. Where that
# library uses AVX-512, the engine's float instructions were seen to run hundreds of times
# slower (Xeon with AVX-512 in a virtual machine), so it uses AVX2.
here=$(dirname "$0")
export GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX512VL
FATHOM_SHELL="$0" FATHOM_VERSION={VERSION} exec "$here/lib/ld-linux-x86-64.so.2" --library-path "$here/lib" \\
    "$here/program" "$@"
"""


def _compile(step, here: Path, root: Path, into: Path) -> None:
    include = root / "usr/include/x86_64-linux-gnu/mozjs-140"
    call = into / "syscall.o"
    step.run(["cc", "-O2", "-c", here.parent / "common-js" / "syscall.c", "-o", call], "cc")
    step.run(
        ["c++", "-std=c++17", "-O2", "-Wall", "-Wextra", "-fno-rtti", "-isystem", include,
         here / "shell.cpp", here / "natives.cpp", call, "-o", into / "program",
         f"-L{into / 'lib'}", "-l:libmozjs-140.so.0", "-Wl,--allow-shlib-undefined", "-lpthread"],
        "c++",
    )
    call.unlink()


def install(step, here: Path, into: Path) -> None:
    """Fills the folder `into` with `shell`, its program and its libraries."""
    step.say("the library (Debian, about 27 MB with what it stands on)")
    root = into / "root"
    step.debian_packages(LIBRARIES, root, LIBRARIES_SUITE)
    step.debian_packages(ENGINE, root, ENGINE_SUITE)
    (into / "lib").mkdir()
    for library in root.rglob("usr/lib/x86_64-linux-gnu/*.so.*"):
        shutil.copy(library, into / "lib" / library.name)
    step.say("the shell (c++)")
    _compile(step, here, root, into)
    shutil.rmtree(root)
    (into / "shell").write_text(LAUNCHER)
    (into / "shell").chmod(0o755)
    step.say(step.run([into / "shell", here / "runner.mjs", "--check"], "the shell does not run").strip())
