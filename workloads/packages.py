"""Sources that are fetched from a registry and never committed.

A suite's folder may hold a Cargo.toml that only names packages, with exact
versions and a lock file. Cargo downloads them into its own cache, checks them
against the lock file's hashes, and tells where they are.
"""

from __future__ import annotations

import functools
import json
import pathlib
import subprocess

import toolchain


@functools.cache
def _folders(manifest: pathlib.Path) -> dict[str, pathlib.Path]:
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path", str(manifest)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise toolchain.ToolError(f"cargo is needed to fetch sources: {error.strerror}") from None
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.startswith("error")] or ["no message"]
        raise toolchain.ToolError(f"cargo could not fetch {manifest.parent.name}'s sources: {lines[0]}")
    packages = json.loads(done.stdout)["packages"]
    return {package["name"]: pathlib.Path(package["manifest_path"]).parent for package in packages}


def folder(suite: pathlib.Path, package: str) -> pathlib.Path:
    """Where the package's files are, downloaded if need be. Raises ToolError."""
    found = _folders(suite / "Cargo.toml").get(package)
    if found is None:
        raise toolchain.ToolError(f"{suite / 'Cargo.toml'} does not name the package `{package}`")
    return found
