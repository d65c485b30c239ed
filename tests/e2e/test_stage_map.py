# SPDX-License-Identifier: Apache-2.0
"""--stage-map makes stages of the user's own functions and libraries: by C and C++ names, with any
arguments, with exceptions passing through, bound lazily or at once. However broad its patterns, the
program does what it did, and the coverage says what was left out.

    test_stage_map.py MAPPED_LAZY MAPPED_NOW MAPPED_NO_PLT [MAPPED_ODD]
"""
import os
import sys
import tempfile
import unittest

import lightmeter_run

HOSTS = [sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)]
ODD = sys.argv.pop(1) if len(sys.argv) > 1 and os.path.exists(sys.argv[1]) else None
PYTHON = ("/usr/bin/python3", "-c", """
import ctypes, decimal, hashlib, json, re, sqlite3, ssl, threading, zlib
lock = threading.Condition()
threads = [threading.Thread(target=zlib.compress, args=(bytes(1000),)) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
print(hashlib.sha256(b"x").hexdigest(), zlib.crc32(b"x"), decimal.Decimal(2).sqrt())
print(sqlite3.connect(":memory:").execute("select 6 * 7").fetchall(), json.dumps([1.5]))
""")
SYSTEM = "libc, the loader, the compiler's runtime"


class StageMap(unittest.TestCase):
    def run_with(self, command, text):
        command = [command] if isinstance(command, str) else command
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "stages.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            result, report, _ = lightmeter_run.measured(*command, options=("--stage-map", path))
        alone = lightmeter_run.bare(*command)
        self.assertEqual(alone.returncode, 0)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, alone.stdout)
        return lightmeter_run.stages(report), report

    def coverage(self, report, pattern):
        """(status, why) of the entry with that pattern."""
        lines = [line for line in report["collection"]["coverage"] if line["library"] == pattern]
        self.assertTrue(lines, report["collection"]["coverage"])
        return lines[0]["status"], lines[0]["why"]

    def odd(self, case, text):
        if not ODD:
            self.skipTest("stage maps are for x86-64")
        return self.run_with([ODD, case], text)

    def test_functions(self):
        for host in HOSTS:
            stages, _ = self.run_with(
                host, 'functions:\n  "own::thr*": risky\n  plain_sum: summing\n  "own::text": texts\n')
            self.assertEqual(stages["summing"]["calls"], 20)
            self.assertEqual(stages["texts"]["calls"], 20)
            # guarded() calls it once; the recursion inside the library is bound within it or not,
            # but each round calls it at least once.
            self.assertGreaterEqual(stages["risky"]["calls"], 20)
            self.assertEqual(stages["guarded"]["calls"], 20)

    def test_library(self):
        for host in HOSTS:
            stages, _ = self.run_with(host, 'libraries:\n  "libmapped*": own library\n'.replace(
                "own library", "own-library"))
            self.assertGreaterEqual(stages["own-library"]["calls"], 100)

    def test_out_of_reach(self):
        _, report = self.run_with(HOSTS[0], "functions:\n  no_such_function: nothing\n")
        status, why = self.coverage(report, "no_such_function")
        self.assertEqual(status, "uninstrumented")
        self.assertIn("LM_STAGE", why)

    def test_data(self):
        """A table that a library exports is no function, though its address is in the GOT too."""
        _, report = self.odd("table", "functions:\n  odd_table: nothing\n")
        self.assertEqual(self.coverage(report, "odd_table"), ("uninstrumented", "never mapped: data"))
        stages, report = self.odd("table", 'libraries:\n  "libmapped_odd*": own\n')
        self.assertEqual(stages["own"]["calls"], 20)
        status, why = self.coverage(report, "libmapped_odd*")
        self.assertEqual(status, "covered")
        self.assertIn("data", why)

    def test_arguments(self):
        """Much on the stack, aligned there, or in the upper halves of vector registers."""
        for case, function, calls in (("wide", "odd_wide", 20), ("aligned", "odd_aligned", 20)):
            with self.subTest(case=case):
                stages, _ = self.odd(case, f"functions:\n  {function}: own\n")
                self.assertEqual(stages["own"]["calls"], calls)
        stages, _ = self.odd("vectors", 'functions:\n  "odd_vector*": own\n')
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            if " avx2 " in file.read():
                self.assertEqual(stages["own"]["calls"], 40)

    def test_not_recorded(self):
        """Where the arguments cannot be shown to be all copied, the call goes through unrecorded."""
        for case in ("large-frame", "small-stack", "untold"):
            with self.subTest(case=case):
                stages, report = self.odd(case, "functions:\n  odd_many: own\n")
                self.assertNotIn("own", stages)
                self.assertIn("20 calls were not recorded", self.coverage(report, "odd_many")[1])

    def test_pointers(self):
        """A function's address is the same for all, whether it is mapped or not."""
        stages, report = self.odd("compared", "functions:\n  odd_double: own\n")
        self.assertNotIn("own", stages)
        self.assertEqual(self.coverage(report, "odd_double"),
                         ("uninstrumented", "never mapped: functions used as pointers"))

    def test_returns_twice(self):
        for case, pattern in (("jumps", "*setjmp"), ("jumps", "*longjmp*"), ("vforks", "vfork")):
            with self.subTest(pattern=pattern):
                stages, report = self.odd(case, f'functions:\n  "{pattern}": twice\n')
                self.assertNotIn("twice", stages)
                status, why = self.coverage(report, pattern)
                self.assertEqual(status, "uninstrumented")
                self.assertIn("setjmp, vfork", why)

    def test_broad_patterns(self):
        """Patterns that take in libc, the loader and the unwinder."""
        commands = HOSTS + [PYTHON]
        if ODD:
            cases = lightmeter_run.bare(ODD).stdout.decode().split()
            self.assertGreater(len(cases), 9)
            commands += [[ODD, case] for case in cases]
        for command in commands:
            for text, pattern in (('libraries:\n  "lib*": x\n', "lib*"),
                                  ('libraries:\n  "libc.*": x\n', "libc.*"),
                                  ('libraries:\n  "*": x\n', "*"), ('functions:\n  "*": x\n', "*")):
                with self.subTest(command=command, text=text):
                    _, report = self.run_with(command, text)
                    self.assertIn("never mapped: " + SYSTEM, self.coverage(report, pattern)[1])


if __name__ == "__main__":
    unittest.main()
