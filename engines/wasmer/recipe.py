"""How wasmer is installed: a small program around its crates, built as locked, and where
Debian's packages can be had once more with LLVM.

Of the packages that its WASI asks for some are large and on no measured path;
Cargo.toml has them compiled with less care.
"""

import shutil

VERSION = "7.4.2"
NEEDS = ["cargo", "cc", "c++"]
# Of fathom's own crates those that decide what the runner says and times.
USES = ["../crates/runner", "../crates/record"]
LLVM_VERSION = "22.1.8"
LLVM = {"bookworm-security": {"llvm-22-dev": f"1:{LLVM_VERSION}-1~deb12u1"},
        "bookworm": {"zlib1g-dev": "1:1.2.13.dfsg-1", "libzstd-dev": "1.5.4+dfsg2-5", "libffi-dev": "3.4.4-1"}}
# What the crate llvm-sys asks LLVM's own program of this name, which is in a package
# that needs a dozen others.
LLVM_CONFIG = """#!/bin/sh
case "$*" in
    --version) echo {version} ;;
    --cflags) echo -I{usr}/include/llvm-22 -I{usr}/include/llvm-c-22 ;;
    --libdir) echo {libraries} ;;
    "--libnames --link-static") cd {libraries} && echo libLLVM*.a ;;
    "--system-libs --link-static") echo -lrt -ldl -lm -lz -lzstd ;;
    --build-mode) echo Release ;;
    *) exit 1 ;;
esac
"""


def _llvm(step):
    """LLVM to link with, kept beside what is compiled with it; returns its folder."""
    step.say("LLVM 22 (Debian's security updates of bookworm, about 54 MB)")
    into = step.kept() / "llvm"
    for suite, packages in LLVM.items():
        step.debian_packages(packages, into, suite)
    libraries = into / "usr" / "lib" / "llvm-22" / "lib"
    # Shared ones are links into packages that are not here.
    for shared in libraries.glob("*.so*"):
        shared.unlink()
    for name in ("libz.a", "libzstd.a", "libffi.a"):
        (archive,) = (into / "usr" / "lib").glob(f"*-linux-gnu/{name}")
        shutil.copy(archive, libraries)
    config = into / "bin" / "llvm-config-22"
    config.parent.mkdir(exist_ok=True)
    config.write_text(LLVM_CONFIG.format(version=LLVM_VERSION, usr=into / "usr", libraries=libraries))
    config.chmod(0o755)
    return into


def install(step, here, into):
    """Fills the folder `into` with the runner, and where there is LLVM with another that
    has it."""
    if step.has_debian():
        llvm = _llvm(step)
        step.say("the runner with LLVM (crates, 20 minutes of processor time and more)")
        step.cargo_build(here, "runner", into, ["llvm"], {"LLVM_SYS_221_PREFIX": llvm})
        (into / "runner").rename(into / "runner-llvm")
        step.run(["strip", into / "runner-llvm"], "strip")
    else:
        step.say("without LLVM, which comes from Debian's packages")
    step.say("the runner (crates, 15 minutes of processor time, less behind the other)")
    step.cargo_build(here, "runner", into)
    step.say(step.run([into / "runner", "--check"], "the runner does not run").strip())
