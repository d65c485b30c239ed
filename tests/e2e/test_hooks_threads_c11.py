# SPDX-License-Identifier: Apache-2.0
"""The hook set threads_c11: results intact, waits recorded as lock time, free locks not at all.

    test_hooks_threads_c11.py HOST
"""
import sys
import unittest

import agent_trace

HOST = sys.argv.pop(1)

# Call: (calls that are recorded, calls that waited). A lock that was free is not among them, but one
# with an odd end of the wait is: libc has the say. One wait is cancelled.
CALLS = {"mtx_lock": (1, 1), "mtx_timedlock": (4, 1), "cnd_wait": (2, 1), "cnd_timedwait": (3, 1),
         "thrd_join": (3, 1)}


class ThreadsC11(unittest.TestCase):
    def test_each_call(self):
        _, trace = agent_trace.follow(HOST)
        for name, (count, waits) in CALLS.items():
            with self.subTest(name):
                agent_trace.expect(trace, {name: ("wait", count)})
                waited = [span for span in agent_trace.named(trace, name) if span.off_ns > 1e6]
                self.assertGreaterEqual(len(waited), waits)
                self.assertEqual({span.cause for span in waited}, {"lock"})
        agent_trace.expect(trace, {"thrd_sleep": ("wait", 2)})
        self.assertIn("sleep", {span.cause for span in agent_trace.named(trace, "thrd_sleep")})
        self.assertEqual(trace.coverage["threads_c11"][0], "covered")

    def test_switched_off(self):
        _, trace = agent_trace.follow(HOST, off=("threads_c11",))
        for name in CALLS:
            self.assertEqual(agent_trace.named(trace, name), [])
        self.assertEqual(trace.coverage["threads_c11"][0], "uninstrumented")


if __name__ == "__main__":
    unittest.main()
