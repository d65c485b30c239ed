# SPDX-License-Identifier: Apache-2.0
"""The hook set sleep: each call is the stage `wait`, its result and errno intact, its wait under its cause.

    test_hooks_sleep.py HOST
"""
import sys
import unittest

import agent_trace

HOST = sys.argv.pop(1)

# Call: (calls, calls that waited, cause).
CALLS = {
    "poll(socket)": (1, 1, "net"), "poll": (1, 1, "other"), "poll(nothing)": (1, 1, "sleep"),
    "ppoll(socket)": (1, 1, "net"), "ppoll": (1, 1, "other"), "ppoll(nothing)": (2, 1, "sleep"),
    "__poll_chk(socket)": (1, 1, "net"), "__ppoll_chk(socket)": (1, 1, "net"),
    "select(socket)": (2, 2, "net"), "select": (1, 1, "other"), "select(nothing)": (1, 1, "sleep"),
    "pselect(socket)": (1, 1, "net"), "pselect": (1, 1, "other"), "pselect(nothing)": (2, 1, "sleep"),
    "epoll_wait": (3, 1, "net"), "epoll_pwait": (3, 2, "net"), "epoll_pwait2": (3, 2, "net"),
    "nanosleep": (2, 1, "sleep"), "clock_nanosleep": (2, 1, "sleep"), "usleep": (1, 1, "sleep"),
}


class Sleep(unittest.TestCase):
    def test_each_call(self):
        text, trace = agent_trace.follow(HOST)
        calls = dict(CALLS)
        if "no epoll_pwait2" in text:
            del calls["epoll_pwait2"]
        agent_trace.expect(trace, {name: ("wait", count) for name, (count, _, _) in calls.items()})
        for name, (_, waits, cause) in calls.items():
            with self.subTest(name):
                waited = [span for span in agent_trace.named(trace, name) if span.off_ns > 5e5]
                self.assertGreaterEqual(len(waited), waits)
                self.assertEqual({span.cause for span in waited}, {cause})
        self.assertEqual(trace.coverage["sleep"][0], "covered")

    def test_switched_off(self):
        _, trace = agent_trace.follow(HOST, off=("sleep",))
        for name in CALLS:
            self.assertEqual(agent_trace.named(trace, name), [])
        self.assertEqual(trace.coverage["sleep"][0], "uninstrumented")


if __name__ == "__main__":
    unittest.main()
