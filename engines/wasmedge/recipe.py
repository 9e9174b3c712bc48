"""How WasmEdge is installed: Debian's package of a later suite with all that it needs,
down to the C library and LLVM, in a folder of its own; the runner is compiled here and
started by that folder's loader."""

import shutil
from pathlib import Path

VERSION = "0.17.1"
NEEDS = ["cc"]
USES = ["common"]
PACKAGES = {"libwasmedge0": "0.17.1-1+b1", "libwasmedge-dev": "0.17.1-1+b1"}


def install(step, here: Path, into: Path) -> None:
    """Fills the folder `into` with the library, its world, and the runner."""
    step.say("the library and what it needs (Debian sid, about 60 MB)")
    prefix = into / "debian"
    start = step.debian_prefix(PACKAGES, prefix, "sid")
    libraries = Path(start[-1])
    step.say("the runner (cc)")
    # The library needs a newer C library than this machine's: the linker must not look.
    step.c_runner(
        here, ["engine.c"], into / "runner",
        [f"-I{prefix / 'usr' / 'include'}", f"-L{libraries}", "-l:libwasmedge.so.0", "-Wl,--allow-shlib-undefined",
         "-rdynamic", "-ldl"],
    )
    for folder in ("etc", "usr/share", "usr/sbin", "usr/bin", "usr/include"):
        shutil.rmtree(prefix / folder, ignore_errors=True)
    for unused in [*prefix.rglob("*.a"), *prefix.rglob("gconv"), *prefix.rglob("ossl-modules")]:
        shutil.rmtree(unused) if unused.is_dir() else unused.unlink()
    step.say(step.run([*start, into / "runner", "--check"], "the runner does not run").strip())
