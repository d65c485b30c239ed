# SPDX-License-Identifier: Apache-2.0
"""The agent harms no host, continued from test_harm.py: programs that wait inside the loader, restrict
their system calls, have thousands of threads, odd stacks, tight limits, another user or root, an
allocator or a sanitizer of their own, and C++ exceptions. Each behaviour gives the same output, errors
and end with and without Lightmeter; its trace is sound and its run folder gone.

    test_harm_hosts.py MODULE LOADER SECCOMP PROCESS STACKS MALLOC [THROWN|none [ASAN|none]]
"""
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

import lightmeter_run
from lightmeter_run import LIGHTMETER

MODULE, LOADER, SECCOMP, PROCESS, STACKS, MALLOC, *OTHERS = sys.argv[1:]
THROWN, ASAN = (OTHERS + ["none", "none"])[:2]
del sys.argv[1:]
WAIT_S = 100  # an upper bound: a deadlock never ends
NOT_HERE = 77  # the machine does not let the host do it
JEMALLOC = "libjemalloc.so.2"


def ended(command, **settings):
    """(status, output, errors, process id); a command that hangs is ended with all of its group."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True, **settings) as process:
        try:
            output, errors = process.communicate(b"line\n", WAIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "hung", b"", b"", process.pid
        return process.returncode, output, errors, process.pid


class Case(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.trace = os.path.join(place.name, "run.lmt")
        self.report_path = os.path.join(place.name, "report.json")

    def compare(self, *command, **settings):
        """The report of the measured run, when it ended as the other did."""
        alone = ended(command, **settings)
        if alone[0] == NOT_HERE:
            self.skipTest("this machine does not allow it")
        self.assertNotEqual(alone[0], "hung", "without Lightmeter")
        with_it = ended([LIGHTMETER, "run", "--quiet", "-o", self.trace, "--json", self.report_path,
                         "--", *command], **settings)
        self.assertEqual(with_it[:3], alone[:3])
        self.assertEqual(glob.glob(f"/dev/shm/lightmeter-{with_it[3]}-*"), [])
        check = lightmeter_run.bare(LIGHTMETER, "dump", "--check", self.trace)
        self.assertRegex(check.stdout.decode(), r"(?m): sound$")
        self.assertEqual(check.returncode, 0)
        with open(self.report_path, encoding="utf-8") as file:
            return json.load(file)

    def compare_each(self, program, *words, skip=()):
        names = lightmeter_run.bare(program, *words).stdout.decode().split()
        self.assertGreater(len(names), 4)
        for name in names:
            with self.subTest(behaviour=name):
                if name not in skip:
                    self.compare(program, *words, name)


class Loader(Case):
    def test_each_behaviour(self):
        self.compare_each(LOADER, MODULE)


class Seccomp(Case):
    def test_each_behaviour(self):
        self.compare_each(SECCOMP)

    def test_what_is_recorded_until_then(self):
        report = self.compare(SECCOMP, "by-call")
        stage = lightmeter_run.stages(report)["restricted"]
        self.assertEqual(stage["calls"], 60)  # and not the 60 behind the filter
        self.assertTrue([note for note in report["notes"] if "seccomp" in note], report["notes"])

    def test_asking_ends_nothing(self):
        self.assertIn("after asking", lightmeter_run.stages(self.compare(SECCOMP, "asked")))

    def test_off(self):
        """Without the set the host is ended, so that the tests above test something."""
        result = ended([LIGHTMETER, "run", "--quiet", "-o", self.trace, "--no-hook", "syscalls", "--",
                        SECCOMP, "by-call"])
        self.assertEqual(result[0], -signal.SIGSYS)


class Process(Case):
    def test_each_behaviour(self):
        self.compare_each(PROCESS, skip=("ten-thousand-threads", "thousand-live-threads",
                                         "threads-under-signals"))

    def test_ten_thousand_threads(self):
        report = self.compare(PROCESS, "ten-thousand-threads")
        self.assertEqual(report["collection"]["dropped_spans"], 0)
        self.assertEqual(lightmeter_run.stages(report)["short"]["calls"], 10000)

    def test_threads_under_signals(self):
        report = self.compare(PROCESS, "threads-under-signals")
        self.assertEqual(report["collection"]["dropped_spans"], 0)
        self.assertEqual(lightmeter_run.stages(report)["short"]["calls"], 2000)

    def test_thousand_live_threads(self):
        report = self.compare(PROCESS, "thousand-live-threads")
        self.assertEqual(report["collection"]["dropped_spans"], 0)
        self.assertEqual(lightmeter_run.stages(report)["live"]["calls"], 1000)

    def test_chroot_and_another_user_are_recorded_until_then(self):
        for name, stage in (("chroot", "elsewhere"), ("other-user", "as nobody")):
            with self.subTest(behaviour=name):
                self.assertIn(stage, lightmeter_run.stages(self.compare(PROCESS, name)))


class Stacks(Case):
    def test_each_behaviour(self):
        self.compare_each(STACKS)


class Allocators(Case):
    def test_own(self):
        self.assertIn("allocates", lightmeter_run.stages(self.compare(MALLOC)))

    def test_preloaded(self):
        """The host's own LD_PRELOAD stays, and its allocator with it."""
        lightmeter_run.need_plain_launcher(self)
        environment = {**os.environ, "LD_PRELOAD": JEMALLOC}
        if subprocess.run(["true"], env=environment, check=False, capture_output=True).stderr:
            self.skipTest("there is no jemalloc")
        script = 'case "$LD_PRELOAD" in *' + JEMALLOC + '*) echo kept;; esac; grep -c jemalloc /proc/self/maps'
        self.compare("sh", "-c", script, env=environment)
        for name in ("fork-storm", "spawn", "clone-raw", "thousand-live-threads"):
            with self.subTest(behaviour=name):
                self.compare(PROCESS, name, env=environment)

    def test_sanitizer(self):
        if ASAN == "none":
            self.skipTest("the compiler has no address sanitizer")
        for name in ("fork-storm", "spawn", "clone-raw", "replaces-descriptors"):
            with self.subTest(behaviour=name):
                self.compare(ASAN, name)


class Exceptions(Case):
    def test_each_behaviour(self):
        if THROWN == "none":
            self.skipTest("there is no C++ compiler, or no libjpeg")
        self.compare_each(THROWN)


if __name__ == "__main__":
    LIGHTMETER = os.path.abspath(LIGHTMETER)
    unittest.main(argv=sys.argv)
