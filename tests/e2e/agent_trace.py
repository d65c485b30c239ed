# SPDX-License-Identifier: Apache-2.0
"""Runs a program with the preloaded library alone and reads the run directory it leaves.

For the tests of the hook sets: independent of the launcher, the packer and the reader, so that what
they find is what the library wrote. The layout of the records is that of src/trace/format.h. The
library's path comes in the environment (LIGHTMETER_AGENT).
"""
import collections
import fnmatch
import functools
import os
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
import hook_table  # noqa: E402

AGENT = os.environ.get("LIGHTMETER_AGENT", "build/liblightmeter-agent.so")
SYMBOLS = os.environ.get("LIGHTMETER_HOOK_SYMBOLS", "build/tests/e2e/hosts/hook_symbols")
SPAN, SPAN_LONG, SPLIT, FOLD, ATTR, ITEM, QUEUE, COUNTER, TEXT, THREAD, DROP = range(1, 12)
LENGTHS = {SPAN: 16, SPAN_LONG: 32, SPLIT: 32, FOLD: 64, ATTR: 16, ITEM: 32, QUEUE: 16, COUNTER: 32,
           THREAD: 32, DROP: 16}
BYTES, SHAPE, SCALE, SOURCE = 1, 2, 3, 6
SEGMENT_MAGIC, PROCESS_MAGIC = 0x31304745534d4c00, 0x3130434f52504d4c

TEAM = " (team)"
CAUSES = ("other", "io", "net", "lock", "gil", "accel", "sleep")

# The attributes from FILE on, by their names in enum trace_attr_key.
VALUES = dict(enumerate(("FILE", "OFFSET", "RESIDENT", "COLOUR", "FILTER", "DTYPE", "ELEMENTS", "SESSION",
                         "INPUT", "OUTPUT", "THREADS", "FAULTS", "FRESH", "ACCEL", "PTS", "CALLS_OF", "ELAPSED"),
                        start=8))

# `cause` and `off_ns`: of the time off the CPU; None and 0 where there was none, and for folded calls.
# `values`: {name in VALUES: (value, aux)}.
Span = collections.namedtuple("Span", "name stage depth calls bytes shape source scale duration end "
                              "cause off_ns values", defaults=(None, 0, {}))
Queue = collections.namedtuple("Queue", "name op depth")
# `items`: (operation, id) in the order in which each thread wrote them; `counters`: the sum by name.
Trace = collections.namedtuple("Trace", "spans queues coverage dropped items counters notes")


def cpu_hz():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        match = re.search(r"cpu MHz\s*:\s*([\d.]+)", file.read())
    return float(match.group(1)) * 1e6 if match else 0


def make_run_dir(folder, off, more=()):
    """A clock of the right kind; its rate only has to be about right for what is asked here."""
    rate = cpu_hz()
    clock = ["clock tsc", f"scale {int((1 << 24) * 1e9 / rate)} 24"] if rate else \
        ["clock mono", "scale 1 0"]
    lines = ["version 1", *clock, *(f"nohook {name}" for name in off), *more]
    with open(os.path.join(folder, "config"), "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")
    with open(os.path.join(folder, "control"), "wb") as file:
        file.write(bytes(4096))


def pair(value):
    return value & 0xffffffff, value >> 32


def read_process(path):
    """({name id: (name, stage)}, {hook set: (status, why)}, dropped records and threads, notes) of a process file."""
    with open(path, "rb") as file:
        data = file.read()
    assert struct.unpack_from("<Q", data)[0] == PROCESS_MAGIC, path
    names, coverage, notes, at = {}, {}, [], 128
    while at + 16 <= len(data) and data[at] == TEXT:
        use, number, length = struct.unpack_from("<xBHI", data, at)
        parts = data[at + 16:at + 16 + length].decode().split("\0")
        if use == 0:
            names[number] = tuple(parts)
        elif use == 1:
            coverage[parts[1]] = (parts[2], parts[3])
        elif use == 2:
            notes.append(parts[0])
        at += 16 + (length + 15) // 16 * 16
    return names, coverage, sum(struct.unpack_from("<QQ", data, 48)), notes


