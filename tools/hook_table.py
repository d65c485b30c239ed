# SPDX-License-Identifier: Apache-2.0
"""Reads the tables of the hook sets, as the program tests/e2e/hosts/hook_symbols prints them.

Imported by hooks_doc.py and by the tests of the hook sets.
"""
import collections
import subprocess

# `libraries`: how their file names begin; none for libc's functions. `is_broad`: hooked only in these.
Set = collections.namedtuple("Set", "name help libraries is_broad calls")
# `names`: what it is recorded as, one of them; none: not timed.
Call = collections.namedtuple("Call", "symbol is_libc attributes is_virtual names")
# `text`: a * stands for any characters. `folded`: "always", "short" or "-".
Name = collections.namedtuple("Name", "text stage cause folded")
Bridge = collections.namedtuple("Bridge", "name help interface variable")
# `slots`: (used, all) of the agent's symbol table.
Table = collections.namedtuple("Table", "sets bridges slots")


def words(text):
    return [] if text == "-" else text.split(",")


def parse(text):
    sets, bridges, slots = [], [], None
    for line in text.splitlines():
        kind, *fields = line.split("\t")
        if kind == "set":
            name, help_text, libraries, broad = fields
            sets.append(Set(name, help_text, words(libraries), broad == "broad", []))
        elif kind == "call":
            symbol, how, attributes, virtual = fields
            call = Call(symbol, how == "libc", words(attributes), virtual == "virtual", [])
            sets[-1].calls.append(call)
        elif kind == "name":
            sets[-1].calls[-1].names.append(Name(*fields))
        elif kind == "bridge":
            bridges.append(Bridge(*fields))
        elif kind == "slots":
            slots = tuple(int(field) for field in fields)
        else:
            raise ValueError(f"no line of a table of hooks: {line!r}")
    return Table(sets, bridges, slots)


def read(program):
    return parse(subprocess.run([program], check=True, capture_output=True, text=True).stdout)
