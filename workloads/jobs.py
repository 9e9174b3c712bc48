"""Incremental building: an output is made again when its sources, its recipe or
the tools changed. The key is kept in a hidden file beside it, with a hash of
the output so that a damaged file is made again too. An output appears complete
or not at all.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import os
import pathlib
import sys
import tempfile
import time

import toolchain

# Bump when an output changes for a reason that its key does not see.
BUILD_FORMAT = 1

# A broken header fails every workload alike.
FAILURES_SHOWN = 5


class Job:
    """One output file. A subclass has the fields `label` (for messages: "gemm
    (wasm, medium)"), `sources`, `headers` and `output`, and says how it is made."""

    def recipe(self) -> list:
        """What decides the output besides sources and headers; JSON."""
        raise NotImplementedError

    def make(self, scratch: pathlib.Path) -> pathlib.Path:
        """Makes the output below `scratch`. Raises ToolError with one line when it cannot."""
        raise NotImplementedError

    def key(self) -> str:
        """Changes whenever the output could."""
        digest = hashlib.sha256()
        digest.update(json.dumps([BUILD_FORMAT, *self.recipe()]).encode())
        for path in (*self.sources, *self.headers):
            content = path.read_bytes()
            digest.update(f"\0{path.name}\0{len(content)}\0".encode() + content)
        return digest.hexdigest()

    def key_file(self) -> pathlib.Path:
        return self.output.with_name(f".{self.output.name}.key")

    def is_current(self) -> bool:
        try:
            key, digest = self.key_file().read_text().split()
            return key == self.key() and digest == _sha256(self.output)
        except (OSError, ValueError):
            return False


def _sha256(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def make(job: Job) -> None:
    """Makes the output. Raises ToolError with one line when the compiler fails."""
    job.output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".build-", dir=job.output.parent) as scratch:
        made = job.make(pathlib.Path(scratch))
        key = f"{job.key()} {_sha256(made)}\n"
        job.key_file().unlink(missing_ok=True)
        os.replace(made, job.output)
    with tempfile.NamedTemporaryFile("w", dir=job.output.parent, prefix=".key-", delete=False) as file:
        file.write(key)
    os.replace(file.name, job.key_file())


class Progress:
    """One line that is rewritten on a terminal; one line a tenth elsewhere."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self.start = total, 0, time.monotonic()
        self.live = sys.stderr.isatty()

    def step(self, label: str) -> None:
        self.done += 1
        elapsed = time.monotonic() - self.start
        left = elapsed / self.done * (self.total - self.done)
        line = f"[{self.done}/{self.total}] {label} · {elapsed:.0f} s, {left:.0f} s left"
        if self.live:
            print(f"\r\x1b[K{line}", end="\n" if self.done == self.total else "", file=sys.stderr, flush=True)
        elif self.done * 10 // self.total != (self.done - 1) * 10 // self.total:
            print(line, file=sys.stderr, flush=True)


def run(jobs: list[Job], workers: int) -> int:
    """Makes what is not current. Returns the number of failures, each printed."""
    start = time.monotonic()
    stale = [job for job in jobs if not job.is_current()]
    failures: list[str] = []
    progress = Progress(len(stale))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        running = {pool.submit(make, job): job for job in stale}
        try:
            for future in concurrent.futures.as_completed(running):
                try:
                    future.result()
                except (toolchain.ToolError, OSError, ValueError) as error:
                    failures.append(str(error))
                progress.step(running[future].label)
        except BaseException:  # an interrupt or a polite kill: what has begun is finished, nothing more is begun
            pool.shutdown(cancel_futures=True)
            raise
    for failure in failures[:FAILURES_SHOWN]:
        print(f"error: {failure}", file=sys.stderr)
    if len(failures) > FAILURES_SHOWN:
        print(f"error: and {len(failures) - FAILURES_SHOWN} more", file=sys.stderr)
    print(f"workloads: {len(stale) - len(failures)} built, {len(jobs) - len(stale)} up to date, "
          f"{len(failures)} failed in {time.monotonic() - start:.1f} s")
    return len(failures)
