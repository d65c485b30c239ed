# SPDX-License-Identifier: Apache-2.0
"""Spends its time in known lines, and prints as JSON how much in each, by its own clock.

    python_lines.py [SECONDS]
"""
import json
import sys
import threading
import time

try:
    import lightmeter
except ImportError:
    lightmeter = None

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 3
spent = {}


def burn(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


class Kind:
    def prepare(self):
        burn(.020)

    @staticmethod
    def read_boxes():
        end = time.perf_counter() + .010
        while time.perf_counter() < end:
            pass  # line: boxes


def timed(name, function):
    start = time.perf_counter()
    function()
    spent[name] = spent.get(name, 0) + time.perf_counter() - start


def stage(name, seconds):
    with lightmeter.stage(name):
        burn(seconds)


def main():
    kind = Kind()
    end = time.perf_counter() + SECONDS
    threading.Thread(target=time.sleep, args=(SECONDS / 2,), daemon=True).start()
    while time.perf_counter() < end:
        timed("decode", lambda: stage("decode", .005))
        timed("prepare", kind.prepare)
        timed("infer", lambda: stage("infer", .005))
        timed("boxes", kind.read_boxes)
    print(json.dumps({"spent": spent, "whole": sum(spent.values())}))


main()
