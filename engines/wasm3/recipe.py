"""How wasm3 is installed: compiled from its source, which a Python package carries."""

import shutil
from pathlib import Path

VERSION = "0.5.0"
NEEDS = ["cc"]
USES = ["common"]


def install(step, here: Path, into: Path) -> None:
    """Fills the folder `into` with the runner, the engine inside it."""
    step.say("the source (PyPI, 80 kB)")
    source = into / "source"
    step.pip_source(here / "requirements.txt", source)
    step.say("the engine and the runner (cc)")
    # As its own build files have it, without what is for debugging.
    options = ["-O3", "-DNDEBUG", "-DNASSERTS", "-fomit-frame-pointer", "-fno-stack-check", "-fno-stack-protector", "-w"]
    objects = into / "objects"
    objects.mkdir()
    step.run(["cc", *options, "-c", *sorted((source / "wasm3").glob("*.c"))], "cc", cwd=objects)
    step.c_runner(
        here, ["engine.c"], into / "runner", [f"-I{source / 'wasm3'}", *sorted(objects.glob("*.o")), "-lm"], wasi=True
    )
    for made in (source, objects):
        shutil.rmtree(made)
    step.say(step.run([into / "runner", "--check"], "the runner does not run").strip())
