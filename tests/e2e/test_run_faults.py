# SPDX-License-Identifier: Apache-2.0
"""What `lightmeter run` does with what goes wrong: commands that cannot run, targets that end in every
way, signals, killed launchers, full disks, traces that are none. The target's output and end are those
it has without Lightmeter, and each message says what to do.

    test_run_faults.py
"""
import glob
import json
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

import lightmeter_run
from lightmeter_run import LIGHTMETER

WAIT_S = 60  # an upper bound, never a measure


def wait_for(condition):
    """Until the condition holds; fails when it never does."""
    end = time.monotonic() + WAIT_S
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it never came")
        time.sleep(0.01)


def has_ended(pid):
    """Also when nobody has fetched its status yet (an orphan in a container)."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


class Case(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name
        self.trace = os.path.join(self.folder, "run.lmt")

    def path(self, name, text=None, mode=0o644):
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "wb") as file:
                file.write(text.encode() if isinstance(text, str) else text)
            os.chmod(path, mode)
        return path

    def lightmeter(self, *words, **settings):
        settings = {"capture_output": True, "timeout": WAIT_S, "cwd": self.folder, **settings}
        return subprocess.run([LIGHTMETER, *words], check=False, **settings)

    def run_quiet(self, *command, **settings):
        return self.lightmeter("run", "-q", "-o", self.trace, "--", *command, **settings)

    def compiled(self, name, text, *options):
        """A program of the test's own, or the test is skipped."""
        compiler = shutil.which("cc") or shutil.which("gcc")
        if not compiler:
            self.skipTest("no C compiler")
        program = self.path(name)
        built = subprocess.run([compiler, *options, "-o", program, self.path(name + ".c", text)],
                               check=False, capture_output=True)
        if built.returncode:
            self.skipTest(f"not compiled: {built.stderr.decode()}")
        return program

    def report(self, *words):
        result = self.lightmeter("report", "--format", "json", *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def notes(self):
        result = self.lightmeter("dump", self.trace)
        self.assertEqual(result.returncode, 0, result.stderr)
        return "\n".join(line for line in result.stdout.decode().splitlines() if "TEXT note" in line)

    def assert_sound(self, trace=None):
        result = self.lightmeter("dump", "--check", trace or self.trace)
        self.assertEqual(result.returncode, 0, result.stdout)
        return result.stdout.decode()

    def assert_says(self, stderr, *parts):
        text = stderr.decode()
        for part in parts:
            self.assertIn(part, text)
        self.assertTrue(text.endswith("\n"))

    def assert_nothing_left(self, pid_of=None):
        names = [n for n in os.listdir(self.folder) if ".part" in n]
        self.assertEqual(names, [])


class CommandLine(Case):
    def test_no_command(self):
        for words in (["run"], ["run", "--"], ["run", "-q"], ["run", "--", ""]):
            result = self.lightmeter(*words)
            self.assertEqual(result.returncode, 125, words)
            self.assert_says(result.stderr, "lightmeter run -- PROGRAM")

    def test_unknown_words_get_the_nearest(self):
        result = self.lightmeter("rnu", "true")
        self.assertEqual(result.returncode, 2)
        self.assert_says(result.stderr, "Did you mean 'run'?")
        result = self.lightmeter("run", "--qiet", "true")
        self.assertEqual(result.returncode, 125)
        self.assert_says(result.stderr, "--quiet")
        result = self.lightmeter("report", "--fromat=json", "x")
        self.assertEqual(result.returncode, 2)
        self.assert_says(result.stderr, "--format")
        result = self.lightmeter("run", "--no-hook", "file_oi", "true")
        self.assertEqual(result.returncode, 125)
        self.assert_says(result.stderr, "Did you mean 'file_io'?")
        result = self.lightmeter("run", "--max-bytes", "12", "true")
        self.assertEqual(result.returncode, 125)
        self.assert_says(result.stderr, "--max-bytes", "12")
        for words in (["export", "x.lmt"], ["report"], ["dump"], ["recover"], ["version", "x"],
                      ["report", ""], ["dump", ""], ["recover", ""], ["export", "--to", "chrome", ""],
                      ["report", "--item-stage", "", "x.lmt"],
                      ["report", "a", "b"], ["dump", "--check", "--ticks", "a"], ["help", "nothing"]):
            result = self.lightmeter(*words)
            self.assertEqual(result.returncode, 2, words)
            self.assertTrue(result.stderr.startswith(b"lightmeter "), words)
            self.assertEqual(result.stdout, b"")
            self.assertNotIn(b": : ", result.stderr)

    def test_help_and_version(self):
        text = self.lightmeter("help").stdout.decode()
        self.assertTrue(text.startswith("Lightmeter measures where the time"))
        self.assertEqual(text, self.lightmeter("--help").stdout.decode())
        self.assertEqual(text, self.lightmeter().stdout.decode())
        for name in re.findall(r"^  (\w+) ", text, re.M):
            if name == "lightmeter":
                continue
            about = self.lightmeter("help", name)
            self.assertEqual(about.returncode, 0)
            self.assertTrue(about.stdout.decode().startswith(f"lightmeter {name}"))
            self.assertLessEqual(max(len(line) for line in about.stdout.decode().splitlines()), 80)
            self.assertEqual(about.stdout, self.lightmeter(name, "--help").stdout)
        self.assertRegex(self.lightmeter("version").stdout.decode(), r"^lightmeter \d+\.\d+\.\d+\n")
        with open("/dev/full", "w", encoding="ascii") as full_device:
            full = self.lightmeter("version", stdout=full_device, capture_output=False,
                                   stderr=subprocess.PIPE)
        self.assertEqual(full.returncode, 1)

    def test_options_of_the_target_are_its_own(self):
        result = self.run_quiet("echo", "-n", "--quiet", "--help")
        self.assertEqual(result.stdout, b"--quiet --help")
        result = self.lightmeter("run", "-q", "-o", self.trace, "echo", "--json", "x")
        self.assertEqual(result.stdout, b"--json x\n")
        self.assertFalse(os.path.exists(self.path("x")))


class Launch(Case):
    def test_not_found(self):
        for name in ("no-such-program-anywhere", "./missing", "/nonexistent/program"):
            result = self.run_quiet(name)
            self.assertEqual(result.returncode, 127)
            self.assert_says(result.stderr, name)
            self.assertFalse(os.path.exists(self.trace))
            self.assert_nothing_left()

    def test_not_executable(self):
        plain = self.path("plain", "echo hi\n")
        orphan = self.path("orphan", "#!/nonexistent/interpreter\n", 0o755)
        for name, part in ((plain, "chmod"), (self.folder, "directory"), (orphan, "interpreter")):
            result = self.run_quiet(name)
            self.assertEqual(result.returncode, 126, name)
            self.assert_says(result.stderr, name, part)
            self.assertEqual(result.stdout, b"")
            self.assertFalse(os.path.exists(self.trace))

    def test_path_search_is_the_shells(self):
        first, second = self.path("a"), self.path("b")
        os.mkdir(first)
        os.mkdir(second)
        for folder, mode in ((first, 0o644), (second, 0o755)):
            with open(os.path.join(folder, "tool"), "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\necho found in $0\n")
            os.chmod(os.path.join(folder, "tool"), mode)
        environment = {**os.environ, "PATH": f"{first}:{second}:/bin:/usr/bin"}
        result = self.run_quiet("tool", env=environment)
        self.assertEqual(result.stdout, f"found in {second}/tool\n".encode())

    def test_a_script_without_shebang_runs_in_the_shell(self):
        script = self.path("bare", "echo $((6 * 7))\nexit 5\n", 0o755)
        result = self.run_quiet(script)
        self.assertEqual((result.returncode, result.stdout), (5, b"42\n"))

    def test_a_script_is_judged_by_its_interpreter(self):
        script = self.path("script", "#!/usr/bin/env python3\nprint('hello')\n", 0o755)
        result = self.run_quiet(script, env={**os.environ, "PATH": "/usr/bin:/bin"})
        self.assertEqual((result.returncode, result.stdout), (0, b"hello\n"))
        self.assertNotIn("Nothing is known", self.notes())

    def test_a_static_program(self):
        program = self.compiled("static", '#include <stdio.h>\n#include <time.h>\nint main(void)\n'
                                '{while (clock() < 150000) ; puts("static"); return 9;}\n', "-static")
        result = self.lightmeter("run", "-o", self.trace, "--", program)
        self.assertEqual((result.returncode, result.stdout), (9, b"static\n"))
        self.assertIn("statically linked", self.notes())
        self.assert_says(result.stderr, "statically", "linked")
        dump = self.lightmeter("dump", self.trace).stdout.decode()
        cpu_ns = [int(n) for n in re.findall(r"process_cpu_ns subject \d+ value (\d+)", dump)]
        self.assertGreaterEqual(max(cpu_ns), 100000000)  # what /proc knew
        self.assertNotIn("PROCESS pid", dump)
        # What this machine has is not said to be missing.
        gaps = {gap["what"]: gap["why"] for gap in
                self.report(self.trace)["collection"]["not_measurable_here"]}
        self.assertIn("no thread was seen from inside", gaps["run-queue wait"])
        # Below a shell nobody launched it: its name is what the kernel knew.
        self.run_quiet("sh", "-c", program + "; true")
        without = [p for p in self.report(self.trace)["processes"] if not p["has_agent"]]
        shown = self.lightmeter("report", self.trace).stdout.decode()
        for process in without:
            self.assertRegex(shown, rf"no agent +process {process['pid']} \S")

    @unittest.skipUnless(os.geteuid() == 0, "needs root to make a setuid program")
    def test_a_setuid_program(self):
        program = self.path("id")
        shutil.copy("/usr/bin/id", program)
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o4755)
        os.chmod(self.folder, 0o755)
        alone = subprocess.run([program], capture_output=True, check=False)
        self.assertIn(b"euid=65534", alone.stdout)
        result = self.run_quiet(program)
        self.assertEqual((result.returncode, result.stdout, result.stderr),
                         (0, alone.stdout, alone.stderr))
        self.assertIn("setuid", self.notes())

    def test_a_missing_library_is_told(self):
        result = self.lightmeter("run", "-o", self.trace, "--", "echo", "on",
                                 env={**os.environ, "LIGHTMETER_AGENT": "/nonexistent/agent.so"})
        self.assertEqual((result.returncode, result.stdout), (0, b"on\n"))
        self.assertIn("/nonexistent/agent.so", self.notes())

    def test_a_library_that_cannot_be_named_is_told(self):
        """LD_PRELOAD has no way to hold a blank: the loader would complain on the target's stderr."""
        folder = self.path("with blank")
        os.mkdir(folder)
        library = os.path.join(os.path.dirname(LIGHTMETER), "liblightmeter-agent.so")
        copy = shutil.copy(library, folder)
        result = self.run_quiet("echo", "on", env={**os.environ, "LIGHTMETER_AGENT": copy})
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, b"on\n", b""))
        self.assertIn("blank", self.notes())

    def test_old_preloads_stay(self):
        lightmeter_run.need_plain_launcher(self)
        result = self.run_quiet("sh", "-c", "echo $LD_PRELOAD",
                                env={**os.environ, "LD_PRELOAD": "libm.so.6"})
        self.assertRegex(result.stdout.decode(), r"^/.*liblightmeter-agent\.so:libm\.so\.6\n$")


