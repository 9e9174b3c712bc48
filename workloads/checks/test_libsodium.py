"""libsodium's programs print what the library's authors say, natively, however often they are passed through."""

from __future__ import annotations

import pathlib
import sys
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import libsodium  # noqa: E402
import runs  # noqa: E402
import suites  # noqa: E402
import toolchain  # noqa: E402

TIMEOUT_S = 120
# As the seed groups them; its sixteenth picture is the sum of all.
CATEGORIES = {"aead", "auth", "box", "ecc", "hash", "kx", "metamorphic", "onetimeauth", "pwhash", "scalarmult",
              "secretbox", "keygen", "sign", "utils", "stream"}
BUILT = libsodium.FOLDER / "build"
BUILD_IT = "SKIPPED: not built; python3 workloads/build.py --suite libsodium"


class Libsodium(unittest.TestCase):
    def setUp(self):
        self.suite = suites.load("libsodium")

    def test_every_group_of_the_seed_has_programs(self):
        self.assertEqual({workload.category for workload in self.suite.workloads}, CATEGORIES)

    def test_sizes_are_numbers_of_passes(self):
        for workload in self.suite.workloads:
            passes = workload.table["passes"]
            self.assertEqual(list(passes), ["mini", "small", "medium"], workload.name)
            self.assertEqual(passes["mini"], 1)
            self.assertLessEqual(passes["small"], passes["medium"])

    def test_the_hash_is_fnv_1a(self):
        # The published values of the function.
        self.assertEqual(libsodium.answer_of(b""), "cbf29ce484222325")
        self.assertEqual(libsodium.answer_of(b"foobar"), "85944171f73967e8")

    def test_a_library_that_is_not_the_pinned_one_is_refused(self):
        with unittest.mock.patch.object(libsodium, "ARCHIVE_SHA256", "0" * 64):
            with self.assertRaisesRegex(toolchain.ToolError, "not the release"):
                libsodium.fetch()

    @unittest.skipUnless(libsodium.SOURCE.is_dir(), BUILD_IT)
    def test_answers_are_the_librarys(self):
        for workload in self.suite.workloads:
            self.assertEqual(workload.table["answer"], libsodium.expected(workload.name), workload.name)

    @unittest.skipUnless((BUILT / "native" / "verify1").is_file(), BUILD_IT)
    def test_native_programs_answer(self):
        for workload in self.suite.workloads:
            passes = ["1"] if workload.table["passes"]["medium"] == 1 else ["1", "2"]
            for count in passes:
                with self.subTest(workload.name, passes=count):
                    program = BUILT / "native" / workload.name
                    self.assertEqual(runs.run(program, TIMEOUT_S, [count]).answer, workload.table["answer"])


if __name__ == "__main__":
    unittest.main()
