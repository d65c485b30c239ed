#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Decodes exported traces with decoders of its own and compares them with the model they came from.

usage: decode.py WRITE_SAMPLES [SEED ...]. WRITE_SAMPLES is the test program that writes the samples. Every
span has to come back with its process, thread, name, stage, start and end to the nanosecond, nested as it
was; items' flows have to be the same in both formats. Exit status 1 when anything differs.
"""
import collections
import json
import os
import struct
import subprocess
import sys
import tempfile
from decimal import Decimal

Slice = collections.namedtuple("Slice", "pid tid name stage start end parent lane args")


class Difference(Exception):
    """What came back is not what went out."""


def expect(condition, text):
    if not condition:
        raise Difference(text)


# ---- Protocol buffers. ---------------------------------------------------------------------------

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, value) of each field; bytes stay bytes, fixed64 stays 8 bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = data[at:at + 8], at + 8
        else:
            expect(wire == 2, f"wire type {wire}")
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
            expect(len(value) == length, "a field is cut")
        yield number, value


def message(data):
    """{number: [values]}."""
    found = collections.defaultdict(list)
    for number, value in fields(data):
        found[number].append(value)
    return found


def one(found, number, default=None):
    expect(len(found[number]) <= 1, f"field {number} is there {len(found[number])} times")
    return found[number][0] if found[number] else default


def text(found, number):
    value = one(found, number)
    return None if value is None else value.decode("utf-8")


class Perfetto:
    """The slices, flows and counters of a Perfetto trace."""

    def __init__(self, data):
        self.names, self.stages, self.keys = {}, {}, {}
        self.tracks, self.events = {}, []
        for number, packet in fields(data):
            expect(number == 1, f"field {number} of the trace")
            self.packet(message(packet))
        self.slices, self.flows, self.counters = [], collections.defaultdict(list), {}
        self.play()

    def packet(self, packet):
        expect(one(packet, 10) == 1, "sequence id")
        if not self.tracks and not self.names:
            expect(one(packet, 13) == 1, "the first packet clears the state")
        else:
            expect(one(packet, 13) == 2, "later packets need the state")
        if packet[12]:
            interned = message(one(packet, 12))
            for field, table in ((1, self.stages), (2, self.names), (3, self.keys)):
                for entry in map(message, interned[field]):
                    table[one(entry, 1)] = text(entry, 2)
        if packet[60]:
            track = message(one(packet, 60))
            expect(one(track, 1) not in self.tracks, "a track is described twice")
            self.tracks[one(track, 1)] = track
        if packet[11]:
            event = message(one(packet, 11))
            expect(one(event, 11) in self.tracks, "an event before its track")
            self.events.append((one(packet, 8), event))

    def owner(self, uuid):
        """(pid, tid, is the thread's own track?) of a track."""
        track = self.tracks[uuid]
        if track[4]:
            thread = message(one(track, 4))
            return one(thread, 1), one(thread, 2), True
        return self.owner(one(track, 5))[:2] + (False,)

    def notes(self, event):
        found = {}
        for note in map(message, event[4]):
            found[self.keys[one(note, 1)]] = one(note, 3) if note[3] else text(note, 6)
        return found

    def play(self):
        stacks = collections.defaultdict(list)
        for at, event in sorted(self.events, key=lambda e: e[0]):  # stable, as trace_processor sorts
            uuid, kind = one(event, 11), one(event, 9)
            if kind == 1:
                self.begin(stacks[uuid], uuid, at, event)
            elif kind == 2:
                expect(stacks[uuid], "an end without a beginning")
                opened = stacks[uuid].pop()
                self.slices.append(opened._replace(end=at))
            else:
                expect(kind == 4, f"event type {kind}")
                value = struct.unpack("<d", one(event, 44))[0] if event[44] else one(event, 30)
                self.counters.setdefault((text(self.tracks[uuid], 2), one(self.tracks[uuid], 5)), []).append((at, value))
        expect(not any(stacks.values()), "a beginning without an end")

    def begin(self, stack, uuid, at, event):
        pid, tid, is_own = self.owner(uuid)
        parent = stack[-1] if stack else None
        opened = Slice(pid, tid, self.names[one(event, 10)], self.stages[one(event, 3)], at, None,
                       parent and (parent.name, parent.start), 0 if is_own else uuid, self.notes(event))
        for field in (47, 48):
            for flow in event[field]:
                self.flows[struct.unpack("<Q", flow)[0]].append((at, pid, tid, opened.name, field == 48))
        stack.append(opened)


# ---- Chrome JSON. --------------------------------------------------------------------------------

def ns(value):
    """Nanoseconds of microseconds that must have three decimals at the most."""
    scaled = value * 1000
    expect(scaled == int(scaled), f"{value} is not in nanoseconds")
    return int(scaled)


class Chrome:
    """The slices, flows and counters of a Chrome trace."""

    def __init__(self, data):
        events = json.loads(data.decode("utf-8"), parse_float=Decimal)["traceEvents"]
        self.slices, self.flows, self.counters = [], collections.defaultdict(list), collections.defaultdict(list)
        self.complete([e for e in events if e["ph"] == "X"])
        self.pairs([e for e in events if e["ph"] in "be"])
        for event in events:
            if event["ph"] in "stf":
                self.flows[event["id"]].append((ns(event["ts"]), event["pid"], event["tid"], event["ph"]))
            elif event["ph"] == "C":
                self.counters[event["name"]].append((ns(event["ts"]), event["args"]["value"]))
            else:
                expect(event["ph"] in "XbeM", f"phase {event['ph']}")

    def complete(self, events):
        stacks = collections.defaultdict(list)
        for event in sorted(events, key=lambda e: ns(e["ts"])):  # stable: the outer comes first
            start, end = ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])
            stack = stacks[event["pid"], event["tid"]]
            while stack and (stack[-1].end < start or stack[-1].end == start < end):
                stack.pop()
            if stack:
                expect(end <= stack[-1].end, f"X events overlap: {event['name']} and {stack[-1].name}")
            made = Slice(event["pid"], event["tid"], event["name"], event["cat"], start, end, None, 0,
                         event.get("args", {}))
            stack.append(made)
            self.slices.append(made)

    def pairs(self, events):
        begun = {}
        for event in events:
            if event["ph"] == "b":
                expect(event["id"] not in begun, "an id is used twice")
                begun[event["id"]] = event
            else:
                first = begun[event["id"]]
                expect((first["name"], first["pid"], first["tid"]) == (event["name"], event["pid"], event["tid"]),
                       "a pair that does not match")
                self.slices.append(Slice(first["pid"], first["tid"], first["name"], first["cat"], ns(first["ts"]),
                                         ns(event["ts"]), None, 1, first.get("args", {})))