def read_segment(path, names, spans, queues, items, counters):
    """How many records the segment says were dropped."""
    dropped = 0
    with open(path, "rb") as file:
        data = file.read()
    assert struct.unpack_from("<Q", data)[0] == SEGMENT_MAGIC, path
    used = struct.unpack_from("<Q", data, 40)[0]
    at, attributes, splits = 64, {}, {}
    while at < 64 + used:
        kind, depth, number = struct.unpack_from("<BBH", data, at)
        if kind == ATTR:
            key, aux, value = struct.unpack_from("<xxBxIQ", data, at)
            attributes.setdefault(depth, {})[key] = (value, aux)
        elif kind == SPLIT:
            cause, off_ns = struct.unpack_from("<xxB5xQ", data, at)
            splits[depth] = (CAUSES[cause], off_ns)
        elif kind in (SPAN, SPAN_LONG):
            duration = struct.unpack_from("<I", data, at + 4)[0] if kind == SPAN else \
                struct.unpack_from("<Q", data, at + 16)[0]
            given = attributes.pop(depth, {})
            shape = given.get(SHAPE)
            spans.append(Span(*names[number], depth, 1, given.get(BYTES, (0,))[0],
                              shape and (*pair(shape[0]), shape[1] & 0xffff, shape[1] >> 16),
                              SOURCE in given and pair(given[SOURCE][0]) or None,
                              SCALE in given and pair(given[SCALE][0]) or None,
                              duration, struct.unpack_from("<Q", data, at + 8)[0],
                              *splits.pop(depth, (None, 0)),
                              {VALUES[key]: given[key] for key in given if key in VALUES}))
        elif kind == FOLD:
            calls, ticks, _, end, _, _, count = struct.unpack_from("<IQQQQQQ", data, at + 4)
            spans.append(Span(*names[number], depth, calls, count, None, None, None, ticks, end))
        elif kind == QUEUE:
            queues.append(Queue(names[number][0], depth, struct.unpack_from("<I", data, at + 4)[0]))
        elif kind == ITEM:
            items.append((depth, struct.unpack_from("<Q", data, at + 16)[0]))
        elif kind == COUNTER:
            counters[names[number][0]] += struct.unpack_from("<q", data, at + 16)[0]
        elif kind == DROP:
            dropped += struct.unpack_from("<I", data, at + 4)[0]
        if kind == TEXT:
            at += 16 + (struct.unpack_from("<I", data, at + 4)[0] + 15) // 16 * 16
        else:
            at += LENGTHS[kind]
    assert not attributes, f"attributes without their span: {attributes}"
    return dropped


def read_run_dir(folder):
    spans, queues, coverage, dropped, notes = [], [], {}, 0, []
    items, counters = [], collections.Counter()
    files = sorted(os.listdir(folder))
    processes = {tuple(name.split("-")[1:3]): name for name in files if name.startswith("p-")}
    for key, name in processes.items():
        names, seen, lost, said = read_process(os.path.join(folder, name))
        notes += said
        # The command's own: a host may start programs (ONNX Runtime does), which came up later.
        if key == min(processes, key=lambda k: int(k[1], 16)):
            coverage = seen
        dropped += lost
        segments = [file for file in files
                    if file.startswith("s-") and tuple(file.split("-")[1:3]) == key]
        for file in sorted(segments, key=lambda f: [int(n, 16) for n in f.split("-")[3:5]]):
            dropped += read_segment(os.path.join(folder, file), names, spans, queues, items, counters)
    return Trace(spans, queues, coverage, dropped, items, counters, notes)


# ---- What the tables of the hook sets say that may be recorded. ----

