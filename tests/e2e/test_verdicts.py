# SPDX-License-Identifier: Apache-2.0
"""Real programs get the verdict they deserve: hosts/verdicts.c has one program for each class of limit.
The class, its two signals, and the headline as a person reads it. Other programs on the machine can hide
a limit; then a run is repeated, and at last skipped with what was seen. A wrong class always fails.

    test_verdicts.py VERDICTS
"""
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

import lightmeter_run

VERDICTS = sys.argv.pop(1)
if lightmeter_run.is_sanitized():  # samples the machine less often: a longer run has as many samples
    os.environ["VERDICTS_RUN_MS"] = "3000"
TRIES = 3
CPUS = sorted(os.sched_getaffinity(0))[:4]
CALM_CORES = 0.15  # that other programs may use without being to blame
# Of the cores, busy or idle: a little less, and they are not that any more.
NEEDS_CORES = ("cpu-saturated", "oversubscribed", "cpu-single-thread")
BLOCKED_LEAST = 0.45  # of the time, for a program that files hold up
FILE_BYTES = 32 << 20
COLUMNS = 80
EXIT_UNKNOWN, EXIT_NO_FILE = 2, 3


class Run:
    """One run of a scenario: the report, and what the terminal shows."""

    def __init__(self, *arguments, prepare=None, **settings):
        def before_exec():
            os.sched_setaffinity(0, CPUS)
            if prepare:
                prepare()

        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "report.json")
            result = lightmeter_run.bare(
                lightmeter_run.LIGHTMETER, "run", "-o", os.path.join(folder, "run.lmt"), "--json",
                report, "--", VERDICTS, *arguments, preexec_fn=before_exec, **settings)
            self.status, self.output = result.returncode, result.stdout
            self.screen = result.stderr.decode()
            with contextlib.suppress(OSError), open(report, encoding="utf-8") as file:
                self.report = json.load(file)

    def others_cores(self):
        """What others had of the machine: programs beside this one, or other virtual machines."""
        machine = self.report["machine"]
        if machine["other_busy_cores"] is None:  # too few samples, as on a machine that is very busy
            return max(0.0, os.getloadavg()[0] - os.cpu_count())
        return machine["other_busy_cores"] + (machine["steal_ratio"] or 0)

    def finding(self):
        wanted = self.report["verdict"]["class"]
        return next((f for f in self.report["findings"] if f["class"] == wanted), None)

    def is_disturbed(self, wanted):
        """Whether other programs explain that the verdict is missing, or less sure than it should be."""
        said = self.report["verdict"]
        if self.others_cores() <= CALM_CORES:
            return False
        if said["class"] == "inconclusive":
            return wanted in NEEDS_CORES or "other programs had the cores" in said["headline"] or (
                self.report["machine"]["other_busy_cores"] is None)
        return said["class"] == wanted and said["confidence"] != "high"

    def told(self):
        verdict = self.report["verdict"]
        lines = [f"{verdict['class']} ({verdict['confidence']}): {verdict['headline']}"]
        lines += [f"  [{e['signal']}] {e['text']}" for e in verdict["evidence"]]
        return "\n".join(lines + [f"  other programs: {self.others_cores():.2f} cores"])


