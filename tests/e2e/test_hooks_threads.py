# SPDX-License-Identifier: Apache-2.0
"""The hook set threads: results and errno intact, waits recorded as lock time, free locks not at all.

    test_hooks_threads.py HOST
"""
import sys
import unittest

import agent_trace

HOST = sys.argv.pop(1)

# Call: (calls that are recorded, calls that waited). A lock that was free is not among them, but one
# that libc is to refuse is: an odd end of the wait, an odd clock, oneself. A spin lock does not wait
# off the processor.
CALLS = {
    "pthread_mutex_lock": (1, 1), "pthread_mutex_timedlock": (3, 1), "pthread_mutex_clocklock": (4, 1),
    "pthread_rwlock_rdlock": (1, 1), "pthread_rwlock_wrlock": (1, 1),
    "pthread_rwlock_timedrdlock": (3, 1), "pthread_rwlock_timedwrlock": (3, 1),
    "pthread_rwlock_clockrdlock": (4, 1), "pthread_rwlock_clockwrlock": (4, 1),
    "pthread_spin_lock": (1, 0),
    "sem_wait": (3, 2), "sem_timedwait": (4, 1), "sem_clockwait": (5, 1),
    "pthread_join": (3, 1), "pthread_timedjoin_np": (4, 2), "pthread_clockjoin_np": (4, 1),
    "pthread_cond_wait": (2, 1), "pthread_cond_timedwait": (4, 1), "pthread_cond_clockwait": (4, 1),
    "pthread_barrier_wait": (2, 1),
}


class Threads(unittest.TestCase):
    def test_each_call(self):
        _, trace = agent_trace.follow(HOST)
        for name, (count, waits) in CALLS.items():
            with self.subTest(name):
                agent_trace.expect(trace, {name: ("wait", count)})
                waited = [span for span in agent_trace.named(trace, name) if span.off_ns > 1e6]
                self.assertGreaterEqual(len(waited), waits)
                self.assertEqual({span.cause for span in waited}, {"lock"} if waits else set())
        # Busy: three milliseconds of processor time and more, if the clock's rate is about right.
        self.assertGreater(agent_trace.one(trace, "pthread_spin_lock").duration, 1000000)
        self.assertEqual(trace.coverage["threads"][0], "covered")

    def test_switched_off(self):
        _, trace = agent_trace.follow(HOST, off=("threads",))
        for name in CALLS:
            self.assertEqual(agent_trace.named(trace, name), [])
        self.assertEqual(trace.coverage["threads"][0], "uninstrumented")


if __name__ == "__main__":
    unittest.main()
