# SPDX-License-Identifier: Apache-2.0
"""The lines of Python code that the time is in: as much as the program's own clock says, named by what comes before
and after, in every release of CPython that is on this machine.

    test_python_lines.py
"""
import json
import os
import sys
import tempfile
import unittest

import lightmeter_run
import python_releases

PYTHON = "/usr/bin/python3"
HOST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hosts", "python_lines.py")
FUNCTIONS = {"prepare": ("preprocess", "prepare"), "boxes": ("postprocess", "read_boxes")}
ERROR = .12  # of the whole: four times what chance does with 200 samples, and the jitter of a busy machine
SECONDS = 3
SANITIZED_SECONDS = 12  # a sanitized launcher may take fewer samples for the same part of the time


def line_of(word):
    with open(HOST, encoding="utf-8") as file:
        return next(number for number, text in enumerate(file, 1) if text.rstrip().endswith(f"# line: {word}"))


class Lines(unittest.TestCase):
    def measured(self, python, *arguments, options=()):
        result, report, _ = lightmeter_run.measured(python, "-B", HOST, *arguments, options=options)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return json.loads(result.stdout), report

    def check(self, python):
        told, report = self.measured(python, SANITIZED_SECONDS if lightmeter_run.is_sanitized() else SECONDS)
        hot = report["unattributed"]["hot"]
        for word, (meaning, function) in FUNCTIONS.items():
            expected = told["spent"][word] / told["whole"]
            own = [line for line in hot if line["meaning"] == meaning]
            share = sum(line["share"] for line in own)
            self.assertAlmostEqual(share, expected, delta=ERROR, msg=f"{word}: {hot}")
            if word == "boxes":
                line = max(own, key=lambda line: line["share"])
                self.assertIn(line["line"], (line_of(word) - 1, line_of(word)))
                self.assertEqual(line["function"].rpartition(".")[2], function)
                self.assertEqual(line["file"], HOST)
        stages = {line["stage"] for line in report["lines"]}
        self.assertLessEqual({"decode", "infer"}, stages)
        named = sum(line["share"] for line in hot + report["lines"])
        self.assertGreater(named, .95)

    def test_debian(self):
        self.check(PYTHON)

    def test_other_releases(self):
        for version, place in python_releases.releases((3, 8), (3, 13)).items():
            with self.subTest(version=version):
                self.check(place)

    def test_children(self):
        """A pool of processes: each worker's lines."""
        text = ("import multiprocessing, time\ndef work(x):\n end = time.perf_counter() + .25\n"
                " while time.perf_counter() < end: pass\n return x\n"
                "if __name__ == '__main__':\n with multiprocessing.get_context(HOW).Pool(2) as p: p.map(work, range(8), 1)\n")
        for how in ("fork", "spawn"):
            with self.subTest(how=how), tempfile.TemporaryDirectory() as folder:
                program, trace = os.path.join(folder, "pool.py"), os.path.join(folder, "run.lmt")
                with open(program, "w", encoding="utf-8") as file:
                    file.write(text.replace("HOW", repr(how)))
                result = lightmeter_run.bare(lightmeter_run.LIGHTMETER, "run", "--quiet", "-o", trace, "--", PYTHON,
                                             program)
                self.assertEqual((result.returncode, result.stderr), (0, b""))
                dump = lightmeter_run.bare(lightmeter_run.LIGHTMETER, "dump", trace).stdout.decode()
                samples = [line.split() for line in dump.splitlines() if "SAMPLE python_stack" in line]
                self.assertGreater(len({words[words.index("subject") + 1] for words in samples}), 2)
                self.assertIn("work\\x00" + program + "\\x004", dump)

    def test_end_of_a_long_run(self):
        """Stacks that were told of long ago are told of again in what --keep-last keeps."""
        _, report = self.measured(PYTHON, "6", options=["--keep-last", "3s"])
        self.assertTrue(report["unattributed"]["hot"])
        self.assertGreater(sum(line["share"] for line in report["unattributed"]["hot"] + report["lines"]), .7)

    def test_switched_off(self):
        result, report, _ = lightmeter_run.measured(PYTHON, "-c", "import time; time.sleep(1)",
                                                    options=["--no-hook", "python"])
        self.assertEqual(result.returncode, 0)
        self.assertEqual(report["unattributed"]["hot"] + report["lines"], [])


if __name__ == "__main__":
    sys.exit(unittest.main())
