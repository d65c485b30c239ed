# SPDX-License-Identifier: Apache-2.0
"""The hook set tbb: results and exceptions intact, arenas as large as they are, waits as lock time.

    test_hooks_tbb.py HOST
"""
import sys
import unittest

import agent_trace

HOST = sys.argv.pop(1)

# Of the host's marks: arenas of three, and with a limit of two threads.
TEAMS = {"loop in arena": 3, "thrown in arena": 3, "limited": 2}
# In the arena that TBB makes by itself, of as many threads as it may use here.
OWN = ("loop", "thrown", "pipeline", "group")
WAITS = ("tbb::mutex wait", "tbb::concurrent_bounded_queue wait")


def team(trace, name):
    return agent_trace.one(trace, name).values["THREADS"][0]


class Tbb(unittest.TestCase):
    def test_each_call(self):
        _, trace = agent_trace.follow(HOST)
        for name, threads in TEAMS.items():
            self.assertEqual(team(trace, name), threads, name)
        self.assertEqual(len({team(trace, name) for name in OWN}), 1)
        self.assertGreaterEqual(team(trace, "loop"), 1)
        agent_trace.expect(trace, {name: ("wait", None) for name in WAITS})
        for name in WAITS:
            self.assertIn("lock", {span.cause for span in agent_trace.named(trace, name)}, name)
        self.assertEqual(trace.coverage["tbb"][0], "covered")

    def test_switched_off(self):
        _, trace = agent_trace.follow(HOST, off=("tbb",))
        for name in (*TEAMS, *OWN):
            self.assertNotIn("THREADS", agent_trace.one(trace, name).values)
        for name in WAITS:
            self.assertEqual(agent_trace.named(trace, name), [])


if __name__ == "__main__":
    unittest.main()
