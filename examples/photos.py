#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how much fine structure photographs have, with OpenCV and nothing learned.

Each photograph is read, made smaller, made grey, smoothed, and searched for edges and for the outlines
of its bright areas. Prints one line for each. An ordinary program: it knows nothing of Lightmeter.
"""
import argparse
import os
import sys

import cv2

ENDINGS = (".jpg", ".jpeg", ".png", ".webp")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("photos", nargs="+", metavar="PHOTO|FOLDER", help="photographs, or folders of them")
    parser.add_argument("--limit", type=int, metavar="N", help="the first N of them only")
    parser.add_argument("--side", type=int, default=1024, metavar="PX",
                        help="longer side of the pictures that are looked at (1024)")
    given = parser.parse_args()
    if (given.limit is not None and given.limit < 1) or not 16 <= given.side <= 8192:
        parser.error("--limit takes a number from 1, --side one from 16 to 8192")
    return given


def paths_of(named):
    """The photographs named, and those of the folders named, sorted by name."""
    paths = []
    for path in named:
        if os.path.isdir(path):
            paths += [os.path.join(path, name) for name in sorted(os.listdir(path))
                      if name.lower().endswith(ENDINGS)]
        else:
            paths.append(path)
    return paths


def shrunk(photo, side):
    height, width = photo.shape[:2]
    ratio = min(1.0, side / max(height, width))
    size = (max(1, round(width * ratio)), max(1, round(height * ratio)))
    return cv2.resize(photo, size, interpolation=cv2.INTER_AREA)


def structure(photo, side):
    """The share of edge pixels, and the outlines of bright areas that are worth the name."""
    small = shrunk(photo, side)
    grey = cv2.cvtColor(small, cv2.COLOR_BGR2GRAY)
    smooth = cv2.GaussianBlur(grey, (5, 5), 0)
    edges = cv2.Canny(smooth, 50, 150)
    level, bright = cv2.threshold(smooth, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    outlines, _ = cv2.findContours(bright, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    large = [outline for outline in outlines if cv2.contourArea(outline) > 30]
    return cv2.countNonZero(edges) / edges.size, int(level), len(large)


def main():
    given = arguments()
    paths = paths_of(given.photos)
    if not paths:
        print(f"photos.py: no photographs in {', '.join(given.photos)}; name JPEG, PNG or WebP files",
              file=sys.stderr)
        return 2
    skipped = 0
    for path in paths[:given.limit]:
        photo = cv2.imread(path, cv2.IMREAD_COLOR)
        if photo is None:
            print(f"photos.py: skipped {path}: not there, or not a picture OpenCV reads", file=sys.stderr)
            skipped += 1
            continue
        share, level, outlines = structure(photo, given.side)
        print(f"{path} {photo.shape[1]}x{photo.shape[0]} edges={share:.4f} level={level} "
              f"outlines={outlines}")
    return 1 if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
