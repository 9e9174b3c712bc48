"""Write the initial file system of a virtual machine: a "newc" cpio archive.

usage: initramfs.py OUT INIT [PROGRAM=PATH | FOLDER]…

PROGRAM is put at PATH with the shared libraries that ldd names; FOLDER is put
where it is, with all its files. INIT becomes /init. The format is that of
Documentation/driver-api/early-userspace/buffer-format.rst in Linux's sources.
"""

import pathlib
import re
import subprocess
import sys

FILE, FOLDER, DEVICE = 0o100000, 0o040000, 0o020000


class Archive:
    def __init__(self):
        self.entries = {}

    def put(self, path, mode, data=b"", device=(0, 0)):
        path = pathlib.PurePosixPath(path.lstrip("/"))
        for folder in reversed(path.parents[:-1]):
            self.entries.setdefault(str(folder), (FOLDER | 0o755, b"", (0, 0)))
        self.entries[str(path)] = (mode, data, device)

    def put_program(self, source, path):
        self.put(path, FILE | 0o755, pathlib.Path(source).read_bytes())
        listed = subprocess.run(["ldd", source], capture_output=True, text=True).stdout
        for library in re.findall(r"(?:=> |^\s)(/\S+) \(0x", listed, re.MULTILINE):
            self.put(library, FILE | 0o755, pathlib.Path(library).read_bytes())

    def put_folder(self, folder):
        for file in sorted(pathlib.Path(folder).rglob("*")):
            if file.is_file():
                self.put(str(file), FILE | 0o644, file.read_bytes())

    def write(self, out):
        for number, (path, entry) in enumerate(self.entries.items(), 1):
            write_entry(out, number, path, *entry)
        write_entry(out, 0, "TRAILER!!!", 0, b"", (0, 0))


def write_entry(out, number, path, mode, data, device):
    name = path.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name), 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + name
    for part in head, data:
        out.write(part + b"\0" * (-len(part) % 4))


def main():
    out, init, *rest = sys.argv[1:]
    archive = Archive()
    for path, number in (("null", (1, 3)), ("zero", (1, 5)), ("console", (5, 1))):
        archive.put(f"dev/{path}", DEVICE | 0o666, device=number)
    for folder in "proc", "sys", "tmp":
        archive.put(folder, FOLDER | 0o755)
    archive.put("init", FILE | 0o755, pathlib.Path(init).read_bytes())
    for given in rest:
        source, _, path = given.partition("=")
        if path:
            archive.put_program(source, path)
        else:
            archive.put_folder(source)
    with open(out, "wb") as file:
        archive.write(file)


if __name__ == "__main__":
    main()
