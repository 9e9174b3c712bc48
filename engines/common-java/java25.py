"""A Java 25 of our own, for runners on the Java virtual machine.

Debian's package of a later suite, beside the C library that it wants, in a folder that
all such engines share. Nothing of it is seen by the machine's own programs.
"""

import fcntl
import os
import shutil
from pathlib import Path

VERSION = "25.0.3+9-2~deb13u1"
SUITE = "trixie"
PACKAGES = {
    "openjdk-25-jre-headless": VERSION,
    "libc6": "2.41-12+deb13u4",
    "libgcc-s1": "14.2.0-19",
    "libstdc++6": "14.2.0-19",
    "zlib1g": "1:1.3.dfsg+really1.3.1-1+b1",
}
PLACE = "java25"
STAMP = "version"
LAUNCHER = """#!/bin/sh
# Java with its own C library.
here=$(dirname "$0")
exec "$here/lib/ld-linux-x86-64.so.2" --library-path "$here/lib" "$here/java25/bin/java" "$@"
"""


def _unpack(step, folder: Path) -> None:
    root = folder / "root"
    step.debian_packages(PACKAGES, root, SUITE)
    shutil.move(root / "usr/lib/jvm/java-25-openjdk-amd64", folder / "java25")
    # Its settings are links to the machine's /etc, where they are not.
    for link in [path for path in (folder / "java25").rglob("*") if path.is_symlink()]:
        meant = root / os.readlink(link).lstrip("/")
        if os.readlink(link).startswith("/"):
            link.unlink()
            if meant.exists():
                shutil.copy(meant, link)
    (folder / "lib").mkdir()
    for library in root.rglob("usr/lib/x86_64-linux-gnu/*.so*"):
        shutil.copy(library, folder / "lib" / library.name)
    shutil.rmtree(root)
    (folder / "java").write_text(LAUNCHER)
    (folder / "java").chmod(0o755)
    (folder / STAMP).write_text(VERSION)


def java(step) -> Path:
    """The program, fetched if it is not there yet."""
    place = step.shared(PLACE)
    with open(place.with_name(place.name + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = place / STAMP
        if not stamp.is_file() or stamp.read_text() != VERSION:
            step.say("Java 25 (Debian, about 56 MB, shared by engines)")
            partial = place.with_name(place.name + ".partial")
            for old in (partial, place):
                shutil.rmtree(old, ignore_errors=True)
            partial.mkdir(parents=True)
            _unpack(step, partial)
            partial.rename(place)
    return place / "java"


def compile_runner(step, here: Path, classpath: list[Path], into: Path) -> None:
    """Compiles what the runners share and the engine's own sources into a folder."""
    step.say("the runner (javac)")
    sources = sorted((here.parent / "common-java").glob("*.java")) + sorted(here.glob("*.java"))
    step.run(
        [java(step), "-m", "jdk.compiler/com.sun.tools.javac.Main", "-d", into, "-cp", ":".join(map(str, classpath)),
         *sources],
        "javac",
    )
