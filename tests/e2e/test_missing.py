# SPDX-License-Identifier: Apache-2.0
"""Where a source of data is missing, `doctor` and the report say so, and why.

usage: test_missing.py. Each source is taken away in turn: by the environment, by an empty folder mounted over
it in a mount namespace of our own, by a filter that refuses the system call, or by running as an ordinary
user. Where this machine does not let us take one away, that case is skipped. The command under test is named
in LIGHTMETER.
"""
import ctypes
import json
import os
import shutil
import subprocess
import tempfile
import unittest

LIGHTMETER = os.path.abspath(os.environ.get("LIGHTMETER", "build/lightmeter"))
TARGET = ("sh", "-c", "ls >/dev/null; sleep 0.2")
NOBODY = 65534
PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}.get(os.uname().machine)
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
NO_RSEQ = {"GLIBC_TUNABLES": "glibc.pthread.rseq=0"}


class Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8),
                ("value", ctypes.c_uint32)]


class Program(ctypes.Structure):
    _fields_ = [("count", ctypes.c_uint16), ("at", ctypes.POINTER(Instruction))]


def refuse_perf():
    """In the child before it becomes the command: perf_event_open gives EPERM from here on."""
    instructions = (Instruction * 4)((0x20, 0, 0, 0),                # load the number of the call
                                     (0x15, 0, 1, PERF_EVENT_OPEN),  # is it this one?
                                     (0x06, 0, 0, 0x00050001),       # EPERM
                                     (0x06, 0, 0, 0x7fff0000))       # allowed
    program = Program(4, instructions)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or \
            libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0):
        os._exit(99)


def masked(mounts):
    """Words before a command that mount (what, over what) for it alone; None: it is not allowed here.

    In the second path $$ is the command's process id.
    """
    lines = "".join(f'mount --bind "{over}" "{path}" || exit 98; ' for over, path in mounts)
    for unshare in (("unshare", "-m"), ("unshare", "-r", "-m")):
        words = (*unshare, "sh", "-c", lines + 'exec "$@"', "sh")
        try:
            if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
                return words
        except FileNotFoundError:
            return None
    return None