class End(Case):
    def test_exit_statuses(self):
        for status in (*range(0, 256, 17), 1, 2, 124, 125, 126, 127, 128, 129, 254):
            result = self.run_quiet("sh", "-c", f"exit {status}")
            self.assertEqual(result.returncode, status)
            self.assertEqual(self.report(self.trace)["schema"], "lightmeter-report/1")
            self.assertEqual(result.stderr, b"")

    def test_underscore_exit(self):
        result = self.run_quiet("/usr/bin/python3", "-c", "import os; os._exit(33)")
        self.assertEqual(result.returncode, 33)
        self.assert_sound()

    def test_signals_end_lightmeter_too(self):
        for number in (signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM, signal.SIGABRT, signal.SIGINT,
                       signal.SIGPIPE, signal.SIGHUP, signal.SIGQUIT):
            code = f"import os, signal; signal.signal({int(number)}, signal.SIG_DFL) if {int(number)}" \
                   f" != 9 else 0; os.kill(os.getpid(), {int(number)})"
            result = self.run_quiet("/usr/bin/python3", "-c", code)
            self.assertEqual(result.returncode, -number, number)
            self.assertEqual(result.stderr, b"")
            self.assertIn(f'"signal\\":{int(number)}',
                          self.lightmeter("dump", self.trace).stdout.decode())
        self.assertEqual(glob.glob(self.path("core*")), [])

    def test_streams_are_the_targets(self):
        data = os.urandom(3_000_000)
        result = self.run_quiet("cat", input=data)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, data, b""))
        both = "import sys; sys.stdout.write('out\\n' * 5000); sys.stderr.write('err\\n' * 5000)"
        result = self.run_quiet("/usr/bin/python3", "-c", both)
        self.assertEqual(result.stdout, b"out\n" * 5000)
        self.assertEqual(result.stderr, b"err\n" * 5000)
        shown = self.lightmeter("run", "-o", self.trace, "--", "/usr/bin/python3", "-c", both)
        self.assertEqual(shown.stdout, b"out\n" * 5000)
        self.assertTrue(shown.stderr.startswith(b"err\n" * 5000))  # the report comes after it
        self.assertGreater(len(shown.stderr), 20500)

    def test_descriptors_are_the_callers(self):
        command = ["/usr/bin/python3", "-c",
                   "import os; print(sorted(os.listdir('/proc/self/fd'), key=int))"]
        read, write = os.pipe()
        settings = {"pass_fds": (write,), "stdin": subprocess.DEVNULL}
        alone = subprocess.run(command, capture_output=True, check=True, **settings)
        result = self.run_quiet(*command, **settings)
        os.close(read)
        os.close(write)
        self.assertEqual(result.stdout, alone.stdout)

    def test_closed_streams(self):
        for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            script = f'"$0" run -o "$1" -- sh -c "exit 6" {closed}'
            result = subprocess.run(["sh", "-c", script, LIGHTMETER, self.trace], check=False,
                                    capture_output=True, timeout=WAIT_S)
            self.assertEqual(result.returncode, 6, closed)
            self.assert_sound()

    def test_a_stderr_nobody_reads(self):
        read, write = os.pipe()
        os.close(read)
        result = self.lightmeter("run", "-o", self.trace, "--", "sh", "-c", "exit 4",
                                 capture_output=False, stderr=write, stdout=subprocess.DEVNULL)
        os.close(write)
        self.assertEqual(result.returncode, 4)

    def test_what_outlives_the_target(self):
        pid_file = self.path("pid")
        script = f"sleep 300 </dev/null >/dev/null 2>&1 & echo $! >{pid_file}; sleep 1; exit 3"
        result = self.run_quiet("sh", "-c", script)
        with open(pid_file, encoding="utf-8") as file:
            pid = int(file.read())
        os.kill(pid, signal.SIGKILL)  # it was still there
        self.assertEqual(result.returncode, 3)
        self.assertIn("sleep", self.notes())
        self.assertIn(str(pid), self.notes())
        self.assert_sound()

    def test_a_daemon_that_has_called_nothing(self):
        """Its parent ends at once, so it is nobody's child, and it has announced itself nowhere."""
        program = self.compiled("daemon", "#include <stdio.h>\n#include <unistd.h>\nint main(void)\n"
                                "{pid_t pid = fork(); if (pid) {printf(\"%d\", (int)pid); return 0;}\n"
                                "setsid(); close(0); close(1); close(2); for (;;) pause();}\n")
        for _ in range(3):
            result = self.run_quiet(program, timeout=WAIT_S)
            os.kill(int(result.stdout), signal.SIGKILL)  # it was still there
            self.assertEqual(result.returncode, 0)
            self.assertRegex(self.notes(), rf"still lives.*daemon \({int(result.stdout)}\)")
            self.assert_sound()

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root to change the user")
    def test_a_changed_user_is_told(self):
        """The library cannot record then: the run directory is only its owner's."""
        # A sanitized launcher looks around less often.
        seconds = "4" if lightmeter_run.is_sanitized() else "0.7"
        change = ("setpriv", "--reuid", "65534", "--clear-groups", "sleep", seconds)
        for command in (change, ("sh", "-c", " ".join(change) + "; true")):
            self.assertEqual(self.run_quiet(*command).returncode, 0)
            gaps = {gap["what"]: gap["why"] for gap in
                    self.report(self.trace)["collection"]["not_measurable_here"]}
            told = [what for what, why in gaps.items() if "changed its user" in why]
            self.assertEqual(len(told), 1, gaps)
            self.assertRegex(told[0], r"^the inside of sleep \(\d+\)$")


