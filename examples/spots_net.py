#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the small convolutional network that detect.py runs: a finder of round spots.

Used by detect.py; run by itself it writes the network to a file. Nothing in it is learned: its weights
are the Laplacian of Gaussian at several widths, the classic spot filter, which answers most strongly
in the middle of a bright or dark disc of matching size. The ONNX file is written byte by byte, with
the standard library alone.

usage: spots_net.py FILE.onnx
"""
import math
import struct
import sys

SIDE = 640      # of the input picture, in pixels
STEP = 4        # of the output: one answer for each 4 x 4 pixels
SIGMAS = (2.5, 3.5, 5.0, 7.0)  # of the filters, in pixels of half the input's size
REACH = 21      # of the filters to each side, three times the widest
FLOAT, INTS = 1, 7


def varint(number):
    out = bytearray()
    while number > 0x7f:
        out.append(number & 0x7f | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def field(number, value):
    """A protobuf field: a whole number, or text, bytes or a message by their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def tensor(name, dims, values):
    return field(5, b"".join(field(1, dim) for dim in dims) + field(2, FLOAT) + field(8, name)
                 + field(9, struct.pack(f"<{len(values)}f", *values)))


def ints(name, *values):
    return field(5, field(1, name) + b"".join(field(8, value) for value in values) + field(20, INTS))


def conv(source, target, weights, side, stride):
    edge = side // 2
    return field(1, field(1, source) + field(1, weights) + field(2, target) + field(3, target)
                 + field(4, "Conv") + ints("kernel_shape", side, side) + ints("strides", stride, stride)
                 + ints("pads", edge, edge, edge, edge))


def relu(source, target):
    return field(1, field(1, source) + field(2, target) + field(3, target) + field(4, "Relu"))


def value_info(number, name, dims):
    shape = b"".join(field(1, field(1, dim)) for dim in dims)
    return field(number, field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, shape))))


def gaussian(reach, sigma):
    """A square Gaussian with the sum 1, row by row."""
    offsets = range(-reach, reach + 1)
    values = [math.exp(-(x * x + y * y) / (2 * sigma * sigma)) for y in offsets for x in offsets]
    return [value / sum(values) for value in values]


def spot_filter(sigma):
    """The negative Laplacian of a Gaussian times sigma squared: 0 on even ground."""
    offsets = range(-REACH, REACH + 1)
    squares = [(x * x + y * y) / (2 * sigma * sigma) for y in offsets for x in offsets]
    values = [(1 - square) * math.exp(-square) / (math.pi * sigma * sigma) for square in squares]
    middle = sum(values) / len(values)
    return [value - middle for value in values]


def onnx_bytes():
    """The network: colours to grey, grey to half the size, eight spot maps at a quarter of it."""
    maps = []
    for sigma in SIGMAS:
        bright = spot_filter(sigma)
        maps += bright + [-value for value in bright]
    side = 2 * REACH + 1
    count = 2 * len(SIGMAS)
    graph = b"".join((
        conv("picture", "grey", "grey_weights", 1, 1),
        conv("grey", "half", "half_weights", 5, 2),
        conv("half", "response", "spot_weights", side, STEP // 2),
        relu("response", "spots"),
        field(2, "spots"),
        tensor("grey_weights", (1, 3, 1, 1), (0.299, 0.587, 0.114)),
        tensor("half_weights", (1, 1, 5, 5), gaussian(2, 1.0)),
        tensor("spot_weights", (count, 1, side, side), maps),
        value_info(11, "picture", (1, 3, SIDE, SIDE)),
        value_info(12, "spots", (1, count, SIDE // STEP, SIDE // STEP)),
    ))
    opset = field(8, field(1, "") + field(2, 11))
    return field(1, 6) + field(2, "lightmeter examples") + field(7, graph) + opset


def main():
    if len(sys.argv) != 2:
        print("usage: spots_net.py FILE.onnx", file=sys.stderr)
        return 2
    try:
        with open(sys.argv[1], "wb") as file:
            file.write(onnx_bytes())
    except OSError as error:
        print(f"spots_net.py: cannot write {sys.argv[1]}: {error.strerror}; name another file",
              file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
