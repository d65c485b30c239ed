# SPDX-License-Identifier: Apache-2.0
"""Writes docs/hooks.md, every hooked call with its stage and attributes, from the tables of the hook sets.

usage: hooks_doc.py [--check PROGRAM]. `./dev docs` builds PROGRAM, which prints the tables
(tests/e2e/hosts/hook_symbols.c), and writes; the test `hooks_doc` looks whether the page is up to date.
"""
import os
import re
import subprocess
import sys

import builds
import hook_table

PAGE = os.path.join(builds.ROOT, "docs", "hooks.md")
PROGRAM = "tests/e2e/hosts/hook_symbols"
DIFFERENCES_SHOWN = 20
HEAD = """# Every call that is followed

Written by `./dev docs` from the tables in `src/agent/hooks`: change those, not this page. The page of a set says
what its calls mean, where numbers come from and what is not seen.

- **call**: the function; several forms of one name (C++) stand once, with their number. `as NAME`: what it is
  recorded as, where that is not its own name; a `*` stands for any part of it.
- **stage**: where it can have several, they depend on what the call works on (a file or a socket, say).
  `-`: not timed, only looked at.
- **attributes**: what its spans may carry. *folded*: its calls are always summed up, *short folded*: when they
  are short. *waits*: time off the processor in it is told as waiting for that. *virtual*: also caught where C++
  callers reach it through a table of the library.

Every span may also carry its page faults, the memory that was mapped anew in it, and the number of threads of the
OpenMP or TBB team that worked for it.

| set | what |
|---|---|
"""
WAITS = {"io": "I/O", "net": "the network", "lock": "a lock", "gil": "Python's interpreter lock",
         "accel": "an accelerator", "sleep": "time to pass"}


def in_order(items):
    return list(dict.fromkeys(items))


def demangle(table):
    """{symbol: the name in the source, without parameters}."""
    symbols = [call.symbol for one in table.sets for call in one.calls]
    found = subprocess.run(["c++filt", "-p"], input="\n".join(symbols), check=True,
                           capture_output=True, text=True).stdout.splitlines()
    return {symbol: re.sub(r"\[abi:\w+\]", "", name) for symbol, name in zip(symbols, found)}


def kind_of(call, text):
    """KIND of a call recorded as SYMBOL(KIND), else None."""
    head, _, tail = text.partition("(")
    return tail[:-1] if head == call.symbol and tail.endswith(")") else None


def notes_of(call):
    words = [{"bytes": "bytes", "dtype": "number type", "pts": "time stamp",
              "elapsed": "time of the whole picture",
              "resident": "pages in memory"}.get(key, key)
             for key in call.attributes]
    for folded, word in (("always", "*folded*"), ("short", "*short folded*")):
        if any(name.folded == folded for name in call.names):
            words.append(word)
    causes = in_order(WAITS[name.cause] for name in call.names if name.cause in WAITS)
    if causes:
        words.append(f"*waits* for {' or '.join(causes)}")
    kinds = in_order(filter(None, (kind_of(call, name.text) for name in call.names)))
    if kinds:
        words.append("recorded as " + ", ".join(f"`NAME({kind})`" for kind in kinds) + " where it is one")
    return words + (["*virtual*"] if call.is_virtual else [])


def shown(call, source_names):
    """The call's first column."""
    own = source_names[call.symbol]
    others = [text for text in in_order(name.text for name in call.names)
              if text != own and not kind_of(call, text)]
    return f"`{own}`" + (f" as {' or '.join(f'`{text}`' for text in others)}" if others else "")


def rows_of(one, source_names):
    """Calls with the same stages and attributes share a row, in the order of the set's table."""
    rows = {}
    for call in one.calls:
        stages = in_order(f"`{name.stage}`" for name in call.names)
        key = (", ".join(stages) or "-", ", ".join(notes_of(call)) or "-")
        forms = rows.setdefault(key, {})
        name = shown(call, source_names)
        forms[name] = forms.get(name, 0) + 1
    for (stages, notes), forms in rows.items():
        calls = ", ".join(name + (f" ({count} forms)" if count > 1 else "") for name, count in forms.items())
        yield f"| {calls} | {stages} | {notes} |"


def section(one, source_names):
    libraries = ", ".join(f"`{library}*`" for library in one.libraries) or "libc, by interposition"
    where = " Only functions that lie in one of these libraries." if one.is_broad else ""
    return [f"## {one.name}", "", f"{one.help}: see [hooks/{one.name}.md](hooks/{one.name}.md).", "",
            f"Libraries: {libraries}.{where}", "",
            "| call | stage | attributes |", "|---|---|---|", *rows_of(one, source_names), ""]


def bridges_section(table):
    yield from ("## Ranges of other interfaces", "",
                "What programs and frameworks name themselves: the stage map says which stage each is.", "",
                "| bridge | interface | what | found by |", "|---|---|---|---|")
    for bridge in table.bridges:
        yield (f"| [{bridge.name}](hooks/{bridge.name}.md) | {bridge.interface} | {bridge.help} "
               f"| `{bridge.variable}` |")


def page(table):
    source_names = demangle(table)
    lines = [f"| [{one.name}](#{one.name}) | {one.help} |" for one in table.sets] + [""]
    for one in table.sets:
        lines += section(one, source_names)
    return HEAD + "\n".join([*lines, *bridges_section(table)]) + "\n"


def check(program):
    with open(PAGE, encoding="utf-8") as file:
        is_there = file.read().splitlines()
    should_be = page(hook_table.read(program)).splitlines()
    differences = [line for line in should_be if line not in set(is_there)] or \
        [line for line in is_there if line not in set(should_be)]
    for line in differences[:DIFFERENCES_SHOWN]:
        print(f"  {line[:150]}")
    if is_there != should_be:
        print("docs/hooks.md is not what the tables of the hook sets say; run ./dev docs")
        return 1
    return 0


def write():
    status = builds.configure("plain")
    if status == 0:
        status = builds.run(["ninja", "--quiet", "-C", builds.folder_of("plain"), PROGRAM], None)
    if status != 0:
        return status
    text = page(hook_table.read(os.path.join(builds.folder_of("plain"), PROGRAM)))
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


def main(arguments):
    if not arguments:
        return write()
    if len(arguments) == 2 and arguments[0] == "--check":
        return check(arguments[1])
    print("dev: docs: unexpected: " + " ".join(arguments) + "\n     usage: ./dev docs", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
