# SPDX-License-Identifier: Apache-2.0
"""A second, independent way to the text boxes of a photograph, to compare examples/ocr with.

Imported by test_ocr_boxes.py. Decoding, resizing, contours and smallest rectangles are OpenCV's, the
score goes by the four edges, the growing of a box is a true offset by a disc; ONNX Runtime is called
through ctypes. Shares nothing with the C program but the definition of the boxes.
"""
import ctypes

import cv2
import numpy

# Positions in ONNX Runtime's table of functions, the same in every version since 1.2.
GET_ERROR_MESSAGE, CREATE_ENV, CREATE_SESSION, RUN, CREATE_SESSION_OPTIONS = 2, 3, 7, 9, 10
INPUT_NAME, OUTPUT_NAME, CREATE_TENSOR, TENSOR_DATA, CPU_MEMORY, ALLOCATOR = 36, 37, 49, 51, 69, 78
API_VERSION = 16
FLOAT = 1

MEAN = numpy.array([0.485, 0.456, 0.406])
DEVIATION = numpy.array([0.229, 0.224, 0.225])
MAP_THRESHOLD, SCORE_MIN, UNCLIP_RATIO, SIDE_MIN = 0.3, 0.6, 1.5, 3


class Network:
    """A session of the model. What it makes lives as long as the process."""

    def __init__(self, library, model):
        self.library = ctypes.CDLL(library)
        self.library.OrtGetApiBase.restype = ctypes.POINTER(ctypes.c_void_p)
        get_api = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)(self.library.OrtGetApiBase()[0])
        self.table = ctypes.cast(get_api(API_VERSION), ctypes.POINTER(ctypes.c_void_p))
        env = self.made(CREATE_ENV, ctypes.c_int(3), b"reference")
        options = self.made(CREATE_SESSION_OPTIONS)
        self.session = self.made(CREATE_SESSION, env, model.encode(), options)
        allocator = self.made(ALLOCATOR)
        first = ctypes.c_size_t(0)
        self.input_name = self.made(INPUT_NAME, self.session, first, allocator)
        self.output_name = self.made(OUTPUT_NAME, self.session, first, allocator)
        self.memory = self.made(CPU_MEMORY, ctypes.c_int(1), ctypes.c_int(0))

    def call(self, position, *arguments):
        status = ctypes.CFUNCTYPE(ctypes.c_void_p)(self.table[position])(*arguments)
        if status:
            message = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)(self.table[GET_ERROR_MESSAGE])
            raise RuntimeError(message(status).decode())

    def made(self, position, *arguments):
        """Calls a function whose last argument takes the new object."""
        out = ctypes.c_void_p()
        self.call(position, *arguments, ctypes.byref(out))
        return out

    def __call__(self, values):
        """The map for an array of 1 x 3 x height x width floats."""
        values = numpy.ascontiguousarray(values, numpy.float32)
        shape = (ctypes.c_int64 * 4)(*values.shape)
        tensor = self.made(CREATE_TENSOR, self.memory, ctypes.c_void_p(values.ctypes.data),
                           ctypes.c_size_t(values.nbytes), shape, ctypes.c_size_t(4), ctypes.c_int(FLOAT))
        output = ctypes.c_void_p()
        one = ctypes.c_size_t(1)
        self.call(RUN, self.session, None, ctypes.byref(self.input_name), ctypes.byref(tensor), one,
                  ctypes.byref(self.output_name), one, ctypes.byref(output))
        data = self.made(TENSOR_DATA, output)
        height, width = values.shape[2:]
        floats = ctypes.cast(data, ctypes.POINTER(ctypes.c_float))
        return numpy.ctypeslib.as_array(floats, (height, width)).copy()


def prepared(photo, limit):
    height, width = photo.shape[:2]
    ratio = min(1.0, limit / max(height, width))
    size = [max(32, int(side * ratio / 32 + 0.5) * 32) for side in (width, height)]
    resized = cv2.resize(photo, size, interpolation=cv2.INTER_LINEAR)
    return ((resized / 255.0 - MEAN) / DEVIATION).transpose(2, 0, 1)[None]


def score(text_map, corners):
    """The mean over the pixels on the inner side of all four edges, which reach half a pixel out."""
    y, x = numpy.mgrid[0:text_map.shape[0], 0:text_map.shape[1]]
    middle = corners.mean(axis=0)
    inside = numpy.ones(text_map.shape, bool)
    for start, end in zip(corners, numpy.roll(corners, -1, axis=0)):
        along = (end - start) / numpy.linalg.norm(end - start)
        normal = numpy.array([-along[1], along[0]])
        normal = normal if normal @ (middle - start) > 0 else -normal
        inside &= (x - start[0]) * normal[0] + (y - start[1]) * normal[1] >= -0.5
    return float(text_map[inside].mean())


def grown(corners):
    """The smallest rectangle around the box when each of its points becomes a disc."""
    area = cv2.contourArea(corners)
    distance = area * UNCLIP_RATIO / cv2.arcLength(corners, True)
    angles = numpy.linspace(0, 2 * numpy.pi, 720, endpoint=False)
    disc = distance * numpy.stack([numpy.cos(angles), numpy.sin(angles)], 1)
    points = (corners[:, None, :] + disc[None, :, :]).reshape(-1, 2)
    return cv2.minAreaRect(points.astype(numpy.float32))


def boxes(text_map, photo_width, photo_height):
    """A list of (score, four corners in the photograph)."""
    binary = (text_map > MAP_THRESHOLD).astype(numpy.uint8)
    contours, _ = cv2.findContours(binary, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    scale = numpy.array([photo_width / text_map.shape[1], photo_height / text_map.shape[0]])
    found = []
    for contour in contours:
        rect = cv2.minAreaRect(contour)
        if min(rect[1]) < SIDE_MIN:
            continue
        corners = cv2.boxPoints(rect)
        sure = score(text_map, corners)
        rect = grown(corners)
        if sure < SCORE_MIN or min(rect[1]) < SIDE_MIN + 2:
            continue
        points = numpy.round(cv2.boxPoints(rect) * scale)
        found.append((sure, numpy.clip(points, 0, [photo_width - 1, photo_height - 1])))
    return found


def detect(network, path, limit):
    photo = cv2.imread(path, cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION)
    return boxes(network(prepared(photo, limit)), photo.shape[1], photo.shape[0])


def overlap(one, other):
    """Shared area of two convex boxes over the area of both together, from 0 to 1."""
    one, other = (cv2.convexHull(numpy.asarray(box, numpy.float32)) for box in (one, other))
    shared = cv2.intersectConvexConvex(one, other)[0]
    return shared / (cv2.contourArea(one) + cv2.contourArea(other) - shared)
