"""The parts of emulator.py that need neither a network nor an emulator."""

import io
import pathlib
import sys
import tarfile
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import emulator


def package(files: dict[str, bytes]) -> bytes:
    """A Debian package with these files."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:xz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o755
            archive.addfile(member, io.BytesIO(content))
    whole = b"!<arch>\n"
    for name, content in {"debian-binary": b"2.0", "data.tar.xz": data.getvalue()}.items():
        padding = b"\n" * (len(content) % 2)
        whole += f"{name:16}{0:12}{0:6}{0:6}{100644:8}{len(content):10}`\n".encode() + content + padding
    return whole


class Emulator(unittest.TestCase):
    def test_only_what_is_used_is_unpacked(self):
        held = package({"./usr/bin/qemu-aarch64": b"one", "./usr/bin/qemu-sparc": b"two",
                        "./usr/share/doc/qemu-user/copyright": b"three", "./usr/share/qemu-aarch64": b"four"})
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            emulator.unpack(held, root)
            found = {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        self.assertEqual(found, {"bin/qemu-aarch64": b"one", "copyright": b"three"})

    def test_releases_before_eight_are_too_old(self):
        self.assertFalse(emulator.is_new_enough("7.2.22"))
        self.assertTrue(emulator.is_new_enough("8.0.0"))
        self.assertTrue(emulator.is_new_enough("10.0.2"))

    def test_an_old_one_is_refused_with_the_remedy(self):
        with tempfile.TemporaryDirectory() as folder:
            old = pathlib.Path(folder) / "qemu-aarch64"
            old.write_text("#!/bin/sh\necho qemu-aarch64 version 7.2.22\n")
            old.chmod(0o755)
            with unittest.mock.patch.object(emulator, "HOME", pathlib.Path(folder) / "none"), \
                 unittest.mock.patch.dict("os.environ", PATH=folder):
                with self.assertRaisesRegex(emulator.Missing, "is 7.2.22, .*emulator.py setup"):
                    emulator.find("aarch64")
                with self.assertRaisesRegex(emulator.Missing, "no qemu-riscv64: .*emulator.py setup"):
                    emulator.find("riscv64")

    def test_something_else_than_the_pinned_package_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            mirror = pathlib.Path(folder)
            other = mirror / emulator.PINNED
            other.parent.mkdir(parents=True)
            other.write_bytes(b"something")
            with unittest.mock.patch.object(emulator, "mirrors", lambda: [mirror.as_uri()]):
                with self.assertRaisesRegex(emulator.Missing, "9 bytes that are not the pinned ones"):
                    emulator.fetch()
            with unittest.mock.patch.object(emulator, "mirrors", list):
                with self.assertRaisesRegex(emulator.Missing, "apt knows no Debian mirror"):
                    emulator.fetch()

    def test_a_program_that_grows_is_ended(self):
        with tempfile.TemporaryDirectory() as folder:
            fake = pathlib.Path(folder) / "qemu-aarch64"
            fake.write_text(f"#!/bin/sh\nexec {sys.executable} -c 'import time; x = bytearray(80_000_000); time.sleep(60)'\n")
            fake.chmod(0o755)
            with unittest.mock.patch.object(emulator, "find", lambda _: fake), \
                 unittest.mock.patch.object(emulator, "RESIDENT_MB_MAX", 60), \
                 unittest.mock.patch.object(sys, "stderr", io.StringIO()) as said:
                self.assertEqual(emulator.run("aarch64", ["program"]), 137)
            self.assertIn("more than 60 MB resident: program", said.getvalue())


if __name__ == "__main__":
    unittest.main()
