# SPDX-License-Identifier: Apache-2.0
"""The hook set stdio: what streams read and write, results and errno intact; characters out of a buffer are free.

    test_hooks_stdio.py HOST
"""
import os
import sys
import tempfile
import unittest

import agent_trace

HOST = sys.argv.pop(1)

# Call: (stage, calls, bytes); calls None: some, as often as a buffer was filled or emptied.
CALLS = {
    "fprintf": ("save", 3000, 30000), "vfprintf": ("save", 1, 24), "__fprintf_chk": ("save", 1, 3),
    "fputs": ("save", 1, 9), "fwrite": ("save", 1, 200), "fgets": ("load", 2, 10),
    "__fgets_chk": ("load", 1, 10), "getdelim": ("load", 1, 5), "fscanf": ("load", 1, 0),
    "__isoc99_fscanf": ("load", 1, 0), "fread": ("load", 2, 21), "__fread_chk": ("load", 1, 9),
    "fseeko": ("load", 1, 0), "rewind": ("load", 1, 0), "freopen": ("load", 1, 0),
    "fwrite(pipe)": ("send", 1, 23), "fread(pipe)": ("receive", 2, 23),
    "fflush(pipe)": ("send", 1, 0),
}
TEXT_BYTES = 70237


def total(trace, *names):
    return sum(span.bytes for name in names for span in agent_trace.named(trace, name))


class Streams(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def test_each_call(self):
        _, trace = agent_trace.follow(HOST, self.folder)
        for name, (stage, count, amount) in CALLS.items():
            with self.subTest(name):
                # fscanf may be compiled to either of two.
                if "scanf" in name:
                    self.assertEqual(agent_trace.calls(trace, "fscanf") +
                                     agent_trace.calls(trace, "__isoc99_fscanf"), 2)
                    continue
                agent_trace.expect(trace, {name: (stage, count)})
                self.assertEqual(total(trace, name), amount)
        self.assertEqual({span.stage for span in agent_trace.named(trace, "fopen")}, {"load", "save"})
        # To the file (pending), after it was read, and of the pipes, not of those in memory.
        self.assertEqual(agent_trace.calls(trace, "fclose"), 1)
        self.assertEqual(agent_trace.calls(trace, "fclose(pipe)"), 2)
        # Two of the file, and of all.
        self.assertEqual({span.stage for span in agent_trace.named(trace, "fflush")}, {"save"})
        self.assertEqual(trace.coverage["stdio"][0], "covered")

    def test_lines(self):
        _, trace = agent_trace.follow(HOST, self.folder)
        # A compiler makes __getdelim of getline.
        self.assertEqual(total(trace, "getline", "__getdelim"), 10)

    def test_characters(self):
        """Read twice and written once, character by character: recorded when a buffer was filled or emptied."""
        _, trace = agent_trace.follow(HOST, self.folder)
        read = [span for name in ("fgetc", "getc", "__uflow", "getc_unlocked")
                for span in agent_trace.named(trace, name)]
        # A buffer has 4096 bytes; at least the 70237 of the second time round were filled in.
        self.assertGreaterEqual(sum(span.bytes for span in read), TEXT_BYTES)
        self.assertLess(sum(span.calls for span in read), 100)
        self.assertEqual({span.stage for span in read}, {"load"})
        put = [span for name in ("putc", "fputc", "__overflow", "putc_unlocked")
               for span in agent_trace.named(trace, name)]
        self.assertGreater(sum(span.bytes for span in put), 30000)
        self.assertLess(sum(span.calls for span in put), 100)

    def test_which_file(self):
        _, trace = agent_trace.follow(HOST, self.folder)
        inode = os.stat(os.path.join(self.folder, "text")).st_ino
        opened = [span.values["FILE"][0] for span in agent_trace.named(trace, "fopen") if span.values]
        self.assertEqual(opened, [inode, inode])

    def test_switched_off(self):
        _, trace = agent_trace.follow(HOST, self.folder, off=("stdio",))
        for name in (*CALLS, "fopen", "fclose", "fgetc", "__uflow", "__overflow"):
            self.assertEqual(agent_trace.named(trace, name), [])
        self.assertEqual(trace.coverage["stdio"][0], "uninstrumented")


if __name__ == "__main__":
    unittest.main()
