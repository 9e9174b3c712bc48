"""How Deno is installed: the program from its npm package, and the few lines of C
through which its JavaScript makes system calls."""

import shutil
from pathlib import Path

VERSION = "2.9.6"
NEEDS = ["npm", "cc"]
USES = ["common-js"]
INTEGRITY = "sha512-3md4TKLCuzsLDmfOoC5KN7NAZaxSVkMgm64vg6foD00JBADCpYS2/5QqXfzgnP5ZQz3iLP9vBQJtEgc116OAoQ=="


def install(step, here: Path, into: Path) -> None:
    """Fills the folder `into` with `bin/deno` and `bin/syscall.so`."""
    step.say("the program (npm, about 42 MB)")
    step.npm_package("@deno/linux-x64-glibc", step.version or VERSION, None if step.version else INTEGRITY, into / "package")
    (into / "bin").mkdir()
    shutil.move(into / "package" / "deno", into / "bin" / "deno")
    shutil.rmtree(into / "package")
    step.say("system calls for its JavaScript (cc)")
    source = here.parent / "common-js" / "syscall.c"
    step.run(["cc", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", source, "-o", into / "bin" / "syscall.so"], "cc")
    step.say("deno " + step.run([into / "bin" / "deno", "--version"], "deno does not run").strip())
