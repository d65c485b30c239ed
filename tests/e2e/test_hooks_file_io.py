# SPDX-License-Identifier: Apache-2.0
"""The hook sets file_io and paths: results and errno intact, stage and bytes by what a descriptor is.

    test_hooks_file_io.py HOST
"""
import os
import subprocess
import sys
import tempfile
import unittest

import agent_trace

HOST = sys.argv.pop(1)

# Call: (stage, calls, bytes).
CALLS = {
    "read": ("load", 10, 1000 + 150000 + 47000 + 10 + (4 << 20)), "__read_chk": ("load", 1, 500),
    "pread": ("load", 4, 130000), "pread64": ("load", 2, 100 + (4 << 20)), "__pread_chk": ("load", 1, 90),
    "__pread64_chk": ("load", 1, 80), "readv": ("load", 3, 30), "preadv": ("load", 1, 30),
    "preadv64": ("load", 1, 30), "preadv2": ("load", 3, 60), "preadv64v2": ("load", 1, 10),
    "write": ("save", 3, 100000), "pwrite": ("save", 1, 40), "pwrite64": ("save", 1, 50),
    "writev": ("save", 1, 30), "pwritev": ("save", 1, 30), "pwritev64": ("save", 1, 30),
    "pwritev2": ("save", 1, 30), "pwritev64v2": ("save", 1, 10), "sendfile": ("save", 1, 300),
    "sendfile64": ("save", 1, 400), "copy_file_range": ("save", 1, 600), "fsync": ("save", 2, 0),
    "fdatasync": ("save", 1, 0), "sync_file_range": ("save", 1, 0), "ftruncate": ("save", 1, 0),
    "ftruncate64": ("save", 1, 0), "posix_fallocate": ("save", 2, 0),
    "posix_fallocate64": ("save", 1, 0), "fallocate": ("save", 1, 0), "fallocate64": ("save", 1, 0),
    "posix_fadvise": ("load", 2, 0), "posix_fadvise64": ("load", 1, 0), "readahead": ("load", 1, 0),
    "read(pipe)": ("receive", 4, 11 + 13), "read(socket)": ("receive", 1, 17),
    "read(event)": ("wait", 2, 16), "read(timer)": ("wait", 1, 8), "write(pipe)": ("send", 1, 13),
    "write(socket)": ("send", 1, 17), "write(event)": ("send", 1, 8), "tee(pipe)": ("send", 1, 0),
    "splice(socket)": ("send", 1, 4000),
}
PATHS = {
    "openat": ("save", 1), "creat": ("save", 1), "stat": ("load", 2), "lstat": ("load", 1),
    "fstatat": ("load", 1), "access": ("load", 1), "truncate": ("save", 2), "unlink": ("save", 2),
    "mkdir": ("save", 1), "rename": ("save", 1), "opendir": ("load", 2), "readdir": ("load", 3),
    "scandir": ("load", 1), "rmdir": ("save", 1),
}
CAUSES = {"read(pipe)": "other", "read(event)": "other", "read(timer)": "sleep"}


def follow(folder, off=()):
    return agent_trace.follow(HOST, folder, off=off)[1]


def total(trace, name):
    return sum(span.bytes for span in agent_trace.named(trace, name))


class FileIO(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def test_each_call(self):
        trace = follow(self.folder)
        for name, (stage, count, amount) in CALLS.items():
            with self.subTest(name):
                agent_trace.expect(trace, {name: (stage, count)})
                self.assertEqual(total(trace, name), amount)
        # Both ways: out of a file into a pipe, and where neither end is one.
        self.assertEqual({span.stage for span in agent_trace.named(trace, "splice")}, {"load", "save"})
        for name, cause in CAUSES.items():
            waited = [span for span in agent_trace.named(trace, name) if span.off_ns > 5e5]
            self.assertTrue(waited, name)
            self.assertEqual({span.cause for span in waited}, {cause})
        self.assertEqual(trace.coverage["file_io"][0], "covered")

    def test_paths(self):
        trace = follow(self.folder)
        agent_trace.expect(trace, PATHS)
        self.assertEqual({span.stage for span in agent_trace.named(trace, "open")}, {"load", "save"})
        self.assertEqual(agent_trace.calls(trace, "open"), 4)

    def test_which_file_and_where(self):
        trace = follow(self.folder)
        inodes = [os.stat(os.path.join(self.folder, name)).st_ino for name in ("0", "1")]
        opened = [span for span in agent_trace.named(trace, "open") if "FILE" in span.values]
        self.assertEqual([span.values["FILE"][0] for span in opened], inodes)
        for name, at in (("read", 1 << 20), ("pread64", 3 << 20)):
            span = max(agent_trace.named(trace, name), key=lambda span: span.bytes)
            self.assertEqual((span.bytes, span.values), (4 << 20, {"FILE": opened[0].values["FILE"],
                                                                   "OFFSET": (at, 0)}))

    def test_switched_off(self):
        trace = follow(self.folder, ("file_io", "paths"))
        for name in (*CALLS, *PATHS, "open"):
            self.assertEqual(agent_trace.named(trace, name), [])
        self.assertEqual(trace.coverage["file_io"][0], "uninstrumented")
        self.assertEqual(trace.coverage["paths"][0], "uninstrumented")

    def test_interposed(self):
        """What the sets of libc list is there to be called, all in one library."""
        text = subprocess.run(["nm", "-D", "--defined-only", agent_trace.AGENT], check=True,
                              capture_output=True, text=True).stdout
        exported = {line.split()[-1] for line in text.splitlines()}
        plain = {name.split("(")[0] for name in (*CALLS, *PATHS)}
        self.assertLessEqual(plain | {"open64", "close", "dup2", "dup3", "close_range"}, exported)


if __name__ == "__main__":
    unittest.main()
