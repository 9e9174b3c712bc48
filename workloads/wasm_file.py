"""Just enough of the Wasm binary format to drop a module's debug sections."""

from __future__ import annotations

MAGIC = b"\0asm\x01\0\0\0"
CUSTOM = 0


def _leb128(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned LEB128 number and the offset behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def without_debug_info(data: bytes) -> bytes:
    """The module without DWARF and producer sections.

    The linker's own option drops the name section with them, which traps and
    profiles need. Raises ValueError for what is not a module.
    """
    if not data.startswith(MAGIC):
        raise ValueError("not a Wasm module")
    kept = [MAGIC]
    at = len(MAGIC)
    while at < len(data):
        start, kind = at, data[at]
        size, body = _leb128(data, at + 1)
        at = body + size
        if kind == CUSTOM:
            length, name_at = _leb128(data, body)
            name = data[name_at:name_at + length]
            if name.startswith(b".debug_") or name == b"producers":
                continue
        kept.append(data[start:at])
    return b"".join(kept)
