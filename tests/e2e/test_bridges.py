# SPDX-License-Identifier: Apache-2.0
"""Ranges of NVTX and ITT under `lightmeter run`: the variables are set, rules make stages and items of
them, and what the user has set stays.

    test_bridges.py HOOKS_NVTX NVTX_MODULE HOOKS_ITT
"""
import collections
import json
import os
import re
import sys
import tempfile
import unittest

import lightmeter_run

NVTX, MODULE, ITT = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)
RULES = """
ranges:
  "decode image #": item
  "Pre*": mine
  "app:infer batch #": own-infer
  "app:load": ignore
"""


def coverage(report, name):
    return next((line for line in report["collection"]["coverage"] if line["hooks"] == name), None)


def stage_calls(trace):
    """Spans of each stage in the whole run: the report's numbers are of its steady part."""
    dump = lightmeter_run.bare(lightmeter_run.LIGHTMETER, "dump", trace).stdout.decode()
    stages = dict(re.findall(r'TEXT name id (\d+) .*\\x00([^"]*)"', dump))
    return collections.Counter(stages[number] for number in re.findall(r"SPAN depth \d+ name (\d+) ", dump))


class Bridges(unittest.TestCase):
    def run_with(self, *command, rules=None, options=(), env=None):
        """(result, calls of each stage, report)"""
        with tempfile.TemporaryDirectory() as folder:
            trace, report, rule_file = (os.path.join(folder, name) for name in ("t.lmt", "r.json", "r.yaml"))
            if rules:
                with open(rule_file, "w", encoding="utf-8") as file:
                    file.write(rules)
                options = (*options, "--stage-map", rule_file)
            result = lightmeter_run.bare(lightmeter_run.LIGHTMETER, "run", "--quiet", "-o", trace, "--json",
                                         report, *options, "--", *command, env={**os.environ, **(env or {})})
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(report, encoding="utf-8") as file:
                return result, stage_calls(trace), json.load(file)

    def test_defaults(self):
        _, stages, report = self.run_with(NVTX, "ranges")
        self.assertEqual(stages, {"decode": 12, "preprocess": 1, "Preprocessor": 1, "conv1": 1})
        self.assertEqual(coverage(report, "nvtx")["status"], "covered")
        self.assertEqual(coverage(report, "itt")["status"], "absent")
        _, stages, _ = self.run_with(NVTX, "module", MODULE)
        self.assertEqual((stages["decode"], stages["convert"]), (2000, 2000))
        _, stages, _ = self.run_with(ITT)
        self.assertEqual(stages["infer"], 5)

    def test_rules(self):
        _, stages, report = self.run_with(NVTX, "ranges", rules=RULES)
        self.assertEqual(stages, {"mine": 2, "conv1": 1})
        self.assertEqual(report["items"]["count"], 12)
        _, stages, _ = self.run_with(ITT, rules=RULES)
        self.assertEqual((stages["own-infer"], stages["load"]), (5, 0))

    def test_what_is_set_stays(self):
        _, stages, report = self.run_with(NVTX, "ranges", env={"NVTX_INJECTION64_PATH": "/nonexistent/tool.so"})
        self.assertFalse(stages)
        line = coverage(report, "nvtx")
        self.assertEqual(line["status"], "uninstrumented")
        self.assertIn("was set already, to /nonexistent/tool.so", line["why"])

    def test_off(self):
        result, stages, _ = self.run_with("/bin/sh", "-c", f"echo $NVTX_INJECTION64_PATH; exec {NVTX}",
                                          options=("--no-hook", "nvtx"))
        self.assertTrue(result.stdout.startswith(b"\n"), result.stdout)
        self.assertFalse(stages["decode"])

    def test_opencv_trace(self):
        """Sums by function of OpenCV's own trace; Debian's OpenCV has no ITT."""
        python = "/usr/bin/python3"
        if lightmeter_run.bare(python, "-c", "import cv2").returncode:
            self.skipTest("OpenCV is not installed for Python")
        script = ("import cv2, numpy, os; a = numpy.zeros((90, 80, 3), numpy.uint8)\n"
                  "for i in range(7): cv2.resize(a, (40, 30))\nprint(os.environ.get('OPENCV_TRACE'))")
        with tempfile.TemporaryDirectory() as folder:
            command = (python, "-B", "-c", script)
            result, _, report = self.run_with(*command, options=("--opencv-trace",), env={"TMPDIR": folder})
            self.assertEqual((result.stdout, os.listdir(folder)), (b"1\n", []))
            note = next(text for text in report["notes"] if text.startswith("OpenCV's own trace"))
            self.assertRegex(note, r"cv::resize [0-9.]+ ms in 7 calls")
            result, _, report = self.run_with("/bin/true", options=("--opencv-trace",), env={"TMPDIR": folder})
            self.assertIn("has nothing", " ".join(report["notes"]))
            result, _, report = self.run_with(*command)
            self.assertEqual(result.stdout, b"None\n")

    def test_without_preload(self):
        """A program that clears LD_PRELOAD and loads the library by the variable comes to no harm."""
        command = ("/bin/sh", "-c", f"unset LD_PRELOAD; exec {NVTX} module {MODULE}")
        result, stages, _ = self.run_with(*command)
        self.assertEqual(result.stdout, lightmeter_run.bare(*command).stdout)
        self.assertEqual(stages["decode"], 2000)


if __name__ == "__main__":
    unittest.main()