class Signals(Case):
    # os.write: a signal may come while `ready` is being written, and print cannot be entered twice.
    READY = "import os, signal, sys, time\n" \
            "def take(number, frame):\n" \
            "    os.write(1, b'got %d\\n' % number)\n" \
            "    sys.exit(20)\n" \
            "for n in (1, 2, 10, 15): signal.signal(n, take)\n" \
            "os.write(1, b'ready\\n')\n" \
            "while True: time.sleep(0.02)\n"  # a signal just before a long sleep would wait for it

    def setUp(self):
        super().setUp()

        def never_came(number, frame):
            raise AssertionError("what the test waits for never came")
        signal.signal(signal.SIGALRM, never_came)
        signal.alarm(WAIT_S)
        self.addCleanup(signal.alarm, 0)

    def start(self, **settings):
        process = subprocess.Popen(
            [LIGHTMETER, "run", "-q", "-o", self.trace, "--", "/usr/bin/python3", "-c", self.READY],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **settings)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(self.end, process)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    @staticmethod
    def end(process):
        """Whatever a failed test left: the target, then Lightmeter."""
        if process.poll() is None:
            with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="utf-8") as file:
                for pid in file.read().split():
                    os.kill(int(pid), signal.SIGKILL)
            process.wait()

    @staticmethod
    def state_of(pid):
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0]

    def test_signals_to_lightmeter_reach_the_target(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
            process = self.start()
            process.send_signal(number)
            self.assertEqual(process.stdout.readline(), f"got {int(number)}\n".encode())
            self.assertEqual(process.wait(WAIT_S), 20)
            self.assert_sound()

    def test_an_interrupt_of_the_group_is_the_targets(self):
        process = self.start(start_new_session=True)
        os.killpg(process.pid, signal.SIGINT)
        output = process.stdout.read()
        self.assertEqual(output, b"got 2\n")  # once
        self.assertEqual(process.wait(WAIT_S), 20)
        self.assert_sound()

    def test_an_interrupt_of_lightmeter_alone_is_nobodys(self):
        process = self.start()
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGQUIT)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.stdout.read(), b"got 15\n")
        self.assertEqual(process.wait(WAIT_S), 20)

    def test_stop_and_go_on(self):
        process = self.start(start_new_session=True)
        os.killpg(process.pid, signal.SIGSTOP)
        wait_for(lambda: self.state_of(process.pid) == "T")
        os.killpg(process.pid, signal.SIGCONT)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(WAIT_S), 20)
        self.assert_sound()

    def test_mask_and_dispositions_are_the_callers(self):
        code = "import signal; print(sorted(map(int, signal.pthread_sigmask(signal.SIG_BLOCK, []))), " \
               "[n for n in range(1, 32) if signal.getsignal(n) == signal.SIG_IGN])"
        for setting in ("pass", "signal.pthread_sigmask(signal.SIG_BLOCK, [10, 28])",
                        "signal.signal(15, signal.SIG_IGN)", "signal.signal(17, signal.SIG_IGN)"):
            wrapper = "import signal, os, sys; %s; os.execv(sys.argv[1], sys.argv[1:])" % setting
            base = ["/usr/bin/python3", "-c", wrapper]
            target = ["/usr/bin/python3", "-c", code]
            alone = subprocess.run([*base, *target], capture_output=True, check=False, timeout=WAIT_S)
            run = subprocess.run(
                [*base, os.path.abspath(LIGHTMETER), "run", "-q", "-o", self.trace, "--", *target],
                capture_output=True, check=False, timeout=WAIT_S)
            self.assertEqual((run.returncode, run.stdout), (0, alone.stdout), setting)

    def test_killed_launcher(self):
        process = self.start()
        folders = glob.glob(f"/dev/shm/lightmeter-{process.pid}-*")
        if not folders:
            self.skipTest("the run directory is not in /dev/shm")
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="utf-8") as file:
            target = int(file.read().split()[0])
        process.kill()
        process.wait(WAIT_S)
        os.kill(target, 0)  # it goes on
        os.kill(target, signal.SIGTERM)
        self.assertEqual(process.stdout.readline(), b"got 15\n")
        wait_for(lambda: has_ended(target))
        self.assertFalse(os.path.exists(self.trace))
        result = self.lightmeter("recover", folders[0])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(self.trace, result.stdout.decode())
        self.assertFalse(os.path.exists(folders[0]))
        self.assertIn("threads", self.assert_sound())
        self.assertEqual(self.report(self.trace)["command"][0], "/usr/bin/python3")
        again = self.lightmeter("recover", folders[0])
        self.assertNotEqual(again.returncode, 0)
        self.assert_says(again.stderr, folders[0])


