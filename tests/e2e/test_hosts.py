# SPDX-License-Identifier: Apache-2.0
"""Hosts that are no plain C programs, and company that a program may have: interpreters and virtual
machines, a debugger or tracer attached, a second agent, stops and goes, clocks that jump. Output, errors
and end are those without Lightmeter; what this machine lacks is skipped, with the reason.

    test_hosts.py HOSTS HARM
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import lightmeter_run
from lightmeter_run import LIGHTMETER

HARM = sys.argv.pop(2)
HOSTS = sys.argv.pop(1)
AGENT = os.path.join(os.path.dirname(os.path.abspath(LIGHTMETER)), "liblightmeter-agent.so")
PYTHON = "/usr/bin/python3"
WAIT_S = 200  # an upper bound, never a measure

# Threads that read and sleep until a line comes; ends with 6.
SLOW = """
import sys, threading, time
told = threading.Event()
def work():
    while not told.is_set():
        with open("/dev/zero", "rb") as file:
            file.read(5000)
        time.sleep(0.002)
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
print("ready", flush=True)
sys.stdin.readline()
told.set()
for thread in threads: thread.join()
print("done", threading.active_count())
sys.exit(6)
"""

# Every look at a clock finds it an hour off, now ahead, now behind.
JUMPING_CLOCK = """
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static int looks;
int clock_gettime(clockid_t id, struct timespec *t)
{
    int failed = (int)syscall(SYS_clock_gettime, id, t);
    if (!failed && (id == CLOCK_REALTIME || JUMPS_ALL) && id != CLOCK_THREAD_CPUTIME_ID)
        t->tv_sec += __atomic_fetch_add(&looks, 1, __ATOMIC_RELAXED) % 2 ? 3600 : 0;
    return failed;
}
int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    t->tv_sec = now.tv_sec;
    t->tv_usec = now.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}
"""


def needs(program, package):
    return unittest.skipUnless(shutil.which(program), f"there is no {program} (Debian: {package})")


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def wait_for(condition):
    end = time.monotonic() + WAIT_S
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it never came")
        time.sleep(0.01)


class Case(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name

    def fresh(self):
        """A folder that is empty and always has the same name: the outputs may contain it."""
        path = os.path.join(self.folder, "work")
        shutil.rmtree(path, ignore_errors=True)
        os.mkdir(path)
        return path

    def result(self, alone):
        return alone.returncode, alone.stdout, alone.stderr

    def sound(self, report):
        self.assertIsNotNone(report)
        self.assertLessEqual(report["reconciliation"]["residual_ratio"], 0.005)
        self.assertEqual(report["collection"]["dropped_spans"], 0)

    def same(self, *command, status, agents=1, clean=lambda text: text, **settings):
        """Runs it without and with; `agents`: so many processes at least must have had the agent."""
        settings = {"timeout": WAIT_S, **settings}
        self.fresh()
        alone = lightmeter_run.bare(*command, **settings)
        self.assertEqual(alone.returncode, status, alone)
        self.assertTrue(alone.stdout, "a host that says nothing shows nothing")
        self.fresh()
        result, report, _ = lightmeter_run.measured(*command, **settings)
        self.assertEqual(clean(result.stdout), clean(alone.stdout))
        self.assertEqual(clean(result.stderr), clean(alone.stderr))
        self.assertEqual(result.returncode, alone.returncode)
        self.sound(report)
        self.assertGreaterEqual(sum(p["has_agent"] for p in report["processes"]), agents)
        return report

    def compiled(self, name, text, *options):
        compiler = shutil.which("cc") or shutil.which("gcc")
        if not compiler:
            self.skipTest("no C compiler")
        source, out = os.path.join(self.folder, name + ".c"), os.path.join(self.folder, name)
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run([compiler, *options, "-o", out, source], check=True)
        return out


class Languages(Case):
    """hosts/runtime.*: threads, children, files, pictures, sockets, signals, faults that are caught."""

    def host(self, name):
        return os.path.join(HOSTS, name)

    def work(self):
        return os.path.join(self.folder, "work")

    def test_python(self):
        report = self.same(PYTHON, self.host("runtime.py"), self.work(), status=1)
        self.assertIn("load", lightmeter_run.stages(report))

    @needs("node", "nodejs")
    def test_node(self):
        self.same("node", self.host("runtime.js"), self.work(), status=3)

    @needs("java", "default-jre-headless")
    def test_java(self):
        modules = subprocess.run(["java", "--list-modules"], capture_output=True, check=False).stdout
        if b"jdk.compiler" not in modules:
            self.skipTest("Java has no compiler (Debian: default-jdk-headless)")
        self.same("java", self.host("Runtime.java"), self.work(), status=4)

    @needs("go", "golang-go")
    def test_go_static(self):
        program = os.path.join(self.folder, "runtime")
        environment = {**os.environ, "CGO_ENABLED": "0", "GO111MODULE": "off", "GOFLAGS": "",
                       "GOCACHE": os.path.join(self.folder, "cache")}
        subprocess.run(["go", "build", "-o", program, self.host("runtime.go")], env=environment,
                       check=True, timeout=WAIT_S)
        report = self.same(program, self.work(), status=5, agents=0)
        first = next(p for p in report["processes"] if not p["parent_pid"])
        self.assertFalse(first["has_agent"])
        self.assertIn("statically linked",
                      report["collection"]["not_measurable_here"][0]["why"])

    @needs("fzf", "fzf")
    def test_go_dynamic(self):
        """Debian's Go programs are linked with libc: the agent is in them, and in their threads."""
        words = "".join(f"word {number}\n" for number in range(20000)).encode()
        self.same("fzf", "--filter", "word 19 9", status=0, input=words)


