# SPDX-License-Identifier: Apache-2.0
"""kill -9 of the program, of Lightmeter, and of both, at random moments: no record is lost but the one
that was being written, nothing hangs, nothing is left behind.

hosts/counting.c counts in threads and forked children, and says in a file of its own which number is
done. What is left of the run, by `recover` where Lightmeter was killed, must hold every number that was
done and at most the one after it.

    test_kill.py COUNTING                          a few repeats, as one test
    test_kill.py COUNTING REPEATS [SEED] [KEEP]    one after the other; KEEP: folder for what failed
"""
import contextlib
import glob
import json
import mmap
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import lightmeter_run

COUNTING = sys.argv.pop(1)
SHORT = 12
LIMIT_S = 60  # an upper bound, never a measure
SLOTS, TIMES, NUMBERS_PER_TIME, HEAD_BYTES = 16, 16384, 64, 64
SLOT_BYTES = 8 * (1 + TIMES)
PLACES = ("/dev/shm", os.environ.get("XDG_RUNTIME_DIR") or "/dev/shm", "/tmp")
ORDERS = ("host", "launcher", "both", "launcher, then host", "launcher, host ends")
OPTIONS = ((), ("--keep-last", "1s"), ("--keep-last", "1s"), ("--max-bytes", "96K"))


class Failure(Exception):
    """What a repeat found wrong."""


def wait_for(condition, what):
    end = time.monotonic() + LIMIT_S
    while not condition():
        if time.monotonic() > end:
            raise Failure(f"hang: {what}")
        time.sleep(0.001)


def state_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


def has_ended(pid):
    """Also when nobody has fetched its status yet (an orphan in a container)."""
    return state_of(pid) in "ZX"