class Output(Case):
    def test_the_name_without_o(self):
        result = self.lightmeter("run", "-q", "--", "true")
        self.assertEqual(result.returncode, 0)
        names = os.listdir(self.folder)
        self.assertEqual(len(names), 1)
        self.assertRegex(names[0], r"^lightmeter-true-\d{8}-\d{6}\.lmt$")

    def test_a_trace_that_is_there(self):
        self.run_quiet("true")
        before = os.stat(self.trace).st_ino
        result = self.lightmeter("run", "-o", self.trace, "--", "true")
        self.assertIn(b"replaced", result.stderr)
        self.assertNotEqual(os.stat(self.trace).st_ino, before)
        self.assert_sound()
        # A run that cannot start leaves the old one alone.
        with open(self.trace, "rb") as file:
            before = file.read()
        self.assertEqual(self.run_quiet("no-such-program").returncode, 127)
        with open(self.trace, "rb") as file:
            self.assertEqual(file.read(), before)

    def test_places_that_cannot_be_written(self):
        marker = self.path("marker")
        for output in ("/nonexistent/folder/x.lmt", self.folder, "/dev/null", "/proc/x.lmt"):
            result = self.lightmeter("run", "-q", "-o", output, "--", "touch", marker)
            self.assertEqual(result.returncode, 125, output)
            self.assert_says(result.stderr, output, "-o")
            self.assertNotIn(b".part", result.stderr)  # a name of ours
            self.assertFalse(os.path.exists(marker))  # nothing was started
        for words in (["-o", ""], ["-o", "-"], ["-o", self.trace, "--item-stage", ""],
                      ["-o", self.trace, "--json", ""]):
            result = self.lightmeter("run", "-q", *words, "--", "touch", marker)
            self.assertEqual(result.returncode, 125, words)
            self.assertFalse(os.path.exists(marker))
        self.assertEqual(os.listdir(self.folder), [])

    def test_json_that_cannot_be_written(self):
        marker = self.path("marker")
        for output in ("/nonexistent/x.json", self.folder, "/proc/x.json"):
            result = self.lightmeter("run", "-q", "-o", self.trace, "--json", output, "--", "touch", marker)
            self.assertEqual(result.returncode, 125, output)
            self.assert_says(result.stderr, "--json " + output)
            self.assertEqual(os.listdir(self.folder), [])  # nothing was started or left
        # What only the end of the run can show changes no status.
        os.mkdir(self.path("gone"))
        result = self.lightmeter("run", "-q", "-o", self.trace, "--json", self.path("gone/x.json"), "--",
                                 "sh", "-c", "rmdir gone; exit 8")
        self.assertEqual(result.returncode, 8)
        self.assert_says(result.stderr, "gone/x.json")
        self.assert_sound()

    def test_two_outputs_in_one_file(self):
        marker = self.path("marker")
        self.run_quiet("true")
        with open(self.trace, "rb") as file:
            before = file.read()
        os.symlink("run.lmt", self.path("link"))
        os.link(self.trace, self.path("hard"))
        os.mkdir(self.path("sub"))
        for trace, report in ((self.trace, self.trace), ("run.lmt", "./run.lmt"), ("link", "run.lmt"),
                              ("run.lmt", "hard"), ("new.lmt", self.path("sub/../new.lmt"))):
            result = self.lightmeter("run", "-q", "-o", trace, "--json", report, "--", "touch", marker)
            self.assertEqual(result.returncode, 125, (trace, report))
            self.assert_says(result.stderr, "--json")
            self.assertFalse(os.path.exists(marker))
        # A link to what the run makes is found out only then.
        os.symlink("later.lmt", self.path("dangling"))
        result = self.lightmeter("run", "-q", "-o", "later.lmt", "--json", "dangling", "--", "true")
        self.assertEqual(result.returncode, 0)
        self.assert_says(result.stderr, "--json dangling")
        self.assert_sound(self.path("later.lmt"))
        stage_map = self.path("map.yaml", "functions:\n  no_such_function: decode\n")
        for words in (["-o", stage_map], ["-o", "new.lmt", "--json", "map.yaml"]):
            result = self.lightmeter("run", "-q", "--stage-map", stage_map, *words, "--", "touch", marker)
            self.assertEqual(result.returncode, 125, words)
            self.assert_says(result.stderr, "stage map")
        for command in (["report"], ["export", "--to", "chrome"]):
            result = self.lightmeter(*command, self.trace, "-o", "link")
            self.assertEqual(result.returncode, 2, command)
            self.assert_says(result.stderr, self.trace, "-o")
        with open(self.trace, "rb") as file:
            self.assertEqual(file.read(), before)
        self.assertFalse(os.path.exists(marker))
        # Two that only look alike.
        result = self.lightmeter("run", "-q", "-o", "sub/x", "--json", "x", "--", "true")
        self.assertEqual((result.returncode, result.stderr), (0, b""))

    def test_an_item_stage_that_is_not_there(self):
        result = self.lightmeter("run", "-o", self.trace, "--item-stage", "nosuch", "--",
                                 "/usr/bin/python3", "-c", "open('/dev/zero', 'rb').read(10)")
        text = " ".join(result.stderr.decode().split())
        self.assertIn("no stage or call named 'nosuch' (--item-stage) was seen; seen: load", text)
        self.assertNotIn("Run on more input", text)
        how = self.report(self.trace)["verdict"]["how"]
        self.assertEqual(len(how), 1)
        self.assertIn("--item-stage", how[0])
        self.assertIn("load", how[0])
        report = self.report(self.trace, "--item-stage", "load")
        self.assertGreater(report["items"]["count"], 0)

    def test_json_and_formats(self):
        report = self.path("r.json")
        result = self.lightmeter("run", "-o", self.trace, "--json", report, "--format", "json", "--",
                                 "true")
        with open(report, encoding="utf-8") as file:
            self.assertEqual(json.load(file), json.loads(result.stderr))
        self.assertEqual(json.loads(result.stderr)["command"], ["true"])
        result = self.lightmeter("run", "-o", self.trace, "--format", "markdown", "--", "true")
        self.assertTrue(result.stderr.startswith(b"#"))

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("mount"), "needs root for a small disk")
    def test_a_full_disk(self):
        """The trace stops growing; the target does not notice, and nothing is lost."""
        # Sleeps are never folded, so that the trace is larger than the disk on any machine.
        talk = "import os, sys, time\nfd = os.open('/dev/zero', os.O_RDONLY)\n" \
               "for i in range(4000):\n" \
               "    os.read(fd, (i * 7919) % 65536)\n    os.close(os.open(sys.executable, os.O_RDONLY))\n" \
               "    time.sleep(1e-5)\n" \
               "print('done')\n"
        place = self.path("small")
        os.mkdir(place)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", place], check=False,
                          capture_output=True).returncode:
            self.skipTest("no file system can be mounted here")
        self.addCleanup(subprocess.run, ["umount", place], check=False)
        self.trace = os.path.join(place, "run.lmt")
        result = self.run_quiet("/usr/bin/python3", "-c", talk)
        self.assertEqual((result.returncode, result.stdout), (0, b"done\n"))
        self.assert_says(result.stderr, "could not be finished", "recover")
        kept = re.search(r"lightmeter recover (\S+) -o", result.stderr.decode()).group(1)
        self.addCleanup(shutil.rmtree, kept, ignore_errors=True)
        part = glob.glob(self.trace + ".part*")
        self.assertEqual(len(part), 1)
        self.assertEqual(self.lightmeter("report", part[0]).returncode, 0)  # readable up to there
        whole = self.path("whole.lmt")
        result = self.lightmeter("recover", kept, "-o", whole)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_sound(whole)
        stages = {s["name"]: s for s in self.report(whole)["stages"]}
        self.assertGreater(sum(s["calls"] for s in stages.values()), 1000)
        self.assertFalse(os.path.exists(kept))

    def test_a_limit_on_the_size_of_files(self):
        """Neither Lightmeter nor the library in the target dies of SIGXFSZ, or leaves anything."""
        before = set(lightmeter_run.left_run_folders())
        talk = "import os\nfor i in range(3000): os.stat('.'); os.close(os.open('.', 0))\nprint('done')\n"
        for limit_kib in (1, 8, 80, 160, 800):
            def limited(limit=limit_kib * 1024):
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            result = self.run_quiet("/usr/bin/python3", "-c", talk, preexec_fn=limited)
            if limit_kib == 1:  # not even the description of the run can be written
                self.assertEqual((result.returncode, result.stdout), (125, b""))
                self.assert_says(result.stderr, "File too large")
            else:
                self.assertEqual((result.returncode, result.stdout), (0, b"done\n"), result.stderr)
                self.assert_sound()
            self.assertEqual("came up in no process" in (limit_kib > 1 and self.notes() or ""),
                             1 < limit_kib < 128)
        self.assertEqual(set(lightmeter_run.left_run_folders()) - before, set())

    def test_max_bytes(self):
        """Every call is counted, though not every one is kept."""
        talk = "import os\nfd = os.open('/dev/urandom', os.O_RDONLY)\n" \
               "for i in range(40000): os.read(fd, 8192 + (i * 7919) % 16384)\nprint('done')\n"
        result = self.lightmeter("run", "-q", "--max-bytes", "64K", "-o", self.trace, "--",
                                 "/usr/bin/python3", "-c", talk)
        self.assertEqual((result.returncode, result.stdout), (0, b"done\n"))
        self.assertLess(os.stat(self.trace).st_size, 64 * 1024)
        self.assert_sound()
        self.assertRegex(self.notes(), r"--max-bytes. was reached after \d+\.\d+ s")
        spans = re.search(r"(\d+) spans", self.assert_sound()).group(1)
        self.assertLess(int(spans), 40000)
        calls = sum(s["calls"] for s in self.report(self.trace)["stages"])
        self.assertGreaterEqual(calls, 40000)


