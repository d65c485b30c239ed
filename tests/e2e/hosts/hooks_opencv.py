# SPDX-License-Identifier: Apache-2.0
"""Test host: an OpenCV pipeline in Python, with OpenCV's own inference. Run by test_hooks_opencv.py.

usage: hooks_opencv.py FOLDER NET.onnx. Prints sums of what comes out of each step.
"""
import os
import sys
import zlib

import cv2
import numpy

SIDE = 640


def show(what, array):
    print(what, array.shape, zlib.crc32(numpy.ascontiguousarray(array).tobytes()))


def pictures(folder):
    picture = numpy.add.outer(numpy.arange(600) // 3, numpy.arange(800) // 5).astype(numpy.uint8)
    picture = cv2.merge((picture, picture, 255 - picture))
    cv2.circle(picture, (300, 200), 20, (255, 255, 255), -1)
    path = os.path.join(folder, "python.png")
    assert cv2.imwrite(path, picture)
    image = cv2.imread(path)
    show("imread", image)
    with open(path, "rb") as file:
        show("imdecode", cv2.imdecode(numpy.frombuffer(file.read(), numpy.uint8), cv2.IMREAD_COLOR))
    show("resize", cv2.resize(image, (SIDE, SIDE), interpolation=cv2.INTER_AREA))
    show("grey", cv2.cvtColor(image, cv2.COLOR_BGR2GRAY))
    return image


def infer(path, image):
    net = cv2.dnn.readNetFromONNX(path)
    blob = cv2.dnn.blobFromImage(cv2.cvtColor(image, cv2.COLOR_BGR2RGB), 1 / 255.0, (SIDE, SIDE))
    blobs = cv2.dnn.blobFromImages([image, image, image], 1.0, (64, 48))
    show("blob", blob)
    show("blobs", blobs)
    for _ in range(2):
        net.setInput(blob)
        out = net.forward()
    print("out", out.shape, round(float(numpy.abs(out).sum()), 1))
    boxes = [[i % 40 * 10, i // 40 * 10, 15, 15] for i in range(1600)]
    print("kept", len(cv2.dnn.NMSBoxes(boxes, [1 - i / 2000 for i in range(1600)], 0.1, 0.2)))


def errors(image):
    caught = 0
    for _ in range(100):
        try:
            cv2.resize(image, (0, 0))
        except cv2.error as error:
            caught += "resize" in str(error)
    print(caught, "caught")


def main():
    cv2.setNumThreads(1)
    image = pictures(sys.argv[1])
    infer(sys.argv[2], image)
    errors(image)


if __name__ == "__main__":
    main()
