"""How wasmtime with stack switching is installed: a small program around its crates, built
as locked. The library in wasmtime's Python package was compiled without that."""

VERSION = "48.0.8"
NEEDS = ["cargo", "cc"]
# Of fathom's own crates those that decide what the runner says and times.
USES = ["../crates/runner", "../crates/record"]


def install(step, here, into):
    """Fills the folder `into` with the runner."""
    step.say("the runner (crates, several minutes of processor time)")
    step.cargo_build(here, "runner", into)
    step.say(step.run([into / "runner", "--check"], "the runner does not run").strip())
