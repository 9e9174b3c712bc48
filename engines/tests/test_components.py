"""Runners that take components, through the protocol that fathom speaks with them."""

import subprocess
import sys
import unittest
from pathlib import Path

import modules
import test_runners
from modules import ROOT
from test_runners import Answer, Runner

sys.path.append(str(ROOT / "workloads"))
import components  # noqa: E402

JCO = ROOT / ".tools" / "engines" / "jco"


class TakesComponents:
    """What runners must do that take components."""

    def test_takes_components(self):
        answer = self.ask(modules.COMPONENT)
        self.assertEqual(answer.of("error"), [])
        self.assertEqual({Path(one["stdout"]).read_text() for one in answer.of("iteration")}, {"hello\n"})
        self.assertEqual({one["exit"] for one in answer.of("iteration")}, {0})

    def test_reports_how_a_component_ends(self):
        failing = modules.COMPONENT.replace(modules.COMPONENT_ENDS, "(i32.const 1)" + modules.COMPONENT_ENDS[len("(i32.const 0)"):])
        self.assertEqual({one["exit"] for one in self.ask(failing).of("iteration")}, {1})
        trapping = modules.COMPONENT.replace(modules.COMPONENT_ENDS, "unreachable" + modules.COMPONENT_ENDS)
        self.assert_fails(self.ask(trapping), "trap", "unreachable")

    def test_refuses_a_component_that_is_none(self):
        self.assert_fails(self.ask(modules.assemble("(component)") + b"\x07\x10"), "invalid")
        self.assert_fails(self.ask("(component)"), "link")


class ThroughJco(TakesComponents):
    """Components on Node.js, where jco is installed."""

    def setUp(self):
        super().setUp()
        if not JCO.is_dir():
            self.skipTest("jco is not installed: python3 engines/install.py jco")

    def test_says_who_translates_and_what_that_took(self):
        answer = self.ask(modules.COMPONENT)
        self.assertIn("; components by jco 0.", answer.only("hello")["evidence"])
        (compile,) = [one for one in answer.of("phase") if one["phase"] == "compile"]
        self.assertLess(answer.only("process")["metrics"]["translate_ns"], compile["wall_ns"])


class MadeOfModules:
    """Programs of preview 1, made components, do what the modules do: what `RunnerCase` asks of a WASI."""

    def setUp(self):
        super().setUp()
        if not (JCO.is_dir() and components.ADAPTER_FILE.is_file() and components.NODE.is_file()):
            self.skipTest("no adapter: python3 workloads/build.py --suite components")

    def ask(self, source: str | bytes, **changes) -> Answer:
        module, made = self.folder / "core.wasm", self.folder / "made.wasm"
        module.write_bytes(modules.assemble(source) if isinstance(source, str) else source)
        subprocess.run([components.NODE, components.FOLDER / "make.mjs", JCO, "new", module, components.ADAPTER_FILE, made],
                       check=True, capture_output=True)
        return super().ask(made.read_bytes(), **changes)

    _case = test_runners.RunnerCase
    test_measures_each_phase_and_keeps_the_output = _case.test_measures_each_phase_and_keeps_the_output
    test_gives_the_guest_its_arguments_variables_and_folders = _case.test_gives_the_guest_its_arguments_variables_and_folders
    test_gives_the_guest_files_of_its_folder_and_no_others = _case.test_gives_the_guest_files_of_its_folder_and_no_others
    test_refuses_a_missing_folder = _case.test_refuses_a_missing_folder
    test_keeps_threads_together = _case.test_keeps_threads_together
    first_folder = _case.first_folder

    def test_an_exit_status_is_success_or_not(self):
        self.assertEqual({one["exit"] for one in self.ask(modules.EXIT_7).of("iteration")}, {1})


class NodeOfModules(MadeOfModules, Runner, unittest.TestCase):
    engine = "node"


class Wasmtime48OfModules(MadeOfModules, Runner, unittest.TestCase):
    engine = "wasmtime48"


class Node(ThroughJco, Runner, unittest.TestCase):
    engine = "node"


class Node26(ThroughJco, Runner, unittest.TestCase):
    engine = "node26"


class Wasmtime48(TakesComponents, Runner, unittest.TestCase):
    engine = "wasmtime48"
