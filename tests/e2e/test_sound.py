# SPDX-License-Identifier: Apache-2.0
"""`dump --check` has nothing to say about the trace of a run that went well: the examples, which nest
folded calls and recorded ones in every way that real libraries do, and Python programs of many
processes and threads.

    test_sound.py EXAMPLES_FOLDER [THREADS [OCR]]
"""
import os
import sys
import tempfile
import unittest

import lightmeter_run
import parts

EXAMPLES, *PROGRAMS = sys.argv[1:]
del sys.argv[1:]
PYTHON = "/usr/bin/python3"

PROCESSES = """
import concurrent.futures, multiprocessing, time

def work(number):
    length = 0
    for i in range(40):
        with open(__file__, "rb") as file:
            length += len(file.read())
        if i % 10 == number % 10:
            time.sleep(1e-4)
    return length

if __name__ == "__main__":
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(3) as pool:
            assert sum(pool.map(work, range(24))) > 0
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        assert sum(pool.map(work, range(24))) > 0
    print("done")
"""


def found(what, *arguments):
    """A part of the set-up; without it the test is skipped."""
    try:
        return what(*arguments)
    except SystemExit as error:
        raise unittest.SkipTest("the set-up lacks a part of it") from error


def program(index):
    if len(PROGRAMS) <= index or not os.access(PROGRAMS[index], os.X_OK):
        raise unittest.SkipTest("the example was not built")
    return PROGRAMS[index]


class Sound(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = place.name

    def check(self, *command):
        trace = os.path.join(self.folder, "run.lmt")
        run = lightmeter_run.bare(lightmeter_run.LIGHTMETER, "run", "--quiet", "-o", trace, "--", *command)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertTrue(run.stdout)
        check = lightmeter_run.bare(lightmeter_run.LIGHTMETER, "dump", "--check", trace)
        self.assertRegex(check.stdout.decode(), r"(?m)^\d+ blocks, [1-9].* [1-9]\d* spans: sound$")
        self.assertEqual(check.returncode, 0)

    def test_threads(self):
        self.check(program(0), "--decoders", "3", "--queue", "2", *found(parts.photos, 12))

    def test_ocr(self):
        self.check(program(1), "--onnxruntime", found(parts.onnxruntime), found(parts.model),
                   *found(parts.photos, 2))

    def test_photos(self):
        self.check_python("photos.py", 8)

    def test_detect(self):
        self.check_python("detect.py", 4)

    def check_python(self, name, count):
        if parts.run(PYTHON, "-c", "import cv2").returncode:
            self.skipTest("there is no OpenCV for Python")
        self.check(PYTHON, "-B", os.path.join(EXAMPLES, name), *found(parts.photos, count))

    def test_processes(self):
        path = os.path.join(self.folder, "processes.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(PROCESSES)
        self.check(PYTHON, "-B", path)


if __name__ == "__main__":
    unittest.main()