# ---- Comparing. ----------------------------------------------------------------------------------

def keys_of(slices):
    return collections.Counter((s.pid, s.tid, s.name, s.stage, s.start, s.end) for s in slices)


def compare_slices(name, slices, spans, base):
    wanted = collections.Counter((s["pid"], s["tid"], s["name"], s["stage"], s["start_ns"] - base, s["end_ns"] - base)
                                 for s in spans)
    found = keys_of(slices)
    expect(found == wanted, f"{name}: missing {wanted - found}, too many {found - wanted}")
    for s in slices:
        expect(not s.lane or "calls" in s.args, f"{name}: {s.name} is no fold and lies beside its thread")
    folds = collections.Counter((s["name"], s["calls"]) for s in spans if s["is_fold"])
    expect(collections.Counter((s.name, s.args["calls"]) for s in slices if "calls" in s.args) == folds,
           f"{name}: calls of folds")
    own = collections.Counter((s["name"], s["self_ns"]) for s in spans)
    expect(collections.Counter((s.name, s.args.get("self_ns", s.end - s.start)) for s in slices) == own,
           f"{name}: own times")


def compare_nesting(slices, spans, base):
    """Parents on a thread's own track are those of the model; beside it nothing nests."""
    by_thread = {(s["pid"], s["tid"], s["index"]): s for s in spans}
    wanted = collections.Counter()
    for s in spans:
        parent = by_thread.get((s["pid"], s["tid"], s["parent"]))
        wanted[s["pid"], s["tid"], s["name"], s["start_ns"] - base, s["end_ns"] - base,
               parent and (parent["name"], parent["start_ns"] - base)] += 1
    for s in slices:
        if s.lane:
            expect(s.parent is None, f"{s.name} nests beside its thread")
            continue
        key = (s.pid, s.tid, s.name, s.start, s.end, s.parent)
        expect(wanted[key] > 0, f"{s.name} at {s.start} lies in {s.parent}")
        wanted[key] -= 1


