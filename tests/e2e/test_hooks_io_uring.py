# SPDX-License-Identifier: Apache-2.0
"""The hook set io_uring: handing in is `load`, waiting is `wait` under I/O, each result intact; and
functions of another library that have libaio's names are left alone.

    test_hooks_io_uring.py HOST ODD
"""
import subprocess
import sys
import unittest

import agent_trace
import parts

HOST, ODD = sys.argv[1:3]
del sys.argv[1:3]
WAITS = ("io_uring_submit_and_wait", "__io_uring_get_cqe", "io_uring_wait_cqes", "io_uring_wait_cqe_timeout")


class Rings(unittest.TestCase):
    def test_each_call(self):
        _, trace = agent_trace.follow(HOST, HOST)
        agent_trace.expect(trace, {"io_uring_submit": ("load", 3), "io_uring_submit_and_wait": ("wait", 1),
                                   "__io_uring_get_cqe": ("wait", None),
                                   "io_uring_wait_cqe_timeout": ("wait", 1)})
        waited = [span for span in agent_trace.named(trace, "__io_uring_get_cqe") if span.off_ns > 1e6]
        self.assertEqual({span.cause for span in waited}, {"io"})
        self.assertEqual(trace.coverage["io_uring"][0], "covered")

    def test_other_functions_of_these_names(self):
        _, trace = agent_trace.follow(ODD)
        self.assertEqual(agent_trace.named(trace, "io_submit"), [])
        self.assertEqual(trace.coverage["io_uring"][0], "absent")

    def test_switched_off(self):
        _, trace = agent_trace.follow(HOST, HOST, off=("io_uring",))
        for name in ("io_uring_submit", *WAITS):
            self.assertEqual(agent_trace.named(trace, name), [])
        self.assertEqual(trace.coverage["io_uring"][0], "uninstrumented")


if __name__ == "__main__":
    if subprocess.run([HOST, HOST], stdout=subprocess.DEVNULL, check=False).returncode == 77:
        parts.skip("the kernel lets this program have no rings")
    unittest.main()
