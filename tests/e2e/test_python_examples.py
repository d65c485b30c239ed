# SPDX-License-Identifier: Apache-2.0
"""examples/photos.py and examples/detect.py: right findings on drawn pictures, bad input named.

usage: test_python_examples.py EXAMPLES_FOLDER. Both run under Debian's Python with its OpenCV, and must
print the same bytes each time.
"""
import json
import os
import sys
import tempfile

import parts

try:
    import cv2
    import numpy
except ImportError as error:
    parts.skip(f"{error}; ./dev setup brings it")

PYTHON = ("/usr/bin/python3", "-B")
DISCS = ((200, 200, 20, 230), (600, 300, 30, 10), (900, 700, 14, 245), (300, 700, 40, 5))


def discs(path):
    """Bright and dark discs (middle, radius, grey) on even ground."""
    picture = numpy.full((960, 1280, 3), 118, numpy.uint8)
    for x, y, radius, grey in DISCS:
        cv2.circle(picture, (x, y), radius, (grey, grey, grey), -1, cv2.LINE_AA)
    assert cv2.imwrite(path, picture)
    return path


def check_detect(program, folder):
    path = discs(os.path.join(folder, "discs.png"))
    result = parts.run(*PYTHON, program, "--confidence", "0.18", path)
    assert result.returncode == 0, result.stderr.decode()
    line = json.loads(result.stdout)
    assert (line["photo"], line["width"], line["height"]) == (path, 1280, 960)
    assert len(line["spots"]) == len(DISCS), line["spots"]
    for x, y, radius, _ in DISCS:
        like = [spot for spot in line["spots"]
                if abs(spot[0] + spot[2] / 2 - x) < 6 and abs(spot[1] + spot[3] / 2 - y) < 6]
        assert len(like) == 1 and 0.75 < like[0][2] / (2 * radius) < 1.34, (x, y, radius, line["spots"])
    scores = [spot[4] for spot in line["spots"]]
    assert scores == sorted(scores, reverse=True)
    even = os.path.join(folder, "even.png")
    assert cv2.imwrite(even, numpy.full((300, 500, 3), 200, numpy.uint8))
    assert json.loads(parts.run(*PYTHON, program, even).stdout)["spots"] == []


def check_photos(program, folder):
    """A picture with three bright squares and their edges."""
    picture = numpy.zeros((400, 400, 3), numpy.uint8)
    for left in (40, 160, 280):
        picture[100:180, left:left + 80] = 255
    path = os.path.join(folder, "squares.png")
    assert cv2.imwrite(path, picture)
    result = parts.run(*PYTHON, program, path)
    words = result.stdout.decode().split()
    assert words[:2] == [path, "400x400"] and words[-1] == "outlines=3", result
    share = float(words[2].removeprefix("edges="))
    assert 0.8 < share * 400 * 400 / (3 * 4 * 80) < 1.2, share


def check_real(program, photos):
    """Two runs over real photographs print the same; --limit takes the first of the folder."""
    folder = os.path.dirname(photos[0])
    first, second = (parts.run(*PYTHON, program, "--limit", 4, folder) for _ in range(2))
    assert first.returncode == 0 and first.stdout.count(b"\n") == 4, first
    assert first.stdout == second.stdout, "two runs print different bytes"
    small = sorted(photos, key=os.path.getsize)[:2]
    named = parts.run(*PYTHON, program, *small).stdout.splitlines()
    assert len(named) == 2 and all(os.fsencode(path) in line for path, line in zip(small, named)), named


def check_faults(program, photos, folder):
    mixed, empty = os.path.join(folder, "mixed"), os.path.join(folder, "empty")
    for path in (mixed, empty):
        os.makedirs(path, exist_ok=True)
    bad = os.path.join(mixed, "bad.jpg")
    with open(bad, "wb") as file:
        file.write(b"no photograph")
    good = os.path.join(mixed, "good.jpg")
    if not os.path.exists(good):
        os.symlink(min(photos, key=os.path.getsize), good)
    result = parts.rejects(1, ["skipped", bad], *PYTHON, program, mixed)
    assert result.stdout.count(b"\n") == 1 and os.fsencode(good) in result.stdout
    parts.rejects(2, ["no photographs in", empty], *PYTHON, program, empty)
    parts.rejects(1, ["skipped", "missing.jpg"], *PYTHON, program, os.path.join(folder, "missing.jpg"))
    parts.rejects(2, ["usage:"], *PYTHON, program)
    parts.rejects(2, ["--limit"], *PYTHON, program, "--limit", "0", folder)


def main():
    examples, photos = parts.program(), parts.photos(8)
    with tempfile.TemporaryDirectory() as folder:
        check_detect(os.path.join(examples, "detect.py"), folder)
        check_photos(os.path.join(examples, "photos.py"), folder)
        for name in ("photos.py", "detect.py"):
            check_real(os.path.join(examples, name), photos)
            check_faults(os.path.join(examples, name), photos, folder)
    print("ok")


sys.exit(main())
