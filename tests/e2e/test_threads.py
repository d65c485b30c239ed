# SPDX-License-Identifier: Apache-2.0
"""examples/threads: right pictures, the same lines however many threads, bad input named.

usage: test_threads.py THREADS. The small pictures are compared with Pillow's own box averaging.
"""
import os
import re
import subprocess
import sys
import tempfile

import parts

try:
    from PIL import Image, ImageChops
except ImportError as error:
    parts.skip(f"{error}; ./dev setup brings it")

LINE = re.compile(rb"(.+) (\d+)x(\d+) -> (\d+)x(\d+) ([0-9a-f]{16})")


def checksum(image):
    total = 0xcbf29ce484222325
    for byte in image.tobytes():
        total = (total ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return b"%016x" % total


def check_pictures(threads, paths, side):
    """Sizes, checksums and pixels of the small pictures. Averages in whole pixels differ a little."""
    with tempfile.TemporaryDirectory() as folder:
        result = parts.run(threads, "--side", side, "--out", folder, *paths)
        assert result.returncode == 0, result.stderr.decode()
        lines = [LINE.fullmatch(line) for line in result.stdout.splitlines()]
        assert [os.fsdecode(line[1]) for line in lines] == paths, result.stdout.decode()
        assert sorted(os.listdir(folder)) == [f"{i:06}.ppm" for i in range(len(paths))]
        for i, (path, line) in enumerate(zip(paths, lines)):
            with Image.open(path) as photo, Image.open(os.path.join(folder, f"{i:06}.ppm")) as small:
                ratio = min(1, side / max(photo.size))
                assert photo.size == (int(line[2]), int(line[3])), line[0]
                assert small.size == (int(line[4]), int(line[5])), line[0]
                assert all(abs(got - side_px * ratio) <= 0.5 for got, side_px in zip(small.size, photo.size))
                assert checksum(small) == line[6], line[0]
                expected = photo.convert("RGB").resize(small.size, Image.BOX)
                histogram = ImageChops.difference(expected, small).convert("L").histogram()
                mean = sum(value * count for value, count in enumerate(histogram)) / sum(histogram)
                assert mean < 1.5, f"{path}: the pictures differ by {mean:.2f} on average"


def check_order(threads, paths):
    """One output for any number of threads and any depth of the queues."""
    expected = parts.run(threads, *paths).stdout
    assert expected.count(b"\n") == len(paths)
    for decoders, depth in ((1, 1), (3, 1), (7, 2), (2, 64)):
        got = parts.run(threads, "--decoders", decoders, "--queue", depth, *paths)
        assert got.returncode == 0 and got.stdout == expected, (decoders, depth, got)
    repeated = parts.run(threads, "--repeat", 3, *paths[:4])
    first = b"".join(expected.splitlines(keepends=True)[:4])
    assert repeated.stdout == first * 3, repeated


def check_damaged(threads, good, folder):
    with open(good, "rb") as file:
        data = file.read()
    cut, text = os.path.join(folder, "cut.jpg"), os.path.join(folder, "text.jpg")
    with open(cut, "wb") as file:
        file.write(data[:len(data) // 3])
    with open(text, "wb") as file:
        file.write(b"no photograph")
    missing = os.path.join(folder, "missing.jpg")
    words = [cut, text, missing, "damaged", "not a JPEG", "No such file", "3 of 5 photographs were skipped"]
    result = parts.rejects(1, words, threads, "--decoders", 3, good, cut, missing, text, good)
    lines = result.stdout.splitlines()
    assert len(lines) == 2 and lines[0] == lines[1], result.stdout
    order = [result.stderr.decode().index(path) for path in (cut, missing, text)]
    assert order == sorted(order), "skipped photographs are named in the order of the list"


def check_command_lines(threads, good, folder):
    for words, line in ((["name at least one", "--help"], []), (["--decoders", "1 to 256"], ["--decoders", "0", good]),
                        (["--queue"], ["--queue", "many", good]), (["--side"], ["--side", "5000", good]),
                        (["not understood"], ["--colour", good]), (["no *.jpg"], [folder]),
                        (["make that folder first"], ["--out", folder + "/none", good]),
                        (["no folder"], ["--out", good, good])):
        result = parts.rejects(2, words, threads, *line)
        assert result.stdout == b"", line
    shown = parts.run(threads, "--help")
    assert shown.returncode == 0 and b"usage: threads" in shown.stdout and shown.stderr == b""
    with open("/dev/full", "wb") as full:
        result = subprocess.run([threads, good], stdout=full, stderr=subprocess.PIPE, check=False, timeout=240)
    assert result.returncode == 2 and b"cannot write the output" in result.stderr, result.stderr


def main():
    threads = parts.program()
    photos = sorted(parts.photos(30), key=os.path.getsize)[:8]
    with tempfile.TemporaryDirectory() as folder:
        check_command_lines(threads, photos[0], folder)
        check_damaged(threads, photos[0], folder)
    check_pictures(threads, photos[:4], 96)
    check_order(threads, photos)
    print("ok")


sys.exit(main())
