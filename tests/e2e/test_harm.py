# SPDX-License-Identifier: Apache-2.0
"""The agent harms no host: each behaviour of hosts/harm.c gives the same output, the same errors and
the same end with and without Lightmeter, and its report reconciles.

    test_harm.py HARM
"""
import sys
import unittest

import lightmeter_run

HARM = sys.argv.pop(1)

# What a behaviour must have left in the report: a stage that it marked.
MARKED = {"fork": "in the child", "fork-threaded": "churn", "thread-ends": "leaving",
          "many-threads": "short", "signals": "busy", "longjmp": "around", "deep": "deep",
          "closes-all": "after closing", "kill": "short", "atexit": "atexit"}


class Harm(unittest.TestCase):
    def test_each_behaviour(self):
        names = lightmeter_run.bare(HARM).stdout.decode().split()
        self.assertGreater(len(names), 15)
        for name in names:
            with self.subTest(behaviour=name):
                self.check(name)

    def test_without_noticing_jumps(self):
        """A host that jumps over open spans comes to no harm either when the hook is off."""
        alone = lightmeter_run.bare(HARM, "longjmp")
        result, report, _ = lightmeter_run.measured(HARM, "longjmp", options=("--no-hook", "jumps"))
        self.assertEqual(result.stdout, alone.stdout)
        self.assertEqual(result.returncode, alone.returncode)
        # The marks left open are what the hook would have closed.
        self.assertGreater(report["collection"]["dropped_spans"], 0)

    def check(self, name):
        alone = lightmeter_run.bare(HARM, name)
        result, report, _ = lightmeter_run.measured(HARM, name)
        self.assertEqual(result.stdout, alone.stdout)
        self.assertEqual(result.stderr, alone.stderr)
        self.assertEqual(result.returncode, alone.returncode)
        self.assertIsNotNone(report)
        self.assertLessEqual(report["reconciliation"]["residual_ratio"], 0.005)
        self.assertEqual(report["collection"]["dropped_spans"] > 0, name == "deep")
        if name in MARKED:
            self.assertIn(MARKED[name], lightmeter_run.stages(report))


if __name__ == "__main__":
    unittest.main()