class Watched(Case):
    """A debugger or a tracer that follows the program, from the start or later."""

    def setUp(self):
        super().setUp()
        self.program = self.compiled("program", """
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
void here(int number) { printf("here %d\\n", number); fflush(stdout); }
static void *work(void *out) { return out; }
int main(void)
{
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, NULL);
        pthread_join(thread, NULL);
        here(i);
    }
    fprintf(stderr, "its error\\n");
    return 7;
}
""", "-g", "-O0", "-pthread")

    def may_trace(self, *command):
        tried = subprocess.run(command, capture_output=True, check=False, timeout=WAIT_S)
        if b"ptrace" in tried.stderr.lower() or tried.returncode not in (0, 7):
            self.skipTest(f"processes cannot be traced here: {tried.stderr.decode()[:200]}")

    @staticmethod
    def without_numbers(text):
        """gdb says which thread stopped where; threads and addresses are other ones each time."""
        kept = [line for line in text.splitlines()
                if not re.match(rb"\[(New|Thread|Switching|Inferior|Detaching)|warning: |Using host|"
                                rb"\[Attaching|\s*$", line)]
        return re.sub(rb"Thread 0x[0-9a-f]+ \(LWP \d+\)|0x[0-9a-f]+|process \d+", b"N",
                      b"\n".join(kept))

    @needs("gdb", "gdb")
    def test_debugger(self):
        """A breakpoint, a look around, back to the caller, and on to the end, over threads that come and go."""
        # What gdb says of threads would fall into the program's own lines.
        gdb = ["gdb", "-nx", "-batch", "-ex", "set debuginfod enabled off",
               "-ex", "set print thread-events off", "-ex", "break here",
               "-ex", "run", "-ex", "bt", "-ex", "print number", "-ex", "continue",
               "-ex", "finish", "-ex", "delete", "-ex", "continue",
               "-ex", "print $_exitcode", "--args", self.program]
        self.may_trace(*gdb)
        self.same(*gdb, status=0, clean=self.without_numbers, agents=2)

    @needs("strace", "strace")
    def test_tracer(self):
        """strace inside and outside; it sees the agent's own calls, the program does not."""
        log = os.path.join(self.folder, "log")
        self.may_trace("strace", "-f", "-o", log, self.program)
        self.same("strace", "-f", "-o", log, self.program, status=7, agents=2)
        lightmeter_run.need_plain_launcher(self)
        trace = os.path.join(self.folder, "run.lmt")
        outside = lightmeter_run.bare("strace", "-f", "-o", log, LIGHTMETER, "run", "-q", "-o", trace,
                                      "--", self.program, timeout=WAIT_S)
        self.assertEqual(self.result(outside), self.result(lightmeter_run.bare(self.program)))

    def attached(self, *tool):
        """The slow host with `tool PID` attached in the middle of it, and detached again."""
        trace = os.path.join(self.folder, "run.lmt")
        command = [LIGHTMETER, "run", "-q", "-o", trace, "--", PYTHON, "-c", SLOW]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as run:
            self.assertEqual(run.stdout.readline(), b"ready\n")
            host = children_of(run.pid)[-1]
            looked = subprocess.run([*tool, str(host)], capture_output=True, check=False,
                                    stdin=subprocess.DEVNULL, timeout=WAIT_S)
            out, errors = run.communicate(b"go\n", timeout=WAIT_S)
        if b"not permitted" in looked.stderr or b"not permitted" in looked.stdout:
            self.skipTest("processes cannot be attached to here")
        self.assertEqual((run.returncode, out, errors), (6, b"done 1\n", b""), looked)
        return looked

    @needs("gdb", "gdb")
    def test_debugger_attaches(self):
        looked = self.attached("gdb", "-nx", "-batch", "-ex", "set debuginfod enabled off",
                               "-ex", "thread apply all bt 3", "-ex", "detach", "-p")
        self.assertIn(b"Thread 4", looked.stdout)

    @needs("strace", "strace")
    def test_tracer_attaches(self):
        log = os.path.join(self.folder, "log")
        self.attached("timeout", "-s", "INT", "0.2", "strace", "-f", "-o", log, "-p")
        self.assertGreater(os.path.getsize(log), 0)


