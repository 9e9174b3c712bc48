"""How wasmer is installed: a small program around its crates, built as locked.

Of the packages that its WASI asks for some are large and on no measured path;
Cargo.toml has them compiled with less care.
"""

VERSION = "7.4.2"
NEEDS = ["cargo", "cc"]
# Of fathom's own crates those that decide what the runner says and times.
USES = ["../crates/runner", "../crates/record"]


def install(step, here, into):
    """Fills the folder `into` with the runner."""
    step.say("the runner (crates, 15 minutes of processor time and more)")
    step.cargo_build(here, "runner", into)
    step.say(step.run([into / "runner", "--check"], "the runner does not run").strip())