def processes_of(folder):
    """Those whose command line names the folder."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if any(word.startswith(folder.encode() + b"/") for word in words) and not has_ended(int(name)):
            found.append(int(name))
    return found


class Progress:
    """The file in which the program says how far it came."""

    def __init__(self, path):
        self.path = path
        with open(path, "wb") as file:
            file.truncate(HEAD_BYTES + SLOTS * SLOT_BYTES)
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 0)

    def close(self):
        self.map.close()

    def stop(self):
        self.map[0:8] = struct.pack("<Q", 1)

    def main_pid(self):
        return struct.unpack_from("<Q", self.map, 8)[0]

    def done(self, slot):
        return struct.unpack_from("<Q", self.map, HEAD_BYTES + slot * SLOT_BYTES)[0]

    def any_done(self):
        return any(self.done(slot) for slot in range(SLOTS))

    def first_since(self, slot, mono_ns):
        """A number of the slot that was begun at that moment or later; None: there is none known."""
        done = self.done(slot)
        count = min(done // NUMBERS_PER_TIME + 1, TIMES)
        times = struct.unpack_from(f"<{count}Q", self.map, HEAD_BYTES + slot * SLOT_BYTES + 8)
        return next((k * NUMBERS_PER_TIME for k, at in enumerate(times) if k and at >= mono_ns), None)


class Trace:
    """What the trace says: per slot the numbers of its items and of its spans, and what was summed up."""
    ITEM = re.compile(rb"^  ITEM end id (\d+) at (-?[\d.]+)$", re.M)
    SPAN = re.compile(rb"^  ATTR depth 0 bytes (\d+)$", re.M)
    MANY = re.compile(rb"^  ITEM many id (\d+)", re.M)
    DROP = re.compile(rb"^  DROP|dropped records [1-9]|dropped threads [1-9]", re.M)

    def __init__(self, path):
        dump = subprocess.run([lightmeter_run.LIGHTMETER, "dump", path], stdin=subprocess.DEVNULL,
                              capture_output=True, check=False, timeout=LIMIT_S)
        if dump.returncode:
            raise Failure(f"dump: {dump.stderr.decode()}")
        self.items, self.spans = {}, {}
        for found, into in ((self.ITEM, self.items), (self.SPAN, self.spans)):
            for match in found.finditer(dump.stdout):
                number = int(match[1])
                into.setdefault((number >> 32) - 1, []).append(number & 0xffffffff)
        self.many = sum(int(match[1]) for match in self.MANY.finditer(dump.stdout))
        self.has_drops = self.DROP.search(dump.stdout) is not None
        self.kept_from_ns, self.start_mono_ns = 0, 0
        for line in re.findall(rb"^block \d+ at byte \d+: META.*\n  (.*)$", dump.stdout, re.M):
            self.read_meta(line.decode())

    def read_meta(self, text):
        kept = re.search(r'kept_from_ns\W+(\d+)', text)
        start = re.search(r'start_mono_ns\W+(\d+)', text)
        self.kept_from_ns = int(kept[1]) if kept else self.kept_from_ns
        self.start_mono_ns = int(start[1]) if start and not self.start_mono_ns else self.start_mono_ns


class Repeat:
    """One run that is killed. All that is left to chance comes from the seed."""

    def __init__(self, seed, folder):
        self.chance = random.Random(seed)
        self.folder = folder
        self.trace = os.path.join(folder, "run.lmt")
        self.progress = Progress(os.path.join(folder, "progress"))
        self.order = self.chance.choice(ORDERS)
        self.options = self.chance.choice(OPTIONS)
        self.threads, self.children = self.chance.choice(((1, 0), (3, 0), (2, 2), (1, 3)))
        self.is_ring = "--keep-last" in self.options
        # At once, within the first segments, or after several; a ring needs its time.
        longest_s = self.chance.choice((0.02, 0.2, 4.0 if self.is_ring else 0.7))
        self.delay_s = self.chance.uniform(0, longest_s)
        self.at_once = self.chance.choice((50, 100) if longest_s == 4.0 else (5, 20, 20, 100))
        # In place of a moment: while the kept part of the trace is being written anew.
        self.at_rewrite = longest_s == 4.0 and self.chance.random() < 0.8
        self.notes = []

    def describe(self):
        when = "at a rewrite" if self.at_rewrite else f"after {self.delay_s:.4f} s"
        return (f"{self.order} {when}, {' '.join(self.options) or 'no options'}, "
                f"{self.threads} threads, {self.children} children, {self.at_once} at once")

    def start(self):
        self.stderr = open(os.path.join(self.folder, "stderr"), "wb")
        self.launcher = subprocess.Popen(
            [lightmeter_run.LIGHTMETER, "run", "--quiet", "-o", self.trace, *self.options, "--", COUNTING,
             self.progress.path, str(self.threads), str(self.children),
             str(self.at_once)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.stderr)

    def hosts(self):
        """The program's processes, also the one that is still to become it."""
        return [pid for pid in processes_of(self.folder) if pid != self.launcher.pid]

    def wait_for_the_moment(self):
        end = time.monotonic() + (6 if self.at_rewrite else self.delay_s)
        if self.order == "host" and not self.at_rewrite:
            wait_for(lambda: self.progress.any_done() or self.launcher.poll() is not None, "the start")
        while time.monotonic() < end:
            if self.at_rewrite and glob.glob(self.trace + ".part-*.new"):
                self.notes.append("hit a rewrite")
                return
            if not self.at_rewrite:
                time.sleep(min(0.02, max(0, end - time.monotonic())))

    @staticmethod
    def send(pid, number):
        with contextlib.suppress(ProcessLookupError):
            if pid:
                os.kill(pid, number)

    def kill_hosts(self):
        """Children first, so that the end of the first one finds all of them ended."""
        for _ in range(100):
            pids = self.hosts()
            if not pids:
                return
            first = self.progress.main_pid()
            if first in pids:  # stopped, it starts no further ones meanwhile
                self.send(first, signal.SIGSTOP)
                wait_for(lambda pid=first: state_of(pid) in "TZX", "the program does not stop")
                pids = [pid for pid in self.hosts() if pid != first]
            for pid in pids:
                self.send(pid, signal.SIGKILL)
            wait_for(lambda pids=pids: all(map(has_ended, pids)), "the children do not end")
            self.send(first, signal.SIGKILL)
            time.sleep(0.001)
        raise Failure("hang: the program cannot be killed")

    def kill_launcher(self):
        self.launcher.kill()
        self.launcher.wait(LIMIT_S)

    def kill(self):
        if self.order == "host":
            self.kill_hosts()
        elif self.order == "both":
            first, second = self.chance.sample((self.kill_hosts, self.kill_launcher), 2)
            first()
            second()
            self.kill_hosts()  # one that was just being started
        else:
            self.kill_launcher()
            if self.chance.random() < 0.2:
                self.recover(is_early=True)
            time.sleep(self.chance.uniform(0, 0.3))
            if self.order == "launcher, host ends":
                self.progress.stop()
            else:
                self.kill_hosts()
        try:
            self.launcher.wait(LIMIT_S)
        except subprocess.TimeoutExpired as error:
            raise Failure("hang: the launcher does not end") from error
        wait_for(lambda: not self.hosts(), "the program does not end")

    def run_folders(self):
        return [path for place in set(PLACES)
                for path in glob.glob(f"{place}/lightmeter-{self.launcher.pid}-*")]

    def recover(self, is_early=False):
        for path in self.run_folders():
            command = [lightmeter_run.LIGHTMETER, "recover", path]
            if self.chance.random() < 0.2:  # it too may be killed
                killed = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(self.chance.uniform(0, 0.03))
                killed.kill()
                killed.wait(LIMIT_S)
                if not os.path.isdir(path):
                    continue
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                                  timeout=LIMIT_S)
            if is_early and b"being packed by another" in done.stderr:
                return  # by the launcher's child that is to become the program
            if done.returncode:
                raise Failure(f"recover{' early' if is_early else ''}: {done.stderr.decode().strip()}")
            self.notes.append(done.stdout.decode().strip())

    def check_left(self):
        wait_for(lambda: not processes_of(self.folder), f"processes: {processes_of(self.folder)}")
        left = self.run_folders() + [name for name in sorted(os.listdir(self.folder))
                                     if name not in ("progress", "stderr", "run.lmt")]
        if left:
            raise Failure(f"left behind: {left}")

    def check_trace(self):
        if not os.path.exists(self.trace):
            if self.progress.any_done():
                raise Failure("there is no trace")
            return
        check = subprocess.run([lightmeter_run.LIGHTMETER, "dump", "--check", self.trace],
                               capture_output=True, check=False, timeout=LIMIT_S)
        if check.returncode:
            raise Failure(f"dump --check: {check.stdout.decode().strip()}")
        trace = Trace(self.trace)
        if trace.has_drops:
            raise Failure("records were dropped")
        for slot in range(self.threads + self.children):
            for what in ("items", "spans"):
                self.check_numbers(trace, slot, what)
        total = sum(self.progress.done(slot) for slot in range(SLOTS))
        told = trace.many + sum(len(numbers) for numbers in trace.items.values())
        if told > total + self.threads + self.children:
            raise Failure(f"{told} items in the trace of {total}")

    def check_numbers(self, trace, slot, what):
        done = self.progress.done(slot)
        numbers = sorted(getattr(trace, what).get(slot, []))
        first = 1
        if self.is_ring and trace.kept_from_ns:
            if not trace.start_mono_ns:
                raise Failure("META has no start")
            first = self.progress.first_since(slot, trace.start_mono_ns + trace.kept_from_ns)
            if first is None:
                first = done + 1
            numbers = [number for number in numbers if number >= first]
        if numbers != list(range(first, first + len(numbers))):
            gap = next((n for i, n in enumerate(numbers) if n != first + i), None)
            raise Failure(f"slot {slot}, {what}: from {first} on, {gap} is not in its place; {done} are done")
        last = first + len(numbers) - 1
        is_summed = "--max-bytes" in self.options
        if last > done + 1 or (last < done and not is_summed):
            raise Failure(f"slot {slot}, {what}: {first} to {last} in the trace, {done} are done")

    def clear(self):
        for pid in processes_of(self.folder):
            self.send(pid, signal.SIGKILL)
        self.launcher.wait(LIMIT_S)

    def run(self):
        self.start()
        try:
            self.wait_for_the_moment()
            self.kill()
            self.recover()
            self.check_left()
            self.check_trace()
        finally:
            self.clear()
            self.stderr.close()
            self.progress.close()


