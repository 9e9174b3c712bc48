"""How run.py judges what a target printed, without running any."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import run

GOOD = "noise\nwasi: 1200 sequences, 12 configurations, 0 differences, from seed 7 [trapped 3, ran 9]\n"


class Judging(unittest.TestCase):
    def test_a_closing_line_is_read(self):
        said = run.closing(GOOD)
        self.assertEqual((said["count"], said["unit"], said["configurations"], said["seed"], said["more"]),
                         ("1200", "sequences", "12", "7", "trapped 3, ran 9"))
        self.assertEqual(run.judge("wasi", 0, GOOD), "")

    def test_a_target_that_did_not_say_how_it_ended_has_not_passed(self):
        self.assertIn("no closing line", run.judge("wasi", 0, "hello"))
        self.assertIn("no closing line", run.judge("wasi", 0, ""))
        self.assertIn("died of SIGSEGV", run.judge("wasi", -11, GOOD))
        self.assertIn("does not end", run.judge("wasi", None, GOOD))
        self.assertIn("status 1", run.judge("wasi", 1, GOOD))
        self.assertIn("3 differences", run.judge("wasi", 1, GOOD.replace("0 differences", "3 differences")))
        self.assertIn("ran nothing", run.judge("wasi", 0, GOOD.replace("1200 sequences", "0 sequences")))

    def test_the_table_has_a_line_for_each(self):
        ended = run.Ended("wasi", 90, run.closing(GOOD), "")
        lines = run.table([ended, run.Ended("lives", 1, None, "died")]).splitlines()
        self.assertEqual(len(lines), 3)
        self.assertIn("1200 sequences", lines[1])
        self.assertIn("?", lines[2])

    def test_there_are_targets(self):
        self.assertLessEqual({"differential", "mutate"}, set(run.targets()))


if __name__ == "__main__":
    unittest.main()
