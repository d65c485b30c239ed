# SPDX-License-Identifier: Apache-2.0
"""What a killed program was waiting in is told: the call had no end of its own, which is when calls
are recorded. What it was in before is not.

    test_killed.py JUMPED
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import lightmeter_run

PYTHON = "/usr/bin/python3"
JUMPED = sys.argv.pop(1)
LIMIT_S = 60


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0]


def wait_for(condition):
    end = time.monotonic() + LIMIT_S
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it did not happen")
        time.sleep(0.01)


class Killed(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = place.name
        self.trace = os.path.join(self.folder, "run.lmt")

    def run_and_kill(self, code, asleep):
        return self.kill([PYTHON, "-u", "-c", code], asleep)

    def kill(self, command, asleep):
        """Kills a program that printed its pid, after it came to rest (or not: `asleep`)."""
        process = subprocess.Popen([lightmeter_run.LIGHTMETER, "run", "--quiet", "-o", self.trace, "--",
                                    *command], stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        target = int(process.stdout.readline())
        wait_for(lambda: not asleep or state_of(target) == "S")
        time.sleep(0.3)  # the part of the wait that has to be there
        os.kill(target, signal.SIGKILL)
        self.assertEqual(process.wait(LIMIT_S), -signal.SIGKILL)
        check = lightmeter_run.bare(lightmeter_run.LIGHTMETER, "dump", "--check", self.trace)
        self.assertRegex(check.stdout.decode(), ": sound\n$")
        shown = lightmeter_run.bare(lightmeter_run.LIGHTMETER, "report", self.trace).stdout.decode()
        result = lightmeter_run.bare(lightmeter_run.LIGHTMETER, "report", "--format", "json", self.trace)
        report = json.loads(result.stdout)
        return report, re.sub(r"\s+", " ", shown)

    def open_calls(self, report):
        return sorted(thread["open_call"] for thread in report["threads"] if thread["open_call"])

    def test_asleep(self):
        report, shown = self.run_and_kill(
            "import os, time; print(os.getpid()); time.sleep(60)", True)
        self.assertEqual(len(self.open_calls(report)), 1)
        call = self.open_calls(report)[0]
        self.assertRegex(call, "nanosleep|select")
        self.assertIn(f"Still waiting when it was killed: {call} for ", shown)
        wait = lightmeter_run.stages(report)["wait"]
        self.assertGreaterEqual(wait["sleep_s"], 0.3)
        self.assertLess(wait["wall_s"], report["run_s"])
        self.assertLess(report["reconciliation"]["residual_ratio"], 0.001)

    def test_threads_that_wait_for_each_other(self):
        report, shown = self.run_and_kill(
            "import os, threading, time\n"
            "lock = threading.Lock()\n"
            "lock.acquire()\n"
            "for i in range(4): threading.Thread(target=lock.acquire).start()\n"
            "time.sleep(0.2)\n"
            "print(os.getpid()); time.sleep(60)", True)
        calls = self.open_calls(report)
        self.assertEqual(len(calls), 5, calls)
        self.assertIn("and 2 more.", shown)
        self.assertGreaterEqual(lightmeter_run.stages(report)["wait"]["lock_s"], 4 * 0.3)

    def test_at_work_after_a_wait(self):
        report, shown = self.run_and_kill(
            "import os, time; time.sleep(0.2); print(os.getpid())\n"
            "end = time.monotonic() + 60\nwhile time.monotonic() < end: pass", False)
        self.assertEqual(self.open_calls(report), [])
        self.assertNotIn("Still waiting", shown)

    def test_at_work_after_a_jump_out_of_a_wait(self):
        report, shown = self.kill([JUMPED], False)
        self.assertEqual(self.open_calls(report), [])
        self.assertNotIn("Still waiting", shown)

    def test_a_program_that_ends_by_itself(self):
        """Its threads that wait then were not killed."""
        result, report, _ = lightmeter_run.measured(PYTHON, "-c", (
            "import threading, time\n"
            "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
            "time.sleep(0.2)"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.open_calls(report), [])


if __name__ == "__main__":
    unittest.main()
