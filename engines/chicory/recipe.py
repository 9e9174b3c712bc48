"""How Chicory is installed: its jars and what they need from Maven Central."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common-java"))
import java25  # noqa: E402

VERSION = "1.7.5"
NEEDS = ["mvn", "apt-get", "dpkg-deb"]
USES = ["common-java"]
ARTIFACTS = {
    "com.dylibso.chicory:runtime:1.7.5":
        "cdbb2bd4e353eacff78da5dd3454694316eaa6d2950aab3d1517dca41ae4a0b2",
    "com.dylibso.chicory:wasm:1.7.5":
        "16558a66bac04f7e00ea06950f52d87ce2cfff535a54bac2115f2c13e0b3050b",
    "com.dylibso.chicory:wasi:1.7.5":
        "52f68c155b1dc4ff6df9a6b9eb84201029886561e87bc77a858bd14333c1cfbc",
    "com.dylibso.chicory:compiler:1.7.5":
        "1a54cc0b3a79aa914f7f2fa5e7b7ed902702f3ce7aa155ec0cfc74b386a97377",
    "com.dylibso.chicory:log:1.7.5":
        "79e4e505060d48dee4f520daa9591dbb9b9dc2e3073e1a5fcb2018bfd2d5d1f2",
    "org.ow2.asm:asm:9.9.1":
        "6f3828a215c920059a5efa2fb55c233d6c54ec5cadca99ce1b1bdd10077c7ddd",
    "org.ow2.asm:asm-tree:9.9.1":
        "0f3555096b720b820bbacab0b515589bee0200bee099bda14c561738ae837ba1",
    "org.ow2.asm:asm-analysis:9.9.1":
        "6260bffc8ec008dd1b713702c7994e2c94d188a3da5bef9e87278a16df6a7522",
    "org.ow2.asm:asm-commons:9.9.1":
        "c2319e014ce7199f2b7f7d56d6bb991863168c3f4b6cd6c9f542a4937ef7ef88",
    "org.ow2.asm:asm-util:9.9.1":
        "c5ebbbeaf68126af094b42fa4800f59bc4413abd02d95b9aefad722cd257e207",
}


def install(step, here: Path, into: Path) -> None:
    """Fills the folder `into` with `jars` and the runner's `classes`."""
    java = java25.java(step)
    jars = into / "jars"
    step.say("its jars (Maven Central, under 1 MB)")
    step.maven_artifacts(ARTIFACTS, jars)
    java25.compile_runner(step, here, sorted(jars.glob("*.jar")), into / "classes")
    step.say("java " + step.run([java, "--version"], "java does not run").splitlines()[0])
