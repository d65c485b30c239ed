# SPDX-License-Identifier: Apache-2.0
"""The hook sets openmp_gomp and openmp_llvm: the same host compiled by GCC and by Clang gives the same
results, its teams are as large as they were, and its barriers and locks are lock time.

    test_hooks_openmp.py HOST...
"""
import sys
import unittest

import agent_trace

HOSTS, sys.argv[1:] = sys.argv[1:], []

# Of three threads each; calls, None where the compiler decides.
SETS = {
    "openmp_gomp": {
        "OpenMP region end": None, "GOMP_barrier": None, "GOMP_critical_start": 3,
        "GOMP_critical_name_start": 3, "GOMP_ordered_start": 30, "GOMP_loop_end": 3,
        "GOMP_single_copy_start": 3, "omp_set_lock": 3, "omp_set_nest_lock": 6},
    "openmp_llvm": {
        "__kmpc_barrier": None, "__kmpc_critical": 6, "__kmpc_ordered": 30, "__kmpc_copyprivate": 3,
        "omp_set_lock": 3, "omp_set_nest_lock": 6},
}


# Waits off the processor, not busily.
PASSIVE = {"OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0"}


def set_of(trace):
    for name in SETS:
        if trace.coverage[name][0] == "covered" and (name == "openmp_llvm" or
                                                     trace.coverage["openmp_llvm"][0] == "absent"):
            return name
    raise AssertionError(f"no OpenMP in the coverage: {trace.coverage}")


class Openmp(unittest.TestCase):
    def test_each_call(self):
        for host in HOSTS:
            with self.subTest(host):
                _, trace = agent_trace.follow(host, environment=PASSIVE)
                calls = SETS[set_of(trace)]
                agent_trace.expect(trace, {name: ("wait", count) for name, count in calls.items()})
                for span in trace.spans:
                    if span.name in calls:
                        self.assertIn(span.cause, ("lock", None), span.name)
                # One is late for the barrier by 20 ms.
                for name in calls:
                    if "barrier" in name:
                        self.assertIn("lock", {span.cause for span in agent_trace.named(trace, name)})

    def test_itt(self):
        """LLVM's library is not asked to tell a tool of its regions: it crashes at times when it is."""
        for host in HOSTS:
            with self.subTest(host):
                _, trace = agent_trace.follow(
                    host, environment=PASSIVE | {"INTEL_LIBITTNOTIFY64": agent_trace.AGENT}, own=("*",))
                self.assertEqual(trace.coverage["itt"][0], "absent")

    def test_teams(self):
        for host in HOSTS:
            with self.subTest(host):
                _, trace = agent_trace.follow(host, environment=PASSIVE)
                self.assertEqual(agent_trace.one(trace, "three").values["THREADS"], (3, 0))
                self.assertEqual(agent_trace.one(trace, "two").values["THREADS"], (2, 0))
                if set_of(trace) == "openmp_gomp":
                    ends = [span for span in agent_trace.named(trace, "OpenMP region end")
                            if "THREADS" in span.values]
                    self.assertIn((3, 0), {span.values["THREADS"] for span in ends})

    def test_work_of_the_team(self):
        """What the others do has the stage of the call that the opener is in, and is no call of it."""
        for host in HOSTS:
            with self.subTest(host):
                _, trace = agent_trace.follow(host, environment=PASSIVE)
                self.assertEqual(agent_trace.calls(trace, "three"), 1)
                pieces = agent_trace.named(trace, "three (team)")
                if set_of(trace) == "openmp_llvm":
                    self.assertEqual(pieces, [])
                    continue
                self.assertEqual({span.stage for span in pieces}, {"three"})
                self.assertEqual(agent_trace.calls(trace, "three (team)"), 2)
                self.assertEqual(agent_trace.calls(trace, "two (team)"), 1)
                # They are on threads of their own, and dawdle there as long as the call lasts at least.
                self.assertEqual({span.depth for span in pieces}, {0})
                whole = agent_trace.one(trace, "three")
                for piece in pieces:
                    self.assertTrue(piece.duration * 2 > whole.duration and piece.duration <= whole.duration * 2)
                # One of two threads, and the second of each of their own two.
                nested = agent_trace.named(trace, "nested (team)")
                self.assertEqual({span.stage for span in nested}, {"nested"})
                self.assertEqual(agent_trace.calls(trace, "nested (team)"), 3)
                # A longjmp out of a piece's own calls leaves the thread's stack of spans in order.
                self.assertEqual(agent_trace.calls(trace, "after (team)"), 2)

    def test_switched_off(self):
        for host in HOSTS:
            with self.subTest(host):
                _, trace = agent_trace.follow(host, off=tuple(SETS))
                self.assertNotIn("THREADS", agent_trace.one(trace, "three").values)
                self.assertEqual([span.name for span in trace.spans if span.name.endswith("(team)")], [])
                for calls in SETS.values():
                    for name in calls:
                        self.assertEqual(agent_trace.named(trace, name), [])


if __name__ == "__main__":
    unittest.main()
