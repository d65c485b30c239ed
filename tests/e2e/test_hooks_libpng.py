# SPDX-License-Identifier: Apache-2.0
"""Hook set libpng: spans, shapes and folds of a host that writes and reads PNG; longjmps; OpenCV in Python.

usage: test_hooks_libpng.py HOST
"""
import os
import tempfile

import parts
from agent_trace import calls, expect, follow, named, one

WIDTH, HEIGHT, DAMAGED_HEIGHT = 500, 300, 60
RGB, RGBA = (WIDTH, HEIGHT, 3, 0), (WIDTH, HEIGHT, 4, 0)
PYTHON = ("/usr/bin/python3", "-B", "-c")
OPENCV = """
import sys, zlib, cv2, numpy
picture = numpy.add.outer(numpy.arange(120), numpy.arange(160)).astype(numpy.uint8)
picture = cv2.merge((picture, 255 - picture, picture))
assert cv2.imwrite(sys.argv[1], picture)
for _ in range(3):
    print(zlib.crc32(cv2.imread(sys.argv[1]).tobytes()) == zlib.crc32(picture.tobytes()))
"""


def ours(trace):
    return [span for span in trace.spans if span.name.startswith("png_")]


def timed(trace):
    return [span for span in named(trace, "png_read_end") if "ELAPSED" in span.values]


def check_plain(host):
    """By row, ten rows at a time, whole with interlacing, and at once."""
    _, trace = follow(host, "plain")
    expect(trace, {
        "png_write_info": ("encode", 3), "png_write_row": ("encode", HEIGHT),
        "png_write_rows": ("encode", HEIGHT // 10), "png_write_image": ("encode", 1),
        "png_write_png": ("encode", 1), "png_write_end": ("encode", 3),
        "png_read_info": ("decode", 3), "png_read_update_info": ("decode", 3),
        "png_read_row": ("decode", HEIGHT), "png_read_rows": ("decode", HEIGHT // 10),
        "png_read_image": ("decode", 1), "png_read_png": ("decode", 1), "png_read_end": ("decode", 3),
        "png_destroy_write_struct": ("encode", 4), "png_destroy_read_struct": ("decode", 4),
    })
    for name in ("png_write_info", "png_write_image", "png_write_png", "png_read_info", "png_read_png"):
        assert {span.shape for span in named(trace, name)} == {RGB}, named(trace, name)
    # After the alpha that was asked for.
    assert one(trace, "png_read_image").shape == RGBA
    for name in ("png_write_row", "png_read_row"):
        assert len(named(trace, name)) <= 8, f"{name} is not folded: {len(named(trace, name))} records"
    # What the library calls of itself (png_read_png calls png_read_info) is not recorded apart.
    assert {span.depth for span in ours(trace)} == {0}
    check_elapsed(trace)


def check_elapsed(trace):
    """The two pictures that were read by rows, from their first call to the one that ends them."""
    starts, ends = named(trace, "png_read_info"), timed(trace)
    assert len(starts) == 3 and len(ends) == 2, (starts, ends)
    rates = []
    for start, end in zip(starts, ends):
        least = end.end - (start.end - start.duration)
        assert least > 0 and end.values["ELAPSED"][0] > 0, (start, end)
        rates.append(end.values["ELAPSED"][0] / least)
    assert 0.5 < rates[0] / rates[1] < 2, rates


def check_simple(host, folder):
    output, trace = follow(host, "simple", os.path.join(folder, "simple.png"))
    encoded = int(output.split()[0])
    assert "1 0" in output.splitlines()[-1], output
    expect(trace, {
        "png_image_write_to_memory": ("encode", 1), "png_image_write_to_file": ("encode", 1),
        "png_image_write_to_stdio": ("encode", 1), "png_image_begin_read_from_memory": ("decode", 2),
        "png_image_begin_read_from_file": ("decode", 1),
        "png_image_begin_read_from_stdio": ("decode", 1), "png_image_finish_read": ("decode", 4),
    })
    assert one(trace, "png_image_write_to_memory").bytes == encoded
    begun = named(trace, "png_image_begin_read_from_memory")
    assert sum(span.bytes for span in begun) == encoded + encoded // 2, begun
    assert {span.name[:9] for span in ours(trace)} == {"png_image"}, "what goes on inside is not apart"
    assert {span.depth for span in ours(trace)} == {0}


def check_damaged(host):
    """Each picture is cut while it is read and while it is written: two longjmps through the hooks."""
    count = 200
    output, trace = follow(host, "damaged", count)
    left, rows = (int(words.split()[0]) for words in output.splitlines()[0].split(", "))
    assert left == 2 * count, output
    assert calls(trace, "png_read_row") + calls(trace, "png_write_row") == rows > count, (rows, output)
    assert {span.depth for span in ours(trace)} == {0}, "abandoned spans pile up"
    assert max(span.depth for span in trace.spans) <= 1, "abandoned spans pile up"
    # Of four pictures three go by parts and one at once; the good one ends the run.
    assert calls(trace, "png_read_info") == count * 3 // 4 + 1
    assert calls(trace, "png_write_info") == count * 3 // 4 + 2
    assert calls(trace, "png_destroy_read_struct") == count + 1
    assert calls(trace, "png_destroy_write_struct") == count + 2
    assert calls(trace, "png_read_png") == calls(trace, "png_write_png") == count // 4
    # Pictures that were given up took no time that could be told, and none is taken for another's.
    assert not timed(trace), timed(trace)
    last = named(trace, "png_read_image")[-1], named(trace, "png_write_image")[-1]
    assert [span.shape for span in last] == [(WIDTH, DAMAGED_HEIGHT, 4, 0), (WIDTH, DAMAGED_HEIGHT, 3, 0)]


def check_off(host):
    _, trace = follow(host, "plain", off=("libpng",))
    assert not ours(trace)
    assert trace.coverage["libpng"][0] == "uninstrumented", trace.coverage


def check_python(folder):
    output, trace = follow(*PYTHON, OPENCV, os.path.join(folder, "python.png"))
    assert output.split() == ["True"] * 3, output
    if not ours(trace):
        parts.skip("this OpenCV has a libpng of its own")
    expect(trace, {"png_write_info": ("encode", 1), "png_write_image": ("encode", 1),
                   "png_read_info": ("decode", 3), "png_read_image": ("decode", 3)})
    for span in named(trace, "png_read_image") + named(trace, "png_write_image"):
        assert (span.shape, span.depth) == ((160, 120, 3, 0), 1), span
    assert trace.coverage["libpng"][0] == "covered", trace.coverage


def main():
    host = parts.program(1)
    with tempfile.TemporaryDirectory() as folder:
        check_plain(host)
        check_simple(host, folder)
        check_damaged(host)
        check_off(host)
        check_python(folder)


if __name__ == "__main__":
    main()
