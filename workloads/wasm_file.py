"""Just enough of the Wasm binary format to drop a module's debug sections, and exports."""

from __future__ import annotations

MAGIC = b"\0asm\x01\0\0\0"
CUSTOM = 0
EXPORT = 7


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


def _as_leb128(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _sections(data: bytes):
    """Kind, body and the whole of each section. Raises ValueError for what is not a module."""
    if not data.startswith(MAGIC):
        raise ValueError("not a Wasm module")
    at = len(MAGIC)
    while at < len(data):
        start, kind = at, data[at]
        size, body = _leb128(data, at + 1)
        at = body + size
        yield kind, data[body:at], data[start:at]


def without_debug_info(data: bytes) -> bytes:
    """The module without DWARF and producer sections.

    The linker's own option drops the name section with them, which traps and
    profiles need. Raises ValueError for what is not a module.
    """
    kept = [MAGIC]
    for kind, body, whole in _sections(data):
        if kind == CUSTOM:
            length, name_at = _leb128(body, 0)
            name = body[name_at:name_at + length]
            if name.startswith(b".debug_") or name == b"producers":
                continue
        kept.append(whole)
    return b"".join(kept)


def with_exports(data: bytes, names: dict[str, str]) -> bytes:
    """The module with no exports but these, and what they are called then. Raises ValueError for what is not a module."""
    made = [MAGIC]
    for kind, body, whole in _sections(data):
        made.append(_export_section(body, names) if kind == EXPORT else whole)
    return b"".join(made)


def _export_section(body: bytes, names: dict[str, str]) -> bytes:
    count, at = _leb128(body, 0)
    kept = []
    for _ in range(count):
        length, name_at = _leb128(body, at)
        name = body[name_at:name_at + length].decode()
        _, at = _leb128(body, name_at + length + 1)  # behind its kind
        if name in names:
            called = names[name].encode()
            kept.append(_as_leb128(len(called)) + called + body[name_at + length:at])
    section = _as_leb128(len(kept)) + b"".join(kept)
    return bytes([EXPORT]) + _as_leb128(len(section)) + section
