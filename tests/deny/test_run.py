"""How lock files are held against advisories, without a network or cargo-deny."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import run


def lock(*packages: tuple[str, str]) -> str:
    return "".join(f'[[package]]\nname = "{name}"\nversion = "{version}"\n' for name, version in packages)


def advisory(**fields: object) -> dict:
    return {"id": "A", "package": "wasmtime", "patched": [">= 36.0.7, < 37.0.0", ">= 48.0.8"], "part": "compiler",
            "what": "wrong code", **fields}


class Versions(unittest.TestCase):
    def test_requirements(self):
        for version, requirement, meets in [("1.2.3", ">= 1.2", True), ("1.2.3", ">= 1.2.4", False),
                                            ("36.0.9", ">= 36.0.7, < 37.0.0", True), ("37.0.0", ">= 36.0.7, < 37.0.0", False),
                                            ("29.0.0-rc.1", "< 30.0.0", True), ("2.0.0+x", "= 2.0.0", True)]:
            with self.subTest(version=version, requirement=requirement):
                self.assertEqual(run.satisfies(run.version_of(version), requirement), meets)


class Locks(unittest.TestCase):
    def test_a_version_is_free_of_a_defect_if_one_range_has_it(self):
        for version, found in [("36.0.6", 1), ("36.0.7", 0), ("37.0.0", 1), ("48.0.7", 1), ("48.0.8", 0), ("50.0.1", 0)]:
            with self.subTest(version=version):
                self.assertEqual(len(run.defects(lock(("wasmtime", version)), [advisory()])), found)

    def test_cranelift_alone_has_its_wasmtimes_defects_as_far_as_they_are_the_compilers(self):
        old = lock(("cranelift-codegen", "0.135.7"))
        self.assertIn("wasmtime 48.0.7", run.defects(old, [advisory()])[0])
        self.assertEqual(run.defects(lock(("cranelift-codegen", "0.135.8")), [advisory()]), [])
        self.assertEqual(run.defects(old, [advisory(part="wasi")]), [])
        # With wasmtime itself, they are its own.
        both = old + lock(("wasmtime", "48.0.7"))
        self.assertTrue(run.defects(both, [advisory(part="wasi")]))

    def test_other_packages_are_nobodys_business(self):
        self.assertEqual(run.defects(lock(("wasmtime-wasi", "1.0.0"), ("wat", "1.0.0")), [advisory()]), [])


class Data(unittest.TestCase):
    def test_every_advisory_is_whole(self):
        text = (run.ROOT / "docs" / "advisories.toml").read_text()
        rows = run.tomllib.loads(text)["advisory"]
        self.assertEqual(len({row["id"] + row["package"] for row in rows}), len(rows))
        for row in rows:
            with self.subTest(advisory=row["id"]):
                self.assertEqual(set(row), {"id", "aliases", "date", "package", "patched", "part", "what", "here"})
                self.assertIn(row["part"], {"compiler", "runtime", "wasi", "api", "component", "winch"})
                self.assertTrue(row["what"] and row["here"] and row["patched"])
                for requirement in row["patched"]:
                    run.satisfies((1, 0, 0), requirement)

    def test_the_tests_that_it_names_are_there(self):
        text = (run.ROOT / "docs" / "advisories.toml").read_text()
        for path in set(run.re.findall(r"(?:crates|tests|docs)/[a-z0-9_/A-Z]+\.[a-z]+", text)):
            with self.subTest(path=path):
                self.assertTrue((run.ROOT / path).is_file())

    def test_the_page_counts_them_right(self):
        rows = run.tomllib.loads((run.ROOT / "docs" / "advisories.toml").read_text())["advisory"]
        page = (run.ROOT / "SECURITY.md").read_text()
        for part in {row["part"] for row in rows}:
            count = sum(row["part"] == part for row in rows)
            self.assertRegex(page, rf"(?m)^\| {part}( \([^|]*\))? \| {count} \|")
        for name, version in run.packages((run.ROOT / "Cargo.lock").read_text()):
            if name == "cranelift-codegen":
                self.assertIn(f"**{'.'.join(map(str, version))}**", page)

    def test_our_locks_have_no_known_defect(self):
        self.assertEqual(run.check_locks(), 0)


if __name__ == "__main__":
    unittest.main()
