# SPDX-License-Identifier: Apache-2.0
"""--stage-map makes stages of the user's own functions and libraries: by C and C++ names, with any
arguments, with exceptions passing through, bound lazily or at once; and says what it cannot reach.

    test_stage_map.py MAPPED_LAZY MAPPED_NOW
"""
import os
import sys
import tempfile
import unittest

import lightmeter_run

HOSTS = [sys.argv.pop(1), sys.argv.pop(1)]


class StageMap(unittest.TestCase):
    def run_with(self, host, text):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "stages.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            result, report, _ = lightmeter_run.measured(host, options=("--stage-map", path))
        self.assertEqual(result.stdout, lightmeter_run.bare(host).stdout)
        self.assertEqual(result.returncode, 0, result.stderr)
        return lightmeter_run.stages(report), report

    def test_functions(self):
        for host in HOSTS:
            stages, _ = self.run_with(
                host, 'functions:\n  "own::thr*": risky\n  plain_sum: summing\n  "own::text": texts\n')
            self.assertEqual(stages["summing"]["calls"], 20)
            self.assertEqual(stages["texts"]["calls"], 20)
            # guarded() calls it once; the recursion inside the library is bound within it or not,
            # but each round calls it at least once.
            self.assertGreaterEqual(stages["risky"]["calls"], 20)
            self.assertEqual(stages["guarded"]["calls"], 20)

    def test_library(self):
        for host in HOSTS:
            stages, _ = self.run_with(host, 'libraries:\n  "libmapped*": own library\n'.replace(
                "own library", "own-library"))
            self.assertGreaterEqual(stages["own-library"]["calls"], 100)

    def test_out_of_reach(self):
        _, report = self.run_with(HOSTS[0], "functions:\n  no_such_function: nothing\n")
        lines = [line for line in report["collection"]["coverage"]
                 if line["library"] == "no_such_function"]
        self.assertEqual([line["status"] for line in lines], ["uninstrumented"])
        self.assertIn("LM_STAGE", lines[0]["why"])


if __name__ == "__main__":
    unittest.main()