class Missing(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        os.chmod(self.folder, 0o755)
        self.addCleanup(shutil.rmtree, self.folder)
        self.empty = os.path.join(self.folder, "empty")
        self.out = os.path.join(self.folder, "out")
        for path in (self.empty, self.out):
            os.mkdir(path)
            os.chmod(path, 0o777)

    def mask(self, *paths):
        """A mask of those of `paths` that are there; or skips."""
        words = masked([(self.empty, path) for path in paths if os.path.isdir(path)])
        return words if words is not None else self.skipTest("no mounts of our own are allowed here")

    def lightmeter(self, *words, before=(), environment=(), program=LIGHTMETER, **options):
        command = [*before, program, *words]
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
                                check=False, env={**os.environ, **dict(environment)}, **options)
        self.assertEqual(result.returncode, 0, (command, result.stdout, result.stderr))
        return result.stdout

    def doctor(self, **options):
        """{name: (state, what)}. Whatever is missing: programs can be looked into, and it says what to do."""
        checks = json.loads(self.lightmeter("doctor", "--json", **options))["checks"]
        for check in checks:
            self.assertEqual(bool(check["advice"]), check["state"] != "works", check)
        found = {check["name"]: (check["state"], check["what"]) for check in checks}
        self.assertEqual(found["preloaded library"][0], "works", found)
        return found

    def report(self, *more, **options):
        """(methods, {what is not measurable: why}) of a run."""
        path = os.path.join(self.out, "r.json")
        self.lightmeter("run", "-q", "-o", os.path.join(self.out, "r.lmt"), "--json", path, *more, "--",
                        *TARGET, **options)
        with open(path, encoding="utf-8") as file:
            collection = json.load(file)["collection"]
        return collection["methods"], {gap["what"]: gap["why"] for gap in collection["not_measurable_here"]}

    def assert_row(self, checks, name, state, *words):
        self.assertEqual(checks[name][0], state, (name, checks[name]))
        for word in words:
            self.assertIn(word, checks[name][1])

    def assert_method(self, methods, words, is_there=True):
        self.assertEqual(any(words in method for method in methods), is_there, (words, methods))

    def test_nothing_taken_away(self):
        """What the other cases take away is there: else they could not fail."""
        checks = self.doctor()
        methods, gaps = self.report()
        self.assertEqual(checks["pressure"][0] == "missing", "pressure stalls (PSI)" in gaps and
                         not any("/proc/pressure" in method for method in methods))
        self.assertEqual(checks["scheduler events"][0] == "works",
                         "the scheduler's own account of waiting" not in gaps, (checks, gaps))
        self.assert_method(methods, "the scheduler's events", checks["scheduler events"][0] == "works")

    def test_no_restartable_sequences(self):
        checks = self.doctor(environment=NO_RSEQ)
        self.assert_row(checks, "cost split", "limited")
        self.assertRegex(checks["cost split"][1], "perf event's page|thread's CPU clock")
        methods, _ = self.report(environment=NO_RSEQ)
        self.assert_method(methods, "restartable-sequence", False)
        self.assertTrue(any("perf event's page" in method or "both ends" in method for method in methods), methods)

    @unittest.skipUnless(PERF_EVENT_OPEN, "the call's number is not known on this processor")
    def test_perf_refused(self):
        checks = self.doctor(preexec_fn=refuse_perf)
        self.assert_row(checks, "perf events", "missing", "cannot be opened: Operation not permitted")
        self.assertEqual(checks["scheduler events"][0], "missing")
        methods, gaps = self.report(preexec_fn=refuse_perf)
        self.assertRegex(gaps["the scheduler's own account of waiting"], "not allow|cannot be read")
        self.assert_method(methods, "the scheduler's events", False)
        checks = self.doctor(preexec_fn=refuse_perf, environment=NO_RSEQ)
        self.assert_row(checks, "cost split", "limited", "the thread's CPU clock")
        methods, _ = self.report(preexec_fn=refuse_perf, environment=NO_RSEQ)
        self.assert_method(methods, "the thread's CPU clock at both ends")

    def test_no_pressure(self):
        before = self.mask("/proc/pressure")
        checks = self.doctor(before=before)
        self.assert_row(checks, "pressure", "missing", "does not tell stalls for CPU I/O memory")
        methods, gaps = self.report(before=before)
        self.assertIn("needs /proc/pressure", gaps["pressure stalls (PSI)"])
        self.assert_method(methods, "/proc/pressure", False)

    def test_no_control_group(self):
        before = self.mask("/sys/fs/cgroup")
        checks = self.doctor(before=before)
        self.assert_row(checks, "control group", "missing", "no cpu.stat was found")
        methods, _ = self.report(before=before)
        self.assert_method(methods, "cpu.stat", False)

    def test_no_scheduler_statistics(self):
        before = masked([("/dev/null", "/proc/$$/task/$$/schedstat")])
        if before is None:
            self.skipTest("no mounts of our own are allowed here")
        checks = self.doctor(before=before)
        self.assert_row(checks, "scheduler statistics", "missing", "run-queue wait cannot be told")

    def test_no_tracefs(self):
        before = self.mask("/sys/kernel/tracing", "/sys/kernel/debug")
        checks = self.doctor(before=before)
        self.assert_row(checks, "scheduler events", "missing", "tracefs cannot be read")
        methods, gaps = self.report(before=before)
        self.assertIn("tracefs cannot be read", gaps["the scheduler's own account of waiting"])
        self.assert_method(methods, "the scheduler's events", False)

    def test_no_accelerator_library(self):
        checks = self.doctor()
        if checks["accelerators"][0] == "works":
            self.skipTest("this machine has an accelerator")
        self.assertRegex(checks["accelerators"][1], r"^no libnvidia-ml\.so\.1|^NVML is there but")
        methods, _ = self.report()
        self.assert_method(methods, "NVML", checks["accelerators"][1].startswith("NVML is there"))

    def test_switched_off(self):
        _, gaps = self.report("--no-scheduler")
        self.assertIn("--no-scheduler", gaps["the scheduler's own account of waiting"])

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "takes root and setpriv")
    def test_ordinary_user(self):
        program, agent = (shutil.copy(path, self.folder) for path in (
            LIGHTMETER, os.path.join(os.path.dirname(LIGHTMETER), "liblightmeter-agent.so")))
        # The copies that this user may read.
        user = {"before": ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
                "program": program, "cwd": self.out,
                "environment": {"TMPDIR": self.out, "LIGHTMETER_AGENT": agent}}
        checks = self.doctor(**user)
        self.assert_row(checks, "scheduler events", "missing")
        self.assertRegex(checks["scheduler events"][1], "takes root")
        _, gaps = self.report(**user)
        self.assertIn("takes root", gaps["the scheduler's own account of waiting"])


if __name__ == "__main__":
    unittest.main()
