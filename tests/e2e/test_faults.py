# SPDX-License-Identifier: Apache-2.0
"""Page faults are told by stage: a result that is too large to be reused touches fresh pages each time.

    test_faults.py
"""
import subprocess
import unittest

import lightmeter_run

PYTHON = "/usr/bin/python3"
SIDE = 8192  # 3 bytes a pixel: above the size up to which malloc keeps what was freed
TIMES = 6
PROGRAM = f"""
import cv2, numpy
small = numpy.zeros((64, 64, 3), numpy.uint8)
for i in range({TIMES}): cv2.resize(small, ({SIDE}, {SIDE}))
"""


class Faults(unittest.TestCase):
    def test_fresh_pages_of_a_stage(self):
        if subprocess.run([PYTHON, "-c", "import cv2, numpy"], capture_output=True, check=False).returncode:
            self.skipTest("python3-opencv is not installed")
        result, report, _ = lightmeter_run.measured(PYTHON, "-c", PROGRAM)
        self.assertEqual(result.returncode, 0, result.stderr)
        stage = lightmeter_run.stages(report)["preprocess"]
        # The first call shows that the name is worth it. Huge pages make one fault of 512.
        pages = SIDE * SIDE * 3 // 4096 * (TIMES - 1)
        self.assertGreater(stage["minor_faults"], pages / 512 / 2)
        self.assertLess(stage["minor_faults"], 2 * pages)


if __name__ == "__main__":
    unittest.main()
