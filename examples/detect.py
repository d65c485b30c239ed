#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Finds round spots in photographs (lamps, berries, drops, eyes) with a network run by OpenCV's dnn.

Each photograph is read, fitted into a square, turned into a blob, run through the network of
spots_net.py, and the answers are thinned out by NMSBoxes, as with any detector. Prints one line of
JSON for each. The network is real convolution, but its weights are a formula's, not learned: it stands
for a detector's work, and finds what the formula finds. An ordinary program: it knows nothing of
Lightmeter.
"""
import argparse
import json
import os
import sys

import cv2
import numpy

import spots_net

ENDINGS = (".jpg", ".jpeg", ".png", ".webp")
NMS_OVERLAP = 0.2
MARGIN = 2 * spots_net.REACH
RADIUS_OF_SIGMA = 2 * 2 ** 0.5  # sqrt(2) sigmas, in pixels of half the input's size


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("photos", nargs="+", metavar="PHOTO|FOLDER", help="photographs, or folders of them")
    parser.add_argument("--limit", type=int, metavar="N", help="the first N of them only")
    parser.add_argument("--confidence", type=float, default=0.25, metavar="C",
                        help="weakest answer that counts, 0 to 1 (0.25)")
    given = parser.parse_args()
    if (given.limit is not None and given.limit < 1) or not 0 < given.confidence <= 1:
        parser.error("--limit takes a number from 1, --confidence one above 0 and up to 1")
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


def fitted(photo):
    """The photograph in a square of the network's size, and how much smaller it became.

    It gets a mirrored margin as wide as the filters reach, so that its border is not taken for one.
    """
    height, width = photo.shape[:2]
    room = spots_net.SIDE - 2 * MARGIN
    ratio = room / max(height, width)
    size = (max(1, round(width * ratio)), max(1, round(height * ratio)))
    small = cv2.resize(photo, size, interpolation=cv2.INTER_AREA if ratio < 1 else cv2.INTER_LINEAR)
    return cv2.copyMakeBorder(small, MARGIN, MARGIN + room - size[1], MARGIN, MARGIN + room - size[0],
                              cv2.BORDER_REFLECT), ratio


def candidates(spots, confidence, width, height):
    """Boxes (left, top, width, height, in the resized photograph) and scores of what is strong enough.

    Spots that reach over the photograph's border are left out.
    """
    maps, rows, columns = numpy.nonzero(spots > confidence)
    radius = RADIUS_OF_SIGMA * numpy.array(spots_net.SIGMAS)[maps // 2]
    left = columns * spots_net.STEP - MARGIN - radius
    top = rows * spots_net.STEP - MARGIN - radius
    inside = (left >= 0) & (top >= 0) & (left + 2 * radius <= width) & (top + 2 * radius <= height)
    boxes = numpy.stack([left, top, 2 * radius, 2 * radius], 1)
    return boxes[inside], spots[maps, rows, columns][inside]


def detect(net, photo, confidence):
    """The spots of a photograph, the strongest first: left, top, width, height, score."""
    square, ratio = fitted(photo)
    net.setInput(cv2.dnn.blobFromImage(square, 1 / 255, (spots_net.SIDE, spots_net.SIDE), swapRB=True))
    spots = net.forward()[0]
    boxes, scores = candidates(spots, confidence, photo.shape[1] * ratio, photo.shape[0] * ratio)
    kept = cv2.dnn.NMSBoxes(boxes.tolist(), scores.tolist(), confidence, NMS_OVERLAP)
    found = []
    for i in numpy.array(kept, int).reshape(-1):
        left, top, width, height = (int(round(value / ratio)) for value in boxes[i])
        found.append([left, top, width, height, round(float(scores[i]), 3)])
    return found


def main():
    given = arguments()
    paths = paths_of(given.photos)
    if not paths:
        print(f"detect.py: no photographs in {', '.join(given.photos)}; name JPEG, PNG or WebP files",
              file=sys.stderr)
        return 2
    net = cv2.dnn.readNetFromONNX(numpy.frombuffer(spots_net.onnx_bytes(), numpy.uint8))
    skipped = 0
    for path in paths[:given.limit]:
        photo = cv2.imread(path, cv2.IMREAD_COLOR)
        if photo is None:
            print(f"detect.py: skipped {path}: not there, or not a picture OpenCV reads", file=sys.stderr)
            skipped += 1
            continue
        print(json.dumps({"photo": path, "width": photo.shape[1], "height": photo.shape[0],
                          "spots": detect(net, photo, given.confidence)}))
    return 1 if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
