# SPDX-License-Identifier: Apache-2.0
"""The hook set sockets: each call's result and errno intact, its stage, its bytes, its wait network time.

    test_hooks_sockets.py HOST
"""
import sys
import unittest

import agent_trace

HOST = sys.argv.pop(1)

# Call: (stage, calls, bytes, calls that waited). Bytes that were only looked at, and those of a
# packet that found no room, were not received.
CALLS = {
    "recv": ("receive", 6, 5 + 7, 2),
    "recvfrom": ("receive", 2, 3000 + 40, 1),
    "recvmsg": ("receive", 3, 15 + 20, 1),
    "recvmmsg": ("receive", 3, 11 + 3 + 4, 1),
    "__recv_chk": ("receive", 1, 5, 1),
    "__recvfrom_chk": ("receive", 1, 15, 1),
    "send": ("send", 3, 21 + 2, 1),
    "sendto": ("send", 2, 9, 1),
    "sendmsg": ("send", 2, 13, 1),
    "sendmmsg": ("send", 2, 13 + 13 + 6, 1),
    "accept": ("receive", 2, 0, 1),
    "accept4": ("receive", 2, 0, 1),
    "connect": ("send", 5, 0, 1),
}


class Sockets(unittest.TestCase):
    def test_each_call(self):
        _, trace = agent_trace.follow(HOST)
        agent_trace.expect(trace, {name: (stage, calls) for name, (stage, calls, _, _) in CALLS.items()})
        for name, (_, _, count, waits) in CALLS.items():
            with self.subTest(name):
                self.assertEqual(sum(span.bytes for span in agent_trace.named(trace, name)), count)
                waited = [span for span in agent_trace.named(trace, name) if span.off_ns > 1e6]
                self.assertGreaterEqual(len(waited), waits)
                self.assertEqual({span.cause for span in waited}, {"net"})
        self.assertEqual(trace.coverage["sockets"][0], "covered")

    def test_switched_off(self):
        _, trace = agent_trace.follow(HOST, off=("sockets",))
        for name in CALLS:
            self.assertEqual(agent_trace.named(trace, name), [])
        self.assertEqual(trace.coverage["sockets"][0], "uninstrumented")


if __name__ == "__main__":
    unittest.main()
