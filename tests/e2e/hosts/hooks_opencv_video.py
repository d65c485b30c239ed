# SPDX-License-Identifier: Apache-2.0
"""Test host: reads a video with cv2, whose calls are virtual. Run by test_hooks_opencv_modules.py.

usage: hooks_opencv_video.py VIDEO
"""
import sys
import zlib

import cv2
import numpy


def main():
    capture = cv2.VideoCapture(sys.argv[1], cv2.CAP_OPENCV_MJPEG)
    count, total = 0, 0
    while True:
        found, frame = capture.read()
        if not found:
            break
        count += 1
        total = zlib.crc32(frame.tobytes(), total)
    print(count, "frames", total)
    hog = cv2.HOGDescriptor()
    hog.setSVMDetector(cv2.HOGDescriptor_getDefaultPeopleDetector())
    print(len(hog.detectMultiScale(numpy.zeros((240, 320, 3), numpy.uint8))[0]), "people")


if __name__ == "__main__":
    main()
