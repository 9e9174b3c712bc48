"""How GraalWasm is installed: its jars, Truffle and the Graal compiler from Maven Central."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common-java"))
import java25  # noqa: E402

VERSION = "25.0.2"
NEEDS = ["mvn", "apt-get", "dpkg-deb"]
USES = ["common-java"]
ARTIFACTS = {
    "org.graalvm.wasm:wasm-language:25.0.2":
        "5a21482367288a2bd9e1c0c3b0d7a85d79eda10c25caf948e4c04faec4b3def0",
    "org.graalvm.polyglot:polyglot:25.0.2":
        "5e5fbdc88a8d2da04052586a3894baed7f9935b701fd6d0fc7c72282fa272fb7",
    "org.graalvm.truffle:truffle-api:25.0.2":
        "d72269d86fffddb09ed62b5659b355a09e876d5b77e0b737a992f2d359cf5acc",
    "org.graalvm.truffle:truffle-runtime:25.0.2":
        "61ddeb71a6b54fdf9ba7d20daa994ba5433722ebdaf94919fb853afaab027622",
    "org.graalvm.truffle:truffle-compiler:25.0.2":
        "e74384ef882d7867fe02be57907909cd9137f763b3c8c5242cdd3ea7970b6933",
    "org.graalvm.compiler:compiler:25.0.2":
        "475eae6a53f30e358e1849384e305281f3e1d0e13f69182bc7621c70839c1b7f",
    "org.graalvm.sdk:collections:25.0.2":
        "248e08c3ce02e47746f4697d0127f7142add99474ae31e7dea95e7da9823aacf",
    "org.graalvm.sdk:jniutils:25.0.2":
        "b087d8b0232e2e19a6c3300541ddc45d1e83eb7f2be7820198c4f42ac24b16ce",
    "org.graalvm.sdk:nativeimage:25.0.2":
        "ab30dea76d42dd78f1755faa062af0f0b853df2b3aaac92a0f912e7eebec3971",
    "org.graalvm.sdk:word:25.0.2":
        "1e616c48deed3b5f855227a88ccfe9c5a71f0ead6422f9c41cd853f584abfa88",
}


def install(step, here: Path, into: Path) -> None:
    """Fills the folder `into` with `jars` and the runner's `classes`."""
    java = java25.java(step)
    jars = into / "jars"
    step.say("its jars and the Graal compiler (Maven Central, about 43 MB)")
    step.maven_artifacts(ARTIFACTS, jars)
    java25.compile_runner(step, here, sorted(jars.glob("*.jar")), into / "classes")
    step.say("java " + step.run([java, "--version"], "java does not run").splitlines()[0])