class Verdicts(unittest.TestCase):
    def expect(self, wanted, headline, *arguments, confidence="high", stage=None, blocks=False,
               start=None, prepare=None, can_hide=True):
        """Runs until the verdict is `wanted`. `start` gives what a new run needs: its settings.
        `can_hide`: other programs on the machine are an excuse."""
        seen, disturbed = [], False
        for _ in range(TRIES):
            with contextlib.ExitStack() as stack:
                settings = start(stack) if start else {}
                run = Run(*arguments, prepare=prepare, **settings)
            self.check_host(run, blocks)
            self.check_screen(run)
            verdict = run.report["verdict"]
            sure = confidence(run) if callable(confidence) else confidence
            if (verdict["class"], verdict["confidence"]) == (wanted, sure):
                self.check_verdict(run, headline, stage)
                return run
            disturbed = disturbed or can_hide and run.is_disturbed(wanted)
            seen.append(run.told())
        if disturbed:
            self.skipTest(f"other programs hid the limit in {TRIES} runs; the last: {seen[-1]}")
        self.fail(f"wanted {wanted} ({sure}) of {' '.join(arguments)}, got\n" + "\n".join(seen))

    def check_host(self, run, blocks):
        if run.status == EXIT_UNKNOWN:
            self.skipTest("the program was built without OpenMP")
        if run.status == EXIT_NO_FILE:
            self.skipTest("the file system of the working folder opens no file past its cache")
        self.assertEqual(run.status, 0, run.screen)
        if not blocks:
            return
        blocked = json.loads(run.output)["blocked_ratio"]
        if blocked < BLOCKED_LEAST:
            self.skipTest(f"files of the working folder hold a program up for only {blocked:.0%} of the "
                          "time: they are in memory, or the disk is too fast")
        if blocks == "reads" and not run.report["machine"]["storage_read_bytes"]:
            self.skipTest("the kernel counts no bytes from storage for the working folder's file system")

    def check_screen(self, run):
        lines = run.screen.splitlines()
        self.assertEqual([line for line in lines if len(line) > COLUMNS], [])
        headline = " ".join(lines[2:lines.index("")])
        self.assertEqual(headline, run.report["verdict"]["headline"])

    def check_verdict(self, run, headline, stage):
        verdict, finding = run.report["verdict"], run.finding()
        self.assertRegex(verdict["headline"], headline)
        for word in verdict["how"] + verdict["will_not_help"]:
            self.assertTrue(word.strip())
        self.assertTrue(verdict["how"] and verdict["will_not_help"] and verdict["evidence"])
        for evidence in verdict["evidence"]:
            self.assertTrue(evidence["text"].strip(), run.told())
        if stage is not None:
            self.assertEqual(verdict["stage"], stage, run.told())
        if not finding:
            return
        signals = {evidence["signal"] for evidence in verdict["evidence"]}
        self.assertEqual(finding["first_signal"], "seen", run.told())
        self.assertIn(1, signals, run.told())
        # What the second signal is said to be, its evidence shows.
        self.assertEqual(finding["second_signal"] == "seen", 2 in signals, run.told())
        self.assertEqual(finding["second_signal"] == "seen", verdict["confidence"] == "high", run.told())

    def need_cpus(self, count):
        if len(CPUS) < count:
            self.skipTest(f"needs {count} CPUs, has {len(CPUS)}")

    # ---- Contamination. ---------------------------------------------------------------------------

    def test_startup(self):
        self.expect("startup", r"^\d+ % of the run is start-up: .* before work was under way$", "startup",
                    can_hide=False)

    def test_startup_in_a_stage_of_its_own(self):
        run = self.expect("startup", "is start-up", "startup", "1", can_hide=False)
        self.assertIn("setup", " ".join(e["text"] for e in run.report["verdict"]["evidence"]))

    def test_startup_in_a_stage_that_may_be_work(self):
        run = self.expect("startup", "is start-up", "startup", "2", confidence="medium",
                          can_hide=False)
        self.assertIn("'read settings'", " ".join(e["text"] for e in run.report["verdict"]["evidence"]))

    def test_cpu_quota(self):
        group = QuotaGroup(0.3)
        self.addCleanup(group.remove)
        if group.missing:
            self.skipTest(group.missing)
        run = self.expect("cpu-quota", r"^The CPU quota of 0\.3 cores stopped the program in \d+ % of its",
                          "spin", "2", prepare=group.enter, can_hide=False)
        self.assertAlmostEqual(run.report["machine"]["quota_cores"], 0.3, places=3)

    # ---- A source that sets the rate. -------------------------------------------------------------

    def test_source_paced_by_sleeps(self):
        self.expect("source-paced", "for its source or a clock; work needs", "paced", stage="wait")

    def test_source_paced_by_a_pipe(self):
        for polls in ("0", "1"):
            with self.subTest(polls=polls):
                self.expect("source-paced", "for its source or a clock; work needs", "pipe", polls,
                            stage="receive", start=feed)

    # ---- Files. -----------------------------------------------------------------------------------

    def make_file(self):
        """In the working folder: a disk, where the folder for temporary files may be memory."""
        file = tempfile.NamedTemporaryFile(dir=os.getcwd())
        self.addCleanup(file.close)
        file.write(os.urandom(FILE_BYTES))
        file.flush()
        os.fsync(file.fileno())
        return file.name

    def test_io_latency(self):
        self.expect("io-latency", r"waits \d+ % of the time for reads, about one at a time$",
                    "small-reads", "0", self.make_file(), stage="load", blocks="reads")

    def test_io_latency_of_writes(self):
        run = self.expect("io-latency", r"waits \d+ % of the time for writes, about one at a time$",
                          "synced-writes", "0", self.make_file(), stage="save", blocks="writes")
        self.assertNotIn("reads", " ".join(e["text"] for e in run.report["verdict"]["evidence"]))

    def test_io_bandwidth(self):
        # Its second signal, the ceiling of the storage, is not measured in this version.
        run = self.expect("io-bandwidth", r"time for storage, with \d+\.\d reads in flight$",
                          "large-reads", "4", self.make_file(), stage="load", blocks="reads",
                          confidence="medium")
        self.assertEqual(run.finding()["second_signal"], "not-measured")
        self.assertIn("was not measured", " ".join(e["text"] for e in run.report["verdict"]["evidence"]))

    # ---- Cores and locks. -------------------------------------------------------------------------

    def test_cpu_single_thread(self):
        self.need_cpus(2)
        self.expect("cpu-single-thread", r"^Decoding is \d+ % of the time, on one core", "spin", "1",
                    stage="decode")

    def test_cpu_saturated(self):
        # With one thread for each core none need wait for one: then the second signal stays open.
        def sure(run):
            machine = run.report["machine"]
            is_waited_for = machine["runq_ratio"] >= 0.005 or (machine["psi_cpu_ratio"] or 0) >= 0.05
            return "high" if is_waited_for else "medium"

        self.expect("cpu-saturated", "the program may use (is|are) busy$", "spin", str(len(CPUS)),
                    stage="decode", confidence=sure)

    def test_more_workers_than_cores(self):
        self.expect("cpu-saturated", "the program may use (is|are) busy$", "spin", str(8 * len(CPUS)),
                    stage="decode")

    def test_oversubscribed(self):
        self.expect("oversubscribed", r"^\d+ threads want .*: they spend \d+ % of that time waiting",
                    "teams", str(2 * len(CPUS)), stage="infer")

    def test_lock(self):
        self.need_cpus(2)
        self.expect("lock", r"^\d threads wait \d+ % of their time for a lock, in pthread_mutex_lock$",
                    "lock", "4")

    def test_balanced(self):
        self.need_cpus(2)
        self.expect("balanced", r"^No stage stands out: \w+ is \d+ % of the time, \w+ \d+ %$", "lockstep")

    # ---- Nothing to be said. ----------------------------------------------------------------------

    def test_inconclusive_when_too_short(self):
        self.expect("inconclusive", "the run is too short to say what limits it$", "brief",
                    confidence="inconclusive", can_hide=False)

    def test_inconclusive_when_others_have_the_cores(self):
        self.need_cpus(2)
        self.expect("inconclusive", "but other programs had the cores", "spin", "1",
                    confidence="inconclusive", start=crowd, can_hide=False)