class Traces(Case):
    def damaged(self):
        self.run_quiet("sh", "-c", "true; true")
        with open(self.trace, "rb") as file:
            good = file.read()
        yield "empty", b"", 2
        yield "text", b"this is no trace\n" * 100, 2
        yield "future", good[:8] + b"\x63\0\0\0" + good[12:], 2
        yield "feature", good[:12] + b"\xff\xff\xff\xff" + good[16:], 2
        yield "header cut", good[:20], 2
        for n in range(60, len(good), max(1, len(good) // 25)):
            yield f"cut at {n}", good[:n], None
            yield f"byte {n} changed", good[:n] + bytes([good[n] ^ 0x55]) + good[n + 1:], None

    def test_report_of_traces_that_are_none(self):
        for what, content, status in self.damaged():
            path = self.path("bad.lmt", content)
            for command in (["report"], ["dump"], ["export", "--to", "chrome", "-o", "-"]):
                result = self.lightmeter(*command, path)
                self.assertIn(result.returncode, (0, 2) if status is None else (status,), (what, command))
                if result.returncode:
                    self.assert_says(result.stderr, "bad.lmt")
                    self.assertEqual(result.stdout, b"")
        for path in (self.folder, "/nonexistent.lmt", "/dev/null"):
            for command in (["report"], ["dump"], ["dump", "--check"], ["export", "--to", "perfetto"]):
                result = self.lightmeter(*command, path)
                self.assertEqual(result.returncode, 2, (command, path))
                self.assert_says(result.stderr, path)

    def test_cut_traces_say_so(self):
        self.run_quiet("true")
        with open(self.trace, "rb") as file:
            good = file.read()
        path = self.path("cut.lmt", good[:-10])
        check = self.lightmeter("dump", "--check", path)
        self.assertEqual(check.returncode, 1)
        report = self.lightmeter("report", path)
        self.assertEqual(report.returncode, 0)
        self.assertRegex(report.stdout.decode().lower(), r"cut|damage|incomplete")

    def test_exports_of_damaged_traces_say_so(self):
        self.run_quiet("sh", "-c", "true; true")
        sound = self.lightmeter("export", "--to", "chrome", self.trace, "-o", "-")
        self.assertEqual((sound.returncode, sound.stderr), (0, b""))
        with open(self.trace, "rb") as file:
            good = file.read()
        place = good.index(b"\x28\xb5\x2f\xfd", len(good) // 2) + 8  # within a compressed block
        for what, content, word in (
                ("cut", good[:-10], "cut"),
                ("changed", good[:place] + bytes([good[place] ^ 0x55]) + good[place + 1:], "checksum")):
            path = self.path("bad.lmt", content)
            result = self.lightmeter("export", "--to", "chrome", path, "-o", "-")
            self.assertEqual(result.returncode, 0, what)
            json.loads(result.stdout)
            self.assert_says(result.stderr, path, word)
            self.assertEqual(result.stderr.count(b"\n"), 1, result.stderr)

    def test_export(self):
        self.run_quiet("true")
        result = self.lightmeter("export", "--to", "chrome", self.trace)
        self.assertEqual(result.returncode, 0, result.stderr)
        name = result.stdout.decode().strip()
        self.assertTrue(name.startswith(os.path.join(self.folder, "run.")))
        with open(name, encoding="utf-8") as file:
            json.load(file)
        result = self.lightmeter("export", "--to", "perfetto", self.trace, "-o", self.path("p"))
        self.assertEqual((result.returncode, result.stdout), (0, b""))
        self.assertGreater(os.stat(self.path("p")).st_size, 10)
        result = self.lightmeter("export", "--to", "chorme", self.trace)
        self.assertEqual(result.returncode, 2)
        result = self.lightmeter("export", "--to", "chrome", self.trace, "-o", "/nonexistent/x.json")
        self.assertEqual(result.returncode, 1)

    def test_reports_are_plain_in_a_pipe(self):
        self.run_quiet("/usr/bin/python3", "-c", "import time; time.sleep(0.2)")
        for environment in ({}, {"NO_COLOR": "1"}, {"LC_ALL": "C"}, {"COLUMNS": "200"}):
            result = self.lightmeter("report", self.trace, env={**os.environ, **environment})
            text = result.stdout.decode()
            self.assertNotIn("\x1b", text)
            self.assertLessEqual(max(len(line) for line in text.splitlines()), 80)
            if environment.get("LC_ALL") == "C":
                text.encode("ascii")

    def test_report_into_a_file(self):
        self.run_quiet("true")
        shown = self.lightmeter("report", "--format", "markdown", self.trace)
        output = self.path("r.md")
        result = self.lightmeter("report", "--format", "markdown", self.trace, "-o", output)
        self.assertEqual((result.returncode, result.stdout), (0, b""))
        with open(output, "rb") as file:
            self.assertEqual(file.read().replace(b"\xc2\xa0", b" "), shown.stdout.replace(b"\xc2\xa0", b" "))
        result = self.lightmeter("report", self.trace, "-o", "/nonexistent/r.md")
        self.assertEqual(result.returncode, 1)
        self.assert_says(result.stderr, "/nonexistent/r.md")


class StageMap(Case):
    def test_faults_name_the_place(self):
        marker = self.path("marker")
        for text, parts in (
                ("functions:\n  a: decode\nlibrarys:\n  b: c\n", ("map.yaml:3:1", "libraries")),
                ("functions: 5\n", ("map.yaml:1:12", "PATTERN: STAGE")),
                ("functions:\n  a: [b]\n", ("map.yaml:2:6", "word")),
                ("functions:\n  a: two words\n", ("map.yaml:2:6", "blank")),
                ("functions:\n  a: {\n", ("map.yaml:", "YAML")),
                ("", ("map.yaml:1:1", "functions")),
                (b"functions:\n  \xff: a\n", ("map.yaml:2:3", "UTF-8"))):
            path = self.path("map.yaml", text)
            result = self.lightmeter("run", "-q", "--stage-map", path, "-o", self.trace, "--", "touch",
                                     marker)
            self.assertEqual(result.returncode, 125, text)
            self.assert_says(result.stderr, *parts)
            self.assertFalse(os.path.exists(marker))
        result = self.lightmeter("run", "--stage-map", "/nonexistent.yaml", "true")
        self.assertEqual(result.returncode, 125)
        self.assert_says(result.stderr, "/nonexistent.yaml")

    def test_a_good_map_is_taken(self):
        path = self.path("map.yaml", "functions:\n  no_such_function_*: decode\n")
        result = self.lightmeter("run", "-q", "--stage-map", path, "-o", self.trace, "--", "echo", "fine")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, b"fine\n", b""))


class Doctor(Case):
    def test_each_check_says_its_state(self):
        result = self.lightmeter("doctor", "--json")
        facts = json.loads(result.stdout)
        states = {check["name"]: check["state"] for check in facts["checks"]}
        self.assertEqual(result.returncode, 0 if states["preloaded library"] == "works" else 1)
        self.assertLessEqual({"preloaded library", "clock", "run directory", "scheduler statistics",
                              "pressure", "control group", "perf events", "ONNX Runtime",
                              "architecture"}, set(states))
        for check in facts["checks"]:
            self.assertIn(check["state"], ("works", "limited", "missing"))
            self.assertTrue(check["what"])
            if check["state"] != "works":
                self.assertTrue(check["advice"], check)
        self.assertIn("file_io", facts["hook_sets"])
        text = self.lightmeter("doctor").stdout.decode()
        for name in states:
            self.assertIn(name, text)
        self.assertLessEqual(max(len(line) for line in text.splitlines()), 80)

    def test_a_missing_library_is_found_out(self):
        result = self.lightmeter("doctor", "--json",
                                 env={**os.environ, "LIGHTMETER_AGENT": "/nonexistent/agent.so"})
        self.assertEqual(result.returncode, 1)
        self.assertEqual(json.loads(result.stdout)["checks"][0]["state"], "missing")

    def test_an_empty_library_is_found_out(self):
        """A library that loads and does nothing: only a real run can tell."""
        library = next((p for p in glob.glob("/lib/*/libm.so.6") + glob.glob("/lib64/libm.so.6")), None)
        result = self.lightmeter("doctor", "--json", env={**os.environ, "LIGHTMETER_AGENT": library})
        self.assertEqual(result.returncode, 1)
        self.assertIn("did not come up", json.loads(result.stdout)["checks"][0]["what"])


if __name__ == "__main__":
    LIGHTMETER = os.path.abspath(LIGHTMETER)
    lightmeter_run.LIGHTMETER = LIGHTMETER
    assert stat.S_ISREG(os.stat(LIGHTMETER).st_mode)
    before = set(lightmeter_run.left_run_folders())
    unittest.main(argv=sys.argv)
