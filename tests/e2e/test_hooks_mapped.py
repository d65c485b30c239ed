# SPDX-License-Identifier: Apache-2.0
"""The hook set mapped: a cold file's pages are waited for as I/O by whoever touches them; mapped memory is told.

    test_hooks_mapped.py HOST
"""
import os
import sys
import tempfile
import unittest

import agent_trace

HOST = sys.argv.pop(1)
PAGE = 4096


class Mapped(unittest.TestCase):
    def setUp(self):
        # On a disk, not in memory: its pages are to go.
        self.folder = self.enterContext(tempfile.TemporaryDirectory(dir="/var/tmp"))

    def test_each_call(self):
        _, trace = agent_trace.follow(HOST, self.folder)
        span, inode = agent_trace.one(trace, "mmap"), os.stat(os.path.join(self.folder, "mapped")).st_ino
        self.assertEqual((span.stage, span.bytes, span.values["FILE"][0], span.values["OFFSET"][0]),
                         ("load", 2048 * PAGE, inode, 0))
        agent_trace.expect(trace, {"madvise": ("load", 1), "msync": ("save", 1)})
        # 100 pages, and what they grew by; the copy of 100 was there before.
        self.assertEqual(agent_trace.one(trace, "preprocess").values["FRESH"][0], 300 * PAGE)
        self.assertEqual(trace.coverage["mapped"][0], "covered")

    def test_cold_file(self):
        text, trace = agent_trace.follow(HOST, self.folder)
        if "warm" in text:
            self.skipTest("the pages of a file cannot be dropped here")
        span = agent_trace.one(trace, "decode")
        self.assertEqual(span.cause, "io")
        self.assertGreater(span.off_ns, 0)

    def test_switched_off(self):
        _, trace = agent_trace.follow(HOST, self.folder, off=("mapped",))
        for name in ("mmap", "madvise", "msync"):
            self.assertEqual(agent_trace.named(trace, name), [])
        self.assertEqual(agent_trace.one(trace, "preprocess").values, {})
        self.assertEqual(trace.coverage["mapped"][0], "uninstrumented")


if __name__ == "__main__":
    unittest.main()
