"""The two builds that are compared with each other: one source, 32-bit and 64-bit memories.

zig's clang has no libc for 64-bit memories, and a ratio between two releases of
clang says nothing about memories. So both widths are compiled by Debian's
clang-19 with the same flags against a libc that the same compiler made of the
same sources (`wasm64.py`). What is left between the two is the width: pointers
of twice the size, sign extensions of 32-bit indices, and the bounds checks.

What must stay true:
- Nothing but the target differs between the two.
- No build is vectorised: there is no SIMD in the target, and both vectorisers
  are off, so that neither unrolls for one width and not for the other.
"""

from __future__ import annotations

import dataclasses
import pathlib

import jobs
import toolchain
import wasm64
import wasm_file

BITS = {"wasm32": 32, "wasm64": 64}
FLAGS = ("-fno-vectorize", "-fno-slp-vectorize")


@dataclasses.dataclass(frozen=True)
class Job(jobs.Job):
    """A C program for one width."""

    label: str
    sources: tuple[pathlib.Path, ...]
    headers: tuple[pathlib.Path, ...]
    flags: tuple[str, ...]  # beyond those of every workload and of this comparison
    variant: str
    output: pathlib.Path

    def recipe(self) -> list:
        return [wasm64.CLANG, wasm64.stamp(BITS[self.variant]), [toolchain.FLAGS, FLAGS, self.flags, self.variant]]

    def make(self, scratch: pathlib.Path) -> pathlib.Path:
        bits = BITS[self.variant]
        wasm64.build(bits=bits)
        objects, linked = [], scratch / "linked"
        for index, source in enumerate(self.sources):
            objects.append(f"{scratch}/{index}.o")
            toolchain.run([wasm64.CLANG, *wasm64.compile_flags(bits), *toolchain.FLAGS, *FLAGS, *self.flags,
                           "-c", "-o", objects[-1], str(source)], self.label)
        wasm64.link(objects, str(linked), self.label, bits)
        linked.write_bytes(wasm_file.without_debug_info(linked.read_bytes()))
        return linked