def feed(stack):
    """A program at the other end of the pipe that is standard input, started outside the measurement."""
    feeder = stack.enter_context(subprocess.Popen([VERDICTS, "feed"], stdout=subprocess.PIPE))
    return {"stdin": feeder.stdout, "input": None}


def crowd(stack):
    """Another program with many more threads on the same CPUs, for as long as the run."""
    stack.enter_context(subprocess.Popen(
        [VERDICTS, "spin", str(8 * len(CPUS))],
        preexec_fn=lambda: os.sched_setaffinity(0, CPUS)))
    return {}


class QuotaGroup:
    """A control group (v2 or v1) with a CPU quota, below or beside our own. `missing`: why there is none."""

    def __init__(self, cores):
        self.path, self.missing = None, "only root can make a control group"
        if os.geteuid() != 0:
            return
        self.missing = "no control group with a CPU quota can be made here"
        for parent in self.parents():
            path = os.path.join(parent, f"lightmeter-test-{os.getpid()}")
            with contextlib.suppress(OSError):
                os.mkdir(path)
                self.path = path
                self.limit(cores)
                self.missing = None
                return
            self.remove()

    @staticmethod
    def parents():
        """Our own groups of the hierarchies that may know quotas, and those above: most local first."""
        with open("/proc/self/cgroup", encoding="utf-8") as file:
            own = [line.rstrip("\n").split(":", 2) for line in file]
        with open("/proc/self/mountinfo", encoding="utf-8") as file:
            mounts = [line.split() for line in file]
        for _, controllers, path in own:
            for mount in mounts:
                kind, options = mount[mount.index("-") + 1], mount[-1].split(",")
                if kind != ("cgroup" if controllers else "cgroup2") or (
                        controllers and not {"cpu"} <= set(controllers.split(",")) & set(options)):
                    continue
                inside = os.path.relpath(path, mount[3]) if path.startswith(mount[3]) else "."
                group = os.path.normpath(os.path.join(mount[4], inside))
                yield group
                if group != mount[4]:
                    yield os.path.dirname(group)

    def limit(self, cores):
        v2 = os.path.join(self.path, "cpu.max")
        name, text = (v2, f"{int(cores * 1e5)} 100000") if os.path.exists(v2) else (
            os.path.join(self.path, "cpu.cfs_quota_us"), f"{int(cores * 1e5)}")
        with open(name, "r+", encoding="utf-8") as file:
            file.write(text)

    def enter(self):
        with open(os.path.join(self.path, "cgroup.procs"), "w", encoding="utf-8") as file:
            file.write(str(os.getpid()))

    def remove(self):
        deadline = time.monotonic() + 5
        while self.path and time.monotonic() < deadline:
            try:
                os.rmdir(self.path)
                self.path = None
            except OSError:  # the last process is still on its way out
                time.sleep(0.05)


if __name__ == "__main__":
    unittest.main()