def compare_flows(perfetto, chrome):
    """The same items, spans in the same order; the last one ends the flow."""
    ours = sorted([step[:3] for step in steps] for steps in perfetto.flows.values() if len(steps) > 1)
    theirs = sorted([step[:3] for step in steps] for steps in chrome.flows.values())
    expect(ours == theirs, f"flows differ: {ours} and {theirs}")
    for steps in perfetto.flows.values():
        expect([s[4] for s in steps] == [False] * (len(steps) - 1) + [True], "the last step ends a flow")
    for steps in chrome.flows.values():
        expect("".join(s[3] for s in steps) == "s" + "t" * (len(steps) - 2) + "f", "phases of a flow")


def compare_counters(perfetto, chrome):
    ours = sorted([(at, round(float(v if v < 1 << 63 else v - (1 << 64)), 6)) for at, v in values]
                  for values in perfetto.counters.values())
    theirs = sorted([(at, round(float(v), 6)) for at, v in values] for values in chrome.counters.values())
    expect(ours == theirs, f"counters differ: {ours} and {theirs}")


def compare(folder):
    with open(os.path.join(folder, "spans.jsonl"), encoding="utf-8") as file:
        spans = [json.loads(line) for line in file]
    with open(os.path.join(folder, "perfetto"), "rb") as file:
        perfetto = Perfetto(file.read())
    with open(os.path.join(folder, "chrome"), "rb") as file:
        chrome = Chrome(file.read())
    base = min([0] + [s["start_ns"] for s in spans])
    compare_slices("perfetto", perfetto.slices, spans, base)
    compare_slices("chrome", chrome.slices, spans, base)
    compare_nesting(perfetto.slices, spans, base)
    compare_flows(perfetto, chrome)
    compare_counters(perfetto, chrome)
    return perfetto, chrome, len(spans)


def check_sample(perfetto):
    """What the sample is known to hold."""
    lanes = {s.name for s in perfetto.slices if s.lane}
    expect(lanes == {"read", "malloc"}, f"beside the thread lie {lanes}")
    steps = {tuple(name for _, _, _, name, _ in steps) for steps in perfetto.flows.values()}
    expect(("photo", "batch") in steps, f"an item's way through a batch: {steps}")
    counters = {name for name, _ in perfetto.counters}
    expect({'queue "q"', "faces", "CPU use", "resident memory", "runnable threads"} <= counters, f"{counters}")
    image = next(s for s in perfetto.slices if s.name == "cv::imread" and "scale" in s.args)
    expect(image.args["scale"] == "1/2" and image.args["bytes"] == 1234567890123
           and image.args["waited_for"] == "io" and image.args["off_cpu_ns"] == 2000000, f"{image.args}")


def main():
    total = 0
    for seed in ["sample"] + sys.argv[2:]:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.argv[1], folder, seed], check=True)
            try:
                perfetto, _, count = compare(folder)
                if seed == "sample":
                    check_sample(perfetto)
            except Difference as difference:
                print(f"decode: {seed}: {difference}")
                return 1
            total += count
    print(f"decode: {total} spans of {len(sys.argv) - 1} models came back through both formats")
    return 0 if total else 1


if __name__ == "__main__":
    sys.exit(main())
