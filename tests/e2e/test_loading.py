# SPDX-License-Identifier: Apache-2.0
"""The agent waits for no dlopen of another thread: a library whose constructor waits for a thread
comes up as without Lightmeter. And it leaves alone what dlerror has to say.

    test_loading.py LIBRARY
"""
import sys
import unittest

import lightmeter_run

LIBRARY = sys.argv.pop(1)
PYTHON = "/usr/bin/python3"

LOAD = "import ctypes, sys; ctypes.CDLL(sys.argv[1]); print('loaded')"
# Through ctypes, so that no other call comes between.
ERROR = """
import ctypes
c = ctypes.CDLL(None)
c.dlopen.restype = c.dlerror.restype = ctypes.c_char_p
call, dlopen, dlerror = c.tee, c.dlopen, c.dlerror
dlopen(b"/nowhere/libnone.so", 2)
call(-1, -1, 0, 0)
print(dlerror())
"""


class Loading(unittest.TestCase):
    def test_a_constructor_that_waits(self):
        for how in ({}, {"HANDSHAKE_STARTS": "1"}):
            with self.subTest(how):
                result, report, _ = lightmeter_run.measured(
                    "/usr/bin/env", *(f"{name}={value}" for name, value in how.items()), PYTHON, "-c",
                    LOAD, LIBRARY, timeout=60)
                self.assertEqual(result.stdout, b"loaded\n")
                self.assertIsNotNone(report)

    def test_the_error_of_a_dlopen_stays(self):
        alone = lightmeter_run.bare(PYTHON, "-c", ERROR)
        self.assertIn(b"/nowhere", alone.stdout)
        result, _, _ = lightmeter_run.measured(PYTHON, "-c", ERROR)
        self.assertEqual(result.stdout, alone.stdout)


if __name__ == "__main__":
    unittest.main()
