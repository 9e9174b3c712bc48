"""How Bun is installed: the program from its npm package, and the few lines of C
through which its JavaScript makes system calls."""

import shutil
from pathlib import Path

VERSION = "1.4.4"
NEEDS = ["npm", "cc"]
USES = ["common-js"]
INTEGRITY = "sha512-CHbbkmHVM28T1GFq+6GL4Ao4ujwwYwj1CxFFwEFzLanPfNsId9AhbIP0Q4reWuWBkGimUkoQygrK7Rgjtj3vog=="


def install(step, here: Path, into: Path) -> None:
    """Fills the folder `into` with `bin/bun` and `bin/syscall.so`."""
    step.say("the program (npm, about 50 MB)")
    step.npm_package("@oven/bun-linux-x64", step.version or VERSION, None if step.version else INTEGRITY, into / "package")
    (into / "bin").mkdir()
    shutil.move(into / "package" / "bin" / "bun", into / "bin" / "bun")
    shutil.rmtree(into / "package")
    step.say("system calls for its JavaScript (cc)")
    source = here.parent / "common-js" / "syscall.c"
    step.run(["cc", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", source, "-o", into / "bin" / "syscall.so"], "cc")
    step.say("bun " + step.run([into / "bin" / "bun", "--version"], "bun does not run").strip())
