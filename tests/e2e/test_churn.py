# SPDX-License-Identifier: Apache-2.0
"""A program that starts threads and processes without end is followed in bounded memory, and counted whole;
nothing of those that are over is left in the run directory, however they ended.

    test_churn.py CHURN
"""
import sys
import unittest

import lightmeter_run

CHURN = sys.argv.pop(1)
THREADS = 60000
CHILDREN = 600
GROWTH_KIB = 1500  # for 30,000 more threads; 64 bytes kept of each would be 1,900, what is in work differs by 1,000
FILES_FEW = 20


class Churn(unittest.TestCase):
    def check(self, how, count, options=()):
        result, report, _ = lightmeter_run.measured(CHURN, how, count, options=options, timeout=240)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        first, last, files = (int(word) for word in result.stdout.split())
        if not lightmeter_run.is_sanitized():  # these give no memory back for a while
            self.assertLess(last - first, GROWTH_KIB)
        self.assertLessEqual(files, FILES_FEW)
        self.assertEqual(lightmeter_run.stages(report)["work"]["calls"], count)
        self.assertEqual(report["collection"]["dropped_spans"], 0)
        self.assertEqual(len(report["threads"]), count + 1)

    def test_threads(self):
        self.check("threads", THREADS // (10 if lightmeter_run.is_sanitized() else 1), ["--no-scheduler"])

    def test_children(self):
        for how in ("exit", "kill", "raw", "exec"):
            with self.subTest(how=how):
                self.check(how, CHILDREN)

    def test_first_thread_ends_first(self):
        """A process lives as long as its last thread, though /proc calls it a zombie from its first one's end on."""
        result, report, _ = lightmeter_run.measured(CHURN, "leader", 600)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, b"", b""))
        self.assertEqual(lightmeter_run.stages(report)["work"]["calls"], 600)
        self.assertEqual(report["collection"]["dropped_spans"], 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
