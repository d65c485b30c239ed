# SPDX-License-Identifier: Apache-2.0
"""How much of a file was in memory when it was opened: as mincore says it, or not at all.

usage: test_hooks_resident.py HOST HOST_WHOSE_KERNEL_LACKS_IT
"""
import ctypes
import os
import tempfile

import parts
from agent_trace import follow

LOOK_BYTES = 256 << 10
CACHESTAT = 451


def opened(trace):
    """What each open for reading of a file of the host's noted, in order: (pages, looked at, page) or None."""
    spans = [span for span in trace.spans
             if span.name in ("open", "fopen") and span.stage == "load" and "FILE" in span.values]
    found = []
    for span in spans:
        value, aux = span.values.get("RESIDENT", (None, None))
        found.append((span.name, None if value is None else (value & 0xffffffff, value >> 32, aux)))
    return found


def truth(folder):
    """[(call, bytes of the file, pages of it in memory)] of what the host opened."""
    with open(os.path.join(folder, "truth"), encoding="ascii") as file:
        return [(call, int(length), int(pages)) for call, length, pages in map(str.split, file)]


def why_not(folder):
    """Why this kernel or file system does not tell; None: it does."""
    path = os.path.join(folder, "probe")
    with open(path, "wb") as file:
        file.write(b"x" * 4096)
    span, counts = (ctypes.c_uint64 * 2)(0, 4096), (ctypes.c_uint64 * 5)()
    libc = ctypes.CDLL(None, use_errno=True)
    with open(path, "rb") as file:
        if libc.syscall(ctypes.c_long(CACHESTAT), file.fileno(), span, counts, 0) != 0:
            return f"no cachestat here: {os.strerror(ctypes.get_errno())}"
    with open("/proc/self/status", encoding="ascii") as file:
        if "Seccomp_filters:\t0\n" not in file.read():
            return "a filter of system calls is in force"
    return None if counts[0] else f"the pages of {folder} lie elsewhere"


def check_pages(host, folder):
    _, trace = follow(host, folder)
    page = os.sysconf("SC_PAGESIZE")
    seen, expected = opened(trace), truth(folder)
    assert len(seen) == len(expected) == 6, (seen, expected)
    for (name, noted), (call, length, pages) in zip(seen, expected):
        looked = -(-min(length, LOOK_BYTES) // page)
        assert name == call, (seen, expected)
        if not length:
            assert noted is None, noted
        elif length > LOOK_BYTES:
            assert noted[1:] == (looked, page), noted
            assert noted[0] == looked or pages < -(-length // page), (noted, pages)
        else:
            assert noted == (pages, looked, page), (name, noted, pages)
    made = [span for span in trace.spans if span.stage == "save" and "RESIDENT" in span.values]
    assert not made, made


def check_absent(host, folder, config=()):
    output, trace = follow(host, folder, config=config)
    seen = opened(trace)
    assert len(seen) == 6 and not [noted for _, noted in seen if noted], seen
    assert output == "asked again: no\n", output


def main():
    host, lacking = parts.program(1), parts.program(2)
    with tempfile.TemporaryDirectory() as folder:
        check_absent(lacking, folder)
        # The launcher is under a filter, and so is the program.
        check_absent(host, folder, ("filters 1",))
        reason = why_not(folder)
        if reason:
            parts.skip(reason)
        check_pages(host, folder)


if __name__ == "__main__":
    main()
