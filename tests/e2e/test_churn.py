# SPDX-License-Identifier: Apache-2.0
"""A program that starts threads and processes without end is followed in bounded memory, and counted whole."""
import os
import statistics
import sys
import unittest

import lightmeter_run

HOST = r"""
import os, re, sys, threading
def read():
    os.close(os.open("/dev/null", os.O_RDONLY))
def launcher_kib():
    with open(f"/proc/{os.getppid()}/status", encoding="ascii") as file:
        return int(re.search(r"VmRSS:\s*(\d+)", file.read())[1])
for number in range(THREADS):
    if number % (THREADS // 40) == 0:
        print(launcher_kib(), flush=True)
    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    if number % 20 == 0:
        child = os.fork()
        if child == 0:
            read()
            os._exit(0)
        os.waitpid(child, 0)
"""
THREADS = 48000
GROWTH_KIB = 1000  # for 24,000 threads and 1,200 processes more


class Churn(unittest.TestCase):
    def test_memory_is_bounded(self):
        host = HOST.replace("THREADS", str(THREADS))
        result, report, _ = lightmeter_run.measured("/usr/bin/python3", "-c", host,
                                                    options=["--no-scheduler"], timeout=240)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        # Medians: what is in work at one moment differs by hundreds of KiB.
        samples = [int(word) for word in result.stdout.split()]
        first, last = statistics.median(samples[10:20]), statistics.median(samples[30:])
        if not lightmeter_run.is_sanitized():  # these give no memory back for a while
            self.assertLess(last - first, GROWTH_KIB)
        load = lightmeter_run.stages(report)["load"]
        self.assertGreaterEqual(load["calls"], THREADS + THREADS // 20)
        self.assertEqual(report["collection"]["dropped_spans"], 0)
        self.assertGreaterEqual(len(report["threads"]), THREADS + THREADS // 20)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