def children_of(pid):
    """The pids of its children, in the order in which they were made."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


class TwoAgents(Case):
    def host(self, name):
        return [PYTHON, os.path.join(HOSTS, name), os.path.join(self.folder, "work")]

    def nested(self, *command):
        """`lightmeter run` of `lightmeter run`: the inner one measures, the outer one its launcher."""
        trace = os.path.join(self.folder, "inner.lmt")
        return LIGHTMETER, "run", "-q", "-o", trace, "--", *command

    def test_around_another(self):
        lightmeter_run.need_plain_launcher(self)
        command = self.host("runtime.py")
        self.fresh()
        alone = lightmeter_run.bare(*command)
        self.fresh()
        result, report, _ = lightmeter_run.measured(*self.nested(*command), timeout=WAIT_S)
        self.assertEqual(self.result(result), self.result(alone))
        self.sound(report)
        inner = lightmeter_run.bare(LIGHTMETER, "report", "--format", "json",
                                    os.path.join(self.folder, "inner.lmt"))
        self.assertIn(b'"load"', inner.stdout)

    def test_crash_under_both(self):
        lightmeter_run.need_plain_launcher(self)
        result, _, _ = lightmeter_run.measured(*self.nested(HARM, "segv"))
        alone = lightmeter_run.bare(HARM, "segv")
        self.assertEqual(self.result(result), self.result(alone))

    def test_named_twice(self):
        """The same library twice is one for the loader."""
        lightmeter_run.need_plain_launcher(self)
        environment = {**os.environ, "LD_PRELOAD": f"{AGENT} {AGENT}"}
        report = self.same(*self.host("runtime.py"), status=1, env=environment)
        self.assertIn("load", lightmeter_run.stages(report))

    def test_a_copy(self):
        """A copy is a second library: two agents in one process, each around the other's calls."""
        lightmeter_run.need_plain_launcher(self)
        copy = os.path.join(self.folder, "second.so")
        shutil.copy(AGENT, copy)
        environment = {**os.environ, "LD_PRELOAD": copy}
        report = self.same(*self.host("runtime.py"), status=1, env=environment)
        self.assertIn("load", lightmeter_run.stages(report))


class Stopped(Case):
    """SIGSTOP and SIGCONT, to the program and to the launcher."""

    def stopped(self, whom):
        trace = os.path.join(self.folder, "run.lmt")
        report = os.path.join(self.folder, "report.json")
        command = [LIGHTMETER, "run", "-q", "-o", trace, "--json", report, "--", PYTHON, "-c", SLOW]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as run:
            self.assertEqual(run.stdout.readline(), b"ready\n")
            host = children_of(run.pid)[-1]
            pids = {"program": [host], "launcher": [run.pid], "both": [host, run.pid]}[whom]
            for _ in range(3):
                for pid in pids:
                    os.kill(pid, signal.SIGSTOP)
                    wait_for(lambda pid=pid: state_of(pid) == "T")
                time.sleep(0.1)
                # The launcher neither ends nor takes a stopped child for an ended one.
                self.assertIsNone(run.poll())
                for pid in pids:
                    os.kill(pid, signal.SIGCONT)
                    wait_for(lambda pid=pid: state_of(pid) != "T")
            out, errors = run.communicate(b"go\n", timeout=WAIT_S)
        self.assertEqual((run.returncode, out, errors), (6, b"done 1\n", b""))
        checked = lightmeter_run.bare(LIGHTMETER, "dump", "--check", trace)
        self.assertEqual(checked.returncode, 0, checked.stdout)
        shown = lightmeter_run.bare(LIGHTMETER, "report", "--format", "json", trace)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        return lightmeter_run.json.loads(shown.stdout)

    def test_program(self):
        self.sound(self.stopped("program"))

    def test_launcher(self):
        self.sound(self.stopped("launcher"))

    def test_both(self):
        self.sound(self.stopped("both"))


class Clocks(Case):
    """Clocks that jump do so in a library of the test's own or in a namespace; the machine's stay."""

    def program(self):
        return (PYTHON, os.path.join(HOSTS, "runtime.py"), os.path.join(self.folder, "work"))

    def jumping(self, jumps_all):
        return self.compiled("clock.so", JUMPING_CLOCK, "-shared", "-fPIC", f"-DJUMPS_ALL={jumps_all}")

    def test_jumps_of_the_date(self):
        """For the program, its children and the launcher alike."""
        lightmeter_run.need_plain_launcher(self)
        self.same(*self.program(), status=1, env={**os.environ, "LD_PRELOAD": self.jumping(0)})

    def test_jumps_of_all_clocks_of_the_program(self):
        inner = 'LD_PRELOAD="$LD_PRELOAD $0" exec "$@"'
        clock = self.jumping(1)
        command = (PYTHON, "-c", "import os; print(len(os.listdir('/proc/self/fd')) > 2);"
                                 "open('/dev/zero', 'rb').read(5)")
        self.same("sh", "-c", inner, clock, *command, status=0)

    @needs("unshare", "util-linux")
    def test_another_time_namespace(self):
        unshare = ("unshare", "--time", "--fork", "--monotonic", "1000000", "--boottime", "1000000")
        tried = subprocess.run([*unshare, "true"], capture_output=True, check=False)
        if tried.returncode:
            self.skipTest(f"no time namespace here: {tried.stderr.decode()[:200]}")
        self.same(*unshare, *self.program(), status=1)


if __name__ == "__main__":
    unittest.main()