# Every span may have these: its page faults, what calls below it mapped, the team that worked for it.
OF_ALL = frozenset(("faults", "fresh", "threads"))


@functools.cache
def declared():
    """({(name, stage): attributes}, the same for names with a *)."""
    exact, patterns = {}, {}
    for call in (call for one in hook_table.read(SYMBOLS).sets for call in one.calls):
        for name in call.names:
            into = patterns if "*" in name.text else exact
            into.setdefault((name.text, name.stage), set()).update(call.attributes)
    return exact, patterns


@functools.cache
def allowed(name, stage):
    """The attributes that a span of that name and stage may have; None: there is no such span."""
    exact, patterns = declared()
    found = [exact[name, stage]] if (name, stage) in exact else []
    found += [attributes for (pattern, of), attributes in patterns.items()
              if of == stage and fnmatch.fnmatchcase(name, pattern)]
    return frozenset().union(*found) if found else None


def attributes_of(span):
    given = {key for key in ("bytes", "shape", "source", "scale") if getattr(span, key)}
    return given | {key.lower() for key in span.values}


def hold_to_table(trace, own):
    """Each span is as the tables say, but for those that the program names: marks, and `own` (patterns)."""
    for span in trace.spans:
        # A piece of a call on a thread of its team goes by the call's name and stage.
        is_piece = span.name.endswith(TEAM)
        name = span.name[:-len(TEAM)] if is_piece else span.name
        may_have = allowed(name, span.stage)
        is_mark = may_have is None and name == span.stage
        if is_mark or any(fnmatch.fnmatchcase(name, pattern) for pattern in own):
            continue
        if is_piece and may_have is not None:
            may_have = frozenset()
        assert may_have is not None, f"{span.name} as {span.stage} is in no table of a hook set"
        more = attributes_of(span) - may_have - OF_ALL
        assert not more, f"{span.name} has {sorted(more)}, which its line in the table lacks: {span}"


def run(command, environment):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, timeout=240,
                          capture_output=True, check=False, env={**os.environ, **environment})


def follow(*command, off=(), environment=None, config=(), drops=0, own=()):
    """Runs `command` bare and with the library, checks that nobody could tell, gives (stdout, Trace).

    `config`: more lines for the library; `drops`: records that it may say were dropped; `own`: patterns of
    the names of spans that the program gives itself.
    """
    environment = environment or {}
    bare = run(command, environment)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        os.chmod(folder, 0o700)
        make_run_dir(folder, off, config)
        seen = run(command, {**environment, "LIGHTMETER_RUN_DIR": folder, "LD_PRELOAD": AGENT})
        trace = read_run_dir(folder)
    for what in ("returncode", "stdout", "stderr"):
        assert getattr(bare, what) == getattr(seen, what), \
            f"{command}: {what} differs: {getattr(bare, what)!r} and {getattr(seen, what)!r}"
    assert bare.returncode == 0, f"{command}: {bare}"
    assert trace.dropped == drops, f"{trace.dropped} records were dropped"
    hold_to_table(trace, own)
    return bare.stdout.decode(), trace


def calls(trace, name):
    return sum(span.calls for span in trace.spans if span.name == name)


def named(trace, name):
    return [span for span in trace.spans if span.name == name]


def one(trace, name):
    """The only span of that name."""
    found = named(trace, name)
    assert len(found) == 1, f"{name}: {len(found)} spans, not 1: {found[:5]}"
    return found[0]


def expect(trace, expected):
    """`expected`: {name: (stage, calls)}; calls None: at least one."""
    for name, (stage, count) in expected.items():
        found = named(trace, name)
        assert found, f"{name} is not in the trace; there are {sorted({s.name for s in trace.spans})}"
        assert {span.stage for span in found} == {stage}, f"{name}: {found[0].stage}, not {stage}"
        assert count is None or calls(trace, name) == count, \
            f"{name}: {calls(trace, name)} calls, not {count}"
