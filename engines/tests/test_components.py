"""Runners that take components, through the protocol that fathom speaks with them."""

import unittest
from pathlib import Path

import modules
from modules import ROOT
from test_runners import Runner

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


class Node(ThroughJco, Runner, unittest.TestCase):
    engine = "node"


class Node26(ThroughJco, Runner, unittest.TestCase):
    engine = "node26"


class Wasmtime48(TakesComponents, Runner, unittest.TestCase):
    engine = "wasmtime48"
