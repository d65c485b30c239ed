# SPDX-License-Identifier: Apache-2.0
"""The scheduler's account of waiting, where it can be had, and the report where it cannot.

    test_scheduler.py
"""
import os
import unittest

import lightmeter_run

PYTHON = "/usr/bin/python3"
# A thread that sleeps, and one that is woken again and again by the first.
PROGRAM = """
import threading, time
go = threading.Semaphore(0)
def woken():
    for i in range(100): go.acquire()
thread = threading.Thread(target=woken)
thread.start()
for i in range(100):
    time.sleep(0.005)
    go.release()
thread.join()
"""
ALLOWED = os.geteuid() == 0 and any(
    os.path.exists(f"{folder}/events/sched/sched_switch/format")
    for folder in ("/sys/kernel/tracing", "/sys/kernel/debug/tracing"))
# Threads that only begin and end, each of which carries the events with it.
STORM = """
import threading
for i in range(4000):
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
"""


class Scheduler(unittest.TestCase):
    def report(self, *options):
        result, report, _ = lightmeter_run.measured(PYTHON, "-c", PROGRAM, options=options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return report

    def methods(self, report):
        return " ".join(report["collection"]["methods"])

    def test_it_agrees_with_the_hooks(self):
        report = self.report()
        if "scheduler's events" not in self.methods(report):
            self.assertFalse(ALLOWED and os.cpu_count() <= 32 and self.can_trace())
            self.skipTest("scheduler events are not allowed here")
        self.assertLess(report["reconciliation"]["scheduler_residual_ratio"], 0.05)
        main, other = sorted(report["threads"], key=lambda thread: thread["tid"])
        self.assertGreater(main["scheduler"]["sleep_s"], 0.4)
        self.assertGreater(other["scheduler"]["sleep_s"], 0.4)
        self.assertEqual(other["scheduler"]["woken_most_by"], main["tid"])
        self.assertGreater(other["scheduler"]["woken_by_it"], 50)

    def test_a_storm_of_threads_is_not_followed(self):
        result, report, _ = lightmeter_run.measured(PYTHON, "-c", STORM)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, b"", b""))
        if "scheduler's events" not in self.methods(report):
            self.skipTest("scheduler events are not allowed here")
        self.assertTrue(any("starts threads or processes so often" in note
                            for note in report["notes"]), report["notes"])
        # What was counted until then is not taken for the whole.
        self.assertIsNone(report["reconciliation"]["scheduler_residual_ratio"])
        self.assertEqual({str(thread["scheduler"]) for thread in report["threads"]}, {"None"})

    def can_trace(self):
        """Whether perf itself gets such an event."""
        try:
            result = lightmeter_run.bare("perf", "stat", "-e", "sched:sched_switch", "true")
        except OSError:
            return False
        return result.returncode == 0 and b"not supported" not in result.stderr

    def test_it_can_be_left_out(self):
        report = self.report("--no-scheduler")
        self.assertNotIn("scheduler's events", self.methods(report))
        self.assertIsNone(report["reconciliation"]["scheduler_residual_ratio"])
        self.assertEqual({str(thread["scheduler"]) for thread in report["threads"]}, {"None"})


if __name__ == "__main__":
    unittest.main()
