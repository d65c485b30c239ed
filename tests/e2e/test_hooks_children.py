# SPDX-License-Identifier: Apache-2.0
"""The hook set children: each way of waiting for a child is the stage `wait`, with its result intact.

    test_hooks_children.py HOST
"""
import sys
import unittest

import agent_trace

HOST = sys.argv.pop(1)


class Children(unittest.TestCase):
    def test_each_way(self):
        text, trace = agent_trace.follow(HOST)
        self.assertNotIn("wrong", text)
        # The last call of wait, and that of a child still running, found nothing to wait for.
        agent_trace.expect(trace, {"wait": ("wait", 2), "waitpid": ("wait", 3), "wait3": ("wait", 1),
                                   "wait4": ("wait", 1), "waitid": ("wait", 1),
                                   "popen": ("wait", 2), "pclose": ("wait", 1), "system": ("wait", 3)})
        self.assertTrue(any(span.off_ns > 1e6 for span in agent_trace.named(trace, "system")))
        for name in ("wait3", "wait4", "waitid"):
            self.assertEqual(agent_trace.one(trace, name).calls, 1)
        self.assertEqual(trace.coverage["children"][0], "covered")

    def test_switched_off(self):
        _, trace = agent_trace.follow(HOST, off=("children",))
        for name in ("wait", "waitpid", "wait3", "wait4", "waitid", "pclose"):
            self.assertEqual(agent_trace.named(trace, name), [])
        self.assertEqual(trace.coverage["children"][0], "uninstrumented")


if __name__ == "__main__":
    unittest.main()
