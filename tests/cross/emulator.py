#!/usr/bin/env python3
"""QEMU for the tests on other instruction sets: one that is new enough, under watch.

    tests/cross/emulator.py setup             make sure that there is one
    tests/cross/emulator.py ISA PROGRAM...    run a program on it

Releases before 8 keep a record for each page of a mapping, so that the reservation
of one 64-bit memory costs them seconds and gigabytes: they are refused. Where none
is installed that is newer, `setup` fetches a pinned one into `.tools/qemu`
from the Debian mirror that apt knows; it is static.

What must stay true: what is in `.tools/qemu` has the pinned checksum, and a program
that takes more memory than `RESIDENT_MB_MAX` is ended, not the machine.
"""

from __future__ import annotations

import hashlib
import io
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request

TOOLS = pathlib.Path(__file__).resolve().parents[2] / ".tools"
HOME = TOOLS / "qemu"
OLDEST = 8

# Of Debian 12's backports; where it stands below a mirror.
PINNED = "pool/main/q/qemu/qemu-user_10.0.2+ds-2+deb13u1~bpo12+1_amd64.deb"
SHA256 = "10a2dec99f2b2d0b1097ff0375aea35b89322d6631fc96700511b02e05bf6fef"
TIMEOUT_S = 60

# The processors, unless QEMU_CPU names another. That of aarch64 has everything
# QEMU knows; the vectors of riscv64 are no wider than needed.
CPUS = {"aarch64": "max", "riscv64": "rv64,v=true,vlen=128,elen=64,vext_spec=v1.0"}

RESIDENT_MB_MAX = 6000
LOOK_EVERY_S = 0.5


class Missing(Exception):
    """Why there is no emulator, in one line."""


def version(program: pathlib.Path) -> str | None:
    """What an emulator says of itself, None when it does not run."""
    try:
        out = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    found = re.search(r"version (\d+\.\d+\S*)", out)
    return found and found.group(1)


def is_new_enough(found: str) -> bool:
    return int(found.split(".")[0]) >= OLDEST


def find(isa: str) -> pathlib.Path:
    """The emulator of an instruction set. Raises Missing."""
    ours = HOME / "bin" / f"qemu-{isa}"
    if ours.is_file():
        return ours
    installed = shutil.which(f"qemu-{isa}")
    remedy = "`tests/cross/emulator.py setup` fetches a newer one"
    if installed is None:
        raise Missing(f"no qemu-{isa}: {remedy}")
    found = version(pathlib.Path(installed))
    if found is None:
        raise Missing(f"{installed} does not run: {remedy}")
    if not is_new_enough(found):
        raise Missing(f"{installed} is {found}, which keeps a record for each page of a reservation: {remedy}")
    return pathlib.Path(installed)


def mirrors() -> list[str]:
    """The Debian mirrors that apt is configured with; none on other systems."""
    command = ["apt-get", "indextargets", "--format", "$(ORIGIN) $(CODENAME) $(REPO_URI)"]
    try:
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return []
    targets = {tuple(line.split()) for line in out.splitlines()}
    found = {target[2] for target in targets
             if len(target) == 3 and target[0] == "Debian" and not target[1].endswith("-security")}
    return sorted(found)


def fetch() -> bytes:
    """The pinned package, from the first mirror that has it. Raises Missing."""
    complaints = []
    for mirror in mirrors():
        source = f"{mirror.rstrip('/')}/{PINNED}"
        try:
            with urllib.request.urlopen(source, timeout=TIMEOUT_S) as response:
                package = response.read()
        except (OSError, urllib.error.URLError) as error:
            complaints.append(f"{source}: {getattr(error, 'reason', error)}")
            continue
        if hashlib.sha256(package).hexdigest() == SHA256:
            return package
        complaints.append(f"{source}: {len(package)} bytes that are not the pinned ones")
    why = "; ".join(complaints) or "apt knows no Debian mirror"
    raise Missing(f"cannot fetch QEMU ({why}): install release {OLDEST} or newer")


def members(archive: bytes) -> dict[str, bytes]:
    """The files of an `ar` archive, which a Debian package is."""
    found = {}
    at = len(b"!<arch>\n")
    while at + 60 <= len(archive):
        name, size = archive[at : at + 16].decode().strip(), int(archive[at + 48 : at + 58])
        found[name.rstrip("/")] = archive[at + 60 : at + 60 + size]
        at += 60 + size + size % 2
    return found


def unpack(package: bytes, into: pathlib.Path) -> None:
    """The emulators that are used, and the licence, out of the package."""
    with tarfile.open(fileobj=io.BytesIO(members(package)["data.tar.xz"])) as data:
        for member in data:
            path = pathlib.PurePosixPath(member.name)
            emulator = path.name in {f"qemu-{isa}" for isa in CPUS} and path.parent.name == "bin"
            if member.isfile() and (emulator or path.name == "copyright"):
                to = into / "bin" / path.name if emulator else into / path.name
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes(data.extractfile(member).read())
                to.chmod(member.mode)


def set_up() -> None:
    """An emulator for each instruction set, fetched where need be. Raises Missing."""
    stamp = HOME / "sha256"
    if not (stamp.is_file() and stamp.read_text() == SHA256):
        shutil.rmtree(HOME, ignore_errors=True)
    try:
        for isa in CPUS:
            find(isa)
        return
    except Missing as why:
        if platform.machine() != "x86_64":
            raise Missing(f"{why}, but for x86-64 only: install QEMU {OLDEST} or newer") from None
    print(f"fetching {pathlib.PurePosixPath(PINNED).name} into {HOME}", flush=True)
    TOOLS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".qemu-", dir=TOOLS) as scratch:
        whole = pathlib.Path(scratch) / "qemu"
        unpack(fetch(), whole)
        (whole / "sha256").write_text(SHA256)
        os.rename(whole, HOME)


def resident_mb(process: int) -> int:
    """What a process occupies, 0 when it is gone."""
    try:
        pages = pathlib.Path(f"/proc/{process}/statm").read_text().split()[1]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE") >> 20


def run(isa: str, program: list[str]) -> int:
    """Runs a program under watch; its status. Raises Missing."""
    cpu = [] if "QEMU_CPU" in os.environ else ["-cpu", CPUS[isa]]
    # For programs that start themselves once more: the kernel cannot.
    again = f"{sys.executable} {pathlib.Path(__file__).resolve()} {isa}"
    process = subprocess.Popen(
        [find(isa), *cpu, "-L", f"/usr/{isa}-linux-gnu", *program], env=os.environ | {"FATHOM_EMULATOR": again}
    )
    try:
        while True:
            try:
                status = process.wait(LOOK_EVERY_S)
                return status if status >= 0 else 128 - status
            except subprocess.TimeoutExpired:
                if resident_mb(process.pid) > RESIDENT_MB_MAX:
                    print(f"ended: more than {RESIDENT_MB_MAX} MB resident: {program[0]}", file=sys.stderr)
                    return 137
    finally:
        process.kill()
        process.wait()


def main(arguments: list[str]) -> int:
    # A polite kill unwinds, so that no emulator goes on without its watch.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        match arguments:
            case ["setup"]:
                set_up()
                for isa in CPUS:
                    print(f"{find(isa)} {version(find(isa))}")
                return 0
            case [isa, _, *_] if isa in CPUS:
                return run(isa, arguments[1:])
    except Missing as why:
        print(f"error: {why}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    print("usage: tests/cross/emulator.py setup | ISA PROGRAM...", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