def repeat(seed, keep=None):
    """What went wrong, or None, and a description."""
    folder = tempfile.mkdtemp(prefix="lightmeter-kill-")
    one = Repeat(seed, folder)
    trouble = None
    try:
        one.run()
    except (Failure, subprocess.SubprocessError) as error:
        trouble = str(error)
        if keep:
            place = os.path.join(keep, f"seed-{seed}")
            shutil.copytree(folder, place, dirs_exist_ok=True)
            for path in one.run_folders():
                shutil.move(path, place)
            with open(os.path.join(place, "why.json"), "w", encoding="utf-8") as file:
                json.dump({"seed": seed, "plan": one.describe(), "why": trouble, "notes": one.notes}, file,
                          indent=2)
    for path in one.run_folders():
        shutil.rmtree(path, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    return trouble, f"{one.describe()}{'; hit a rewrite' if 'hit a rewrite' in one.notes else ''}"


class Kill(unittest.TestCase):
    def test_a_few(self):
        first = random.randrange(1 << 32)
        for seed in range(first, first + SHORT):
            trouble, plan = repeat(seed)
            self.assertIsNone(trouble, f"seed {seed}: {plan}")


def main(repeats, first, keep):
    failed, started, hits = 0, time.monotonic(), 0
    os.makedirs(keep, exist_ok=True)
    for seed in range(first, first + repeats):
        trouble, plan = repeat(seed, keep)
        hits += plan.endswith("rewrite")
        if trouble:
            failed += 1
            print(f"FAILED seed {seed}: {plan}: {trouble}", flush=True)
        if (seed - first + 1) % 50 == 0:
            print(f"{seed - first + 1} of {repeats} repeats, {failed} failed, "
                  f"{time.monotonic() - started:.0f} s", flush=True)
    print(f"{repeats} repeats ({hits} at a rewrite), {failed} failed, {time.monotonic() - started:.0f} s"
          + (f"; what they left is in {keep}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1].isdigit():
        sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32),
                      sys.argv[3] if len(sys.argv) > 3 else tempfile.gettempdir() + "/lightmeter-kills"))
    unittest.main()
