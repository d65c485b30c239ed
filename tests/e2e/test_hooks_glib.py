# SPDX-License-Identifier: Apache-2.0
"""The hook set glib: results intact, waits recorded as lock time, free mutexes not at all.

    test_hooks_glib.py HOST
"""
import sys
import unittest

import agent_trace

HOST = sys.argv.pop(1)

# Call: (calls that are recorded, calls that waited). GLib makes its recursive mutexes, read-write locks
# and threads from those of POSIX, which are seen as such.
CALLS = {"g_mutex_lock": (1, 1), "g_cond_wait": (1, 1), "g_cond_wait_until": (2, 1),
         "g_async_queue_pop": (2, 1), "g_async_queue_timeout_pop": (2, 1), "g_thread_pool_free": (1, 1)}
POSIX = ("pthread_mutex_lock", "pthread_rwlock_rdlock", "pthread_rwlock_wrlock", "pthread_join")


class Glib(unittest.TestCase):
    def test_each_call(self):
        _, trace = agent_trace.follow(HOST)
        for name, (count, waits) in CALLS.items():
            with self.subTest(name):
                agent_trace.expect(trace, {name: ("wait", count)})
                waited = [span for span in agent_trace.named(trace, name) if span.off_ns > 1e6]
                self.assertGreaterEqual(len(waited), waits)
                self.assertEqual({span.cause for span in waited}, {"lock"})
        agent_trace.expect(trace, {name: ("wait", None) for name in POSIX})
        self.assertEqual(trace.coverage["glib"][0], "covered")

    def test_switched_off(self):
        _, trace = agent_trace.follow(HOST, off=("glib",))
        for name in CALLS:
            self.assertEqual(agent_trace.named(trace, name), [])
        self.assertEqual(trace.coverage["glib"][0], "uninstrumented")


if __name__ == "__main__":
    unittest.main()
