# SPDX-License-Identifier: Apache-2.0
"""Each cause of a cost is told truly: hosts/planted_causes.c waits for a peer on the network, for pages of
a cold mapped file, for a kernel on an accelerator, and for its quota of the CPU, and touches fresh
memory. What it measures of itself is what the report says, within 2 % or 50 us a call, under the right
cause. (Waits for CPython's global lock: test_gil.py; sleeps, mutexes, reads: test_truth.py.)

The host has two clocks at each mark, one on each side, so that what another program takes between them
is no error.

    test_truth_causes.py PLANTED_CAUSES
"""
import contextlib
import json
import os
import socket
import sys
import tempfile
import threading
import time
import unittest

import lightmeter_run

HOST = sys.argv.pop(1)
CANNOT = 77
CAUSES = ("io_s", "net_s", "lock_s", "gil_s", "accel_s", "sleep_s", "other_s")
PARTS = ("wall_s", "cpu_s", "runq_s", *CAUSES)
ROUNDS, ANSWER_S = 8, 0.004
COLD_BYTES = 2 << 20
QUOTA_US, PERIOD_US, SPIN_MS = 10000, 100000, 1500


def add(stage, functions):
    return {part: stage[part] + sum(row["self_s" if part == "wall_s" else part] for row in functions)
            for part in PARTS}


def blocked(said):
    return sum(said[cause] for cause in CAUSES)


@contextlib.contextmanager
def peer():
    """The port of one that answers each byte after a while, outside of what is measured."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        def answer():
            connection, _ = server.accept()
            with connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                while connection.recv(1):
                    time.sleep(ANSWER_S)
                    connection.sendall(b"a")
        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        thread.join(10)


class Quota:
    """A control group of our own with a CPU quota, of version 1 or 2."""

    def __init__(self):
        name = f"lightmeter-test-{os.getpid()}"
        places = [("/sys/fs/cgroup/cpu", False), ("/sys/fs/cgroup/cpu,cpuacct", False), ("/sys/fs/cgroup", True)]
        self.path = None
        for place, is_unified in places:
            path = os.path.join(place, name)
            try:
                os.mkdir(path)
            except OSError:
                continue
            try:
                if is_unified:
                    self.write(path, "cpu.max", f"{QUOTA_US} {PERIOD_US}")
                else:
                    self.write(path, "cpu.cfs_period_us", PERIOD_US)
                    self.write(path, "cpu.cfs_quota_us", QUOTA_US)
                self.path = path
                return
            except OSError:
                os.rmdir(path)

    @staticmethod
    def write(path, name, value):
        with open(os.path.join(path, name), "r+", encoding="ascii") as file:
            file.write(str(value))

    def enter(self):
        self.write(self.path, "cgroup.procs", os.getpid())

    def throttled_periods(self):
        with open(os.path.join(self.path, "cpu.stat"), encoding="ascii") as file:
            return int(dict(line.split() for line in file)["nr_throttled"])

    def close(self):
        for _ in range(100):  # until the kernel has let go of those that ended
            try:
                return os.rmdir(self.path)
            except OSError:
                time.sleep(0.05)


class TruthCauses(unittest.TestCase):
    def measured(self, *words, **settings):
        result, report, _ = lightmeter_run.measured(HOST, *words, **settings)
        if result.returncode == CANNOT:
            self.skipTest("there is no OpenCL device here")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertLessEqual(report["reconciliation"]["residual_ratio"], 0.005)
        return json.loads(result.stdout), report

    def between(self, said_s, bounds_ns, calls, what):
        least, most = (ns / 1e9 for ns in bounds_ns)
        self.assertGreaterEqual(said_s, least - max(0.02 * least, 50e-6 * calls), what)
        self.assertLessEqual(said_s, most + max(0.02 * most, 50e-6 * calls), what)

    def check(self, true, said, name):
        calls = true["calls"]
        self.between(said["wall_s"], true["wall_ns"], calls, f"{name}: wall")
        self.between(said["cpu_s"], true["cpu_ns"], calls, f"{name}: CPU")
        off_ns = [wall - cpu for wall, cpu in zip(true["wall_ns"], true["cpu_ns"])]
        self.between(said["runq_s"] + blocked(said), off_ns, calls, f"{name}: off the CPU")

    def check_cause(self, said, cause, least_s):
        self.assertGreaterEqual(said[cause], 0.98 * blocked(said), said)
        self.assertGreaterEqual(said[cause], least_s, said)

    def test_network(self):
        with peer() as port:
            true, report = self.measured("ask", port, ROUNDS)
        said = add(lightmeter_run.stages(report)["ask"],
                   [row for row in report["functions"] if row["name"] in ("send", "recv")])
        self.check(true, said, "network")
        # What the peer slept, it was waited for, but for what other work took of the processors.
        self.check_cause(said, "net_s", 0.9 * ROUNDS * ANSWER_S - said["runq_s"])

    def test_accelerator(self):
        with tempfile.TemporaryDirectory() as cache:
            true, report = self.measured("kernel", ROUNDS, env={**os.environ, "POCL_CACHE_DIR": cache})
        said = lightmeter_run.stages(report)["kernel"]
        self.check(true, said, "accelerator")
        self.check_cause(said, "accel_s", 0.0001)

    def test_pages_of_a_cold_file(self):
        # On a disk; the working folder and /tmp are what there is.
        with tempfile.NamedTemporaryFile(dir=os.getcwd()) as file:
            file.write(os.urandom(COLD_BYTES))
            file.flush()
            os.fsync(file.fileno())
            true, report = self.measured("cold", file.name)
        if true["major_faults"] < COLD_BYTES // 4096 // 2:
            self.skipTest("the pages of a file here do not leave memory")
        said = lightmeter_run.stages(report)["cold"]
        self.check(true, said, "cold pages")
        self.check_cause(said, "io_s", 0)

    def test_fresh_memory(self):
        true, report = self.measured("fresh", ROUNDS)
        said = lightmeter_run.stages(report)["fresh"]
        self.check(true, said, "fresh memory")
        self.assertGreater(true["minor_faults"], ROUNDS * (32 << 20) // 4096)
        self.between(blocked(said), [0, 0], true["calls"], "fresh memory waits for nothing")

    def test_quota(self):
        quota = Quota()
        if not quota.path:
            self.skipTest("no control group with a CPU quota can be made here")
        self.addCleanup(quota.close)
        true, report = self.measured("spin", SPIN_MS, preexec_fn=quota.enter)
        said = lightmeter_run.stages(report)["spin"]
        self.check(true, said, "quota")
        # Throttled, it could have run: that is waiting for a core, and nothing else.
        off_ns = [wall - cpu for wall, cpu in zip(true["wall_ns"], true["cpu_ns"])]
        self.between(said["runq_s"], off_ns, true["calls"], "quota: run queue")
        self.assertGreater(said["runq_s"], 0.5 * SPIN_MS / 1e3)
        if quota.throttled_periods() < 5:
            self.skipTest("too little of the processor is left here for a quota to matter")
        machine = report["machine"]
        self.assertGreater(machine["throttled_ratio"], 0.5, machine)
        self.assertGreater(machine["throttled_s"], 0)


if __name__ == "__main__":
    unittest.main()
