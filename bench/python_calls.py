# SPDX-License-Identifier: Apache-2.0
"""What the Python shim adds to a call: `len(())` as it is and wrapped, in turns. For bench/run, which starts it under
`lightmeter run`; prints the nanoseconds that each round added, folded and recorded, as JSON.

    python_calls.py [ROUNDS [CALLS]]
"""
import json
import sys
import time

import _lightmeter

ROUNDS, CALLS = (int(word) for word in (sys.argv[1:] + ["30", "100000"])[:2])
FOLDED, RECORDED = 1, 0


def nanoseconds(function):
    """Of one call in a loop."""
    argument, turns = (), range(CALLS)
    start = time.perf_counter_ns()
    for _ in turns:
        function(argument)
    return (time.perf_counter_ns() - start) / CALLS


def main():
    kinds = {"folded": _lightmeter.wrap(len, "len", "preprocess", 0, FOLDED, 0, False, None),
             "recorded": _lightmeter.wrap(len, "len recorded", "preprocess", 0, RECORDED, 0, False, None)}
    added = {kind: [] for kind in kinds}
    for _ in range(ROUNDS):
        for kind, function in kinds.items():
            before, during, after = nanoseconds(len), nanoseconds(function), nanoseconds(len)
            added[kind].append(during - (before + after) / 2)
    print(json.dumps({"python": sys.version.split()[0], "added_ns": added}))


main()
