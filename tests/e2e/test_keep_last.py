# SPDX-License-Identifier: Apache-2.0
"""Of a run with --keep-last only its end is in the trace, which stays small however long it runs.

    test_keep_last.py

The program under test works in two phases that can be told apart: what it reads first, it reads
through `pread`, what it reads last, through `readv`.
"""
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

import lightmeter_run

PYTHON = "/usr/bin/python3"
LIMIT_S = 60
PHASES = """
import os, sys, time
file = os.open("/etc/passwd", os.O_RDONLY)
room = [bytearray(64)]
print(os.getpid(), flush=True)
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    for i in range(20): os.pread(file, 64, 0)
    time.sleep(0.0005)
end = time.monotonic() + float(sys.argv[2])
while time.monotonic() < end:
    for i in range(20): os.readv(file, room)
    time.sleep(0.0005)
"""


class KeepLast(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = place.name
        self.trace = os.path.join(self.folder, "run.lmt")

    def command(self, *options, first="1.5", last="3"):
        return [lightmeter_run.LIGHTMETER, "run", "--quiet", "-o", self.trace, *options, "--",
                PYTHON, "-c", PHASES, first, last]

    def report(self):
        check = lightmeter_run.bare(lightmeter_run.LIGHTMETER, "dump", "--check", self.trace)
        self.assertRegex(check.stdout.decode(), ": sound\n$")
        shown = lightmeter_run.bare(lightmeter_run.LIGHTMETER, "report", "--format", "json", self.trace)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        return json.loads(shown.stdout)

    def functions(self, report):
        return {row["name"]: row for row in report["functions"]}

    def test_only_the_end_is_kept(self):
        result = lightmeter_run.bare(*self.command("--keep-last", "2s"))
        self.assertEqual(result.returncode, 0, result.stderr)
        report = self.report()
        self.assertAlmostEqual(report["run_s"], 2, delta=0.3)
        names = self.functions(report)
        self.assertIn("readv", names)
        self.assertNotIn("pread64", names)
        self.assertNotIn("pread", names)
        self.assertLess(report["reconciliation"]["residual_ratio"], 0.001)
        self.assertTrue(any("Only the last" in note for note in report["notes"]), report["notes"])
        self.assertEqual(report["windows"]["startup_s"], 0)

    def test_a_shorter_run_is_kept_whole(self):
        result = lightmeter_run.bare(*self.command("--keep-last", "1h", first="0.2", last="0.2"))
        self.assertEqual(result.returncode, 0, result.stderr)
        report = self.report()
        self.assertIn("readv", self.functions(report))
        self.assertTrue({"pread", "pread64"} & set(self.functions(report)))
        self.assertFalse(any("Only the last" in note for note in report["notes"]))

    def test_a_killed_launcher_leaves_what_recover_needs(self):
        process = subprocess.Popen(self.command("--keep-last", "1s", first="2", last="30"),
                                   stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        target = int(process.stdout.readline())
        time.sleep(4)
        with open(f"/proc/{target}/environ", encoding="utf-8") as file:
            folder = next(line.split("=", 1)[1] for line in file.read().split("\0")
                          if line.startswith("LIGHTMETER_RUN_DIR="))
        os.kill(process.pid, signal.SIGKILL)
        process.wait(LIMIT_S)
        os.kill(target, signal.SIGKILL)
        time.sleep(0.2)
        done = lightmeter_run.bare(lightmeter_run.LIGHTMETER, "recover", folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("readv", self.functions(self.report()))
        self.assertEqual(os.listdir(self.folder), ["run.lmt"])

    def test_a_limit_in_bytes_shortens_it(self):
        result = lightmeter_run.bare(*self.command(
            "--keep-last", "1m", "--max-bytes", "256K", first="3", last="3"))
        self.assertEqual(result.returncode, 0, result.stderr)
        report = self.report()
        self.assertLessEqual(os.path.getsize(self.trace), 256 << 10)
        self.assertIn("readv", self.functions(report))

    def test_durations_are_kept_beyond_the_limit(self):
        """Once calls are only summed up, nearly all of them are in the quantiles all the same."""
        result = lightmeter_run.bare(*self.command("--max-bytes", "64K", first="12", last="0"))
        self.assertEqual(result.returncode, 0, result.stderr)
        report = self.report()
        self.assertTrue(any("kept as sums" in note for note in report["notes"]), report["notes"])
        load = lightmeter_run.stages(report)["load"]
        self.assertGreater(load["n"], load["calls"] / 4)
        self.assertGreater(load["p50_ms"], 0)
        self.assertLessEqual(load["p50_ms"], load["p99_ms"])
        self.assertLessEqual(load["n"] + load["folded_calls"], load["calls"])

    def test_what_is_no_time_is_refused(self):
        for text in ("", "x", "0.5s", "-1s", "1d", "1e99h"):
            result = lightmeter_run.bare(*self.command("--keep-last", text))
            self.assertEqual(result.returncode, 125, text)
            self.assertIn(b"length of time", result.stderr)
            self.assertFalse(os.path.exists(self.trace))


if __name__ == "__main__":
    unittest.main()
