# SPDX-License-Identifier: Apache-2.0
"""The boxes of examples/ocr: over the words of rendered pages, and as an independent program finds them.

usage: test_ocr_boxes.py OCR. Pages are drawn with OpenCV's own letters, level and turned, at several
sizes; the real photographs are the corpus. Two runs must print the same bytes.
"""
import json
import math
import os
import sys
import tempfile

import parts

try:
    import cv2
    import numpy
    import ocr_reference
except ImportError as error:
    parts.skip(f"{error}; ./dev setup brings it")

LIMIT = 736
SCORE_TOLERANCE = 0.01  # the two resizings differ by a rounding
OVERLAP_MIN = 0.95      # corners are whole pixels in both
WORDS = ("LIGHT", "METER", "shutter", "aperture", "1/250", "f/5.6")


def page(ground, degrees, letter_scale):
    """The words in two columns, turned, on a picture: the picture and the corners of each word."""
    height, width = ground.shape[:2]
    font, thickness = cv2.FONT_HERSHEY_SIMPLEX, max(2, round(2.2 * letter_scale))
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1)
    ink, corners = numpy.zeros((height, width), numpy.uint8), []
    for i, word in enumerate(WORDS):
        (length, tall), _ = cv2.getTextSize(word, font, letter_scale, thickness)
        x, y = int(width * (0.22 + 0.34 * (i % 2))), int(height * (0.3 + 0.2 * (i // 2)))
        cv2.putText(ink, word, (x, y), font, letter_scale, 255, thickness, cv2.LINE_AA)
        box = numpy.array([[x, y - tall], [x + length, y - tall], [x + length, y], [x, y]], float)
        corners.append(box @ turn[:, :2].T + turn[:, 2])
    ink = cv2.warpAffine(ink, turn, (width, height))[:, :, None] / 255.0
    return (ground * (1 - ink) + (40, 30, 20) * ink).astype(numpy.uint8), corners


def covered(word, boxes, size):
    """The part of the word's area that the boxes cover."""
    mask = numpy.zeros(size, numpy.uint8)
    for box in boxes:
        cv2.fillPoly(mask, [numpy.array(box, numpy.int32)], 1)
    inside = numpy.zeros(size, numpy.uint8)
    cv2.fillPoly(inside, [numpy.round(word).astype(numpy.int32)], 1)
    return (mask & inside).sum() / inside.sum()


def check_words(line, corners, name):
    boxes = [box["points"] for box in line["boxes"]]
    size = (line["height"], line["width"])
    assert len(boxes) == len(corners), f"{name}: {len(boxes)} boxes for {len(corners)} words"
    for word, where in zip(WORDS, corners):
        part = covered(where, boxes, size)
        assert part > 0.95, f"{name}: {part:.2f} of '{word}' is covered"
        own = max(boxes, key=lambda box: ocr_reference.overlap(box, where))
        share = ocr_reference.overlap(own, where)
        assert share > 0.4, f"{name}: the box of '{word}' is {share:.2f} word"


def check_order(line, name):
    """Clockwise from the corner nearest the top left; boxes by line, then from left to right."""
    for box in line["boxes"]:
        points = box["points"]
        assert min(points, key=sum) == points[0], f"{name}: {points} does not begin at the top left"
        area = sum(points[i - 1][0] * points[i][1] - points[i][0] * points[i - 1][1] for i in range(4))
        assert area > 0, f"{name}: {points} does not run clockwise"
        assert 0.6 <= box["score"] <= 1, f"{name}: score {box['score']}"
    tops = [box["points"][0] for box in line["boxes"]]
    for above, below in zip(tops, tops[1:]):
        level = abs(above[1] - below[1]) < 10
        assert above[0] <= below[0] if level else above[1] < below[1], f"{name}: {above}, {below}"


def check_reference(line, expected, name):
    """Every box of one side has its like on the other, but for scores at the very limit."""
    got = [(box["score"], box["points"]) for box in line["boxes"]]
    for mine, theirs, who in ((got, expected, "ocr"), (expected, got, "the reference")):
        for score, box in mine:
            if score < ocr_reference.SCORE_MIN + SCORE_TOLERANCE:
                continue
            like = [other for other, corners in theirs
                    if ocr_reference.overlap(box, corners) > OVERLAP_MIN
                    and math.isclose(other, score, abs_tol=SCORE_TOLERANCE)]
            assert like, f"{name}: only {who} finds {numpy.asarray(box).tolist()} ({score:.3f})"


def pages(folder):
    """Paths of pages of paper and of a photograph with words on it, and the corners of the words."""
    paper = [numpy.full((height, width, 3), (225, 235, 240), numpy.uint8)
             for width, height in ((736, 736), (1600, 1200), (1500, 1500), (2400, 1600), (900, 1400))]
    photo = cv2.resize(cv2.imread(parts.photos(12)[1]), (1600, 1000))
    grounds = paper + [numpy.uint8(photo * 0.4 + 150)]
    made = {}
    for i, (ground, degrees, letter_scale) in enumerate(
            zip(grounds, (0, 0, 12, -25, 5, -8), (1.2, 2.0, 2.0, 2.6, 1.5, 2.0))):
        picture, corners = page(ground, degrees, letter_scale)
        path = os.path.join(folder, f"page{i}.jpg")
        assert cv2.imwrite(path, picture, [cv2.IMWRITE_JPEG_QUALITY, 90])
        made[path] = corners
    return made


def main():
    ocr, model, library = parts.program(), parts.model(), parts.onnxruntime()
    network = ocr_reference.Network(library, model)
    with tempfile.TemporaryDirectory() as folder:
        words = pages(folder)
        paths = list(words) + parts.photos(12)
        command = [ocr, "--limit-side", LIMIT, "--onnxruntime", library, model, *paths]
        result = parts.run(*command)
        assert result.returncode == 0, result.stderr.decode()
        assert result.stdout == parts.run(*command).stdout, "two runs print different bytes"
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        assert [line["photo"] for line in lines] == paths, "a line for each photograph, in order"
        for line in lines:
            name = os.path.basename(line["photo"])
            if line["photo"] in words:
                check_words(line, words[line["photo"]], name)
            check_order(line, name)
            check_reference(line, ocr_reference.detect(network, line["photo"], LIMIT), name)
    count = sum(len(line["boxes"]) for line in lines)
    print(f"ok: {count} boxes on {len(lines)} photographs agree with the reference")


sys.exit(main())
