# SPDX-License-Identifier: Apache-2.0
"""Hook set libavif: spans, bytes and shapes of a host that encodes, converts and decodes; avifenc and avifdec.

usage: test_hooks_libavif.py HOST HOST_OF_ODD_VERSION
"""
import os
import re
import shutil
import tempfile

import parts
from agent_trace import expect, follow, named, one

WIDTH, HEIGHT, THREADS = 192, 128, (2, 0)
# The host's pictures: grey with alpha, and colour.
GREY, COLOUR = (WIDTH, HEIGHT, 2, 0), (WIDTH, HEIGHT, 3, 0)
U8, U16 = 1, 3
RGB, RGBA, BGR, BGRA = 0, 1, 3, 4  # avifRGBFormat


def ours(trace):
    return [span for span in trace.spans if span.name.startswith("avif")]


def check_decode(trace, whole, sequence):
    for name, count in (("avifDecoderRead", 0), ("avifDecoderReadFile", 0),
                        ("avifDecoderReadMemory", whole)):
        span = named(trace, name)[0]
        assert (span.stage, span.shape, span.bytes, span.values.get("THREADS"), span.values.get("DTYPE")) == \
            ("decode", GREY, count, THREADS, (U8, U8)), span
    damaged = named(trace, "avifDecoderReadMemory")[1]
    assert (damaged.shape, damaged.bytes) == (None, whole // 2), damaged
    parsed = one(trace, "avifDecoderParse")
    assert (parsed.stage, parsed.shape) == ("decode", COLOUR), parsed
    pictures = named(trace, "avifDecoderNextImage") + named(trace, "avifDecoderNthImage")
    assert [(span.stage, span.shape) for span in pictures] == \
        [("decode", COLOUR), ("decode", COLOUR), ("decode", None), ("decode", COLOUR)], pictures
    assert pictures[0].values["THREADS"] == THREADS, pictures[0]
    given = sum(span.bytes for span in named(trace, "avifDecoderSetIOMemory"))
    assert given == whole + sequence, (given, whole, sequence)
    expect(trace, {"avifDecoderSetIOMemory": ("decode", 2)})


def check_encode(trace, whole, sequence):
    written, finished = one(trace, "avifEncoderWrite"), one(trace, "avifEncoderFinish")
    assert (written.stage, written.shape, written.bytes, written.values.get("THREADS")) == \
        ("encode", GREY, whole, THREADS), written
    assert (finished.stage, finished.bytes) == ("encode", sequence), finished
    added = named(trace, "avifEncoderAddImage")
    assert [(span.stage, span.shape) for span in added] == [("encode", COLOUR)] * 2, added
    grid = one(trace, "avifEncoderAddImageGrid")
    assert (grid.stage, grid.shape) == ("encode", (*COLOUR[:3], 4)), grid


def check_conversions(trace):
    def shown(name):
        return [(span.stage, span.shape, span.values.get("COLOUR"), span.values.get("DTYPE"))
                for span in named(trace, name)]
    # The grey picture has no alpha plane before the conversion that brings one.
    assert shown("avifImageRGBToYUV") == [
        ("convert", COLOUR, (RGB, 0), (U8, U8)), ("convert", (WIDTH, HEIGHT, 1, 0), (BGRA, 0), (U8, U8))]
    assert shown("avifImageYUVToRGB") == [
        ("convert", COLOUR, (BGR, 0), (U8, U8)),
        ("convert", (WIDTH, HEIGHT, 4, 0), (RGBA, 0), (U16, U8))]


def check_host(host, folder):
    output, trace = follow(host, folder)
    whole, sequence = (int(count) for count in re.findall(r"(\d+) bytes$", output, re.MULTILINE))
    check_decode(trace, whole, sequence)
    check_encode(trace, whole, sequence)
    check_conversions(trace)
    # What the library calls of itself (avifDecoderRead calls avifDecoderParse) is not recorded apart.
    assert {span.depth for span in ours(trace)} == {0}


def check_off(host, folder):
    _, trace = follow(host, folder, off=("libavif",))
    assert not ours(trace)
    assert trace.coverage["libavif"][0] == "uninstrumented", trace.coverage


def check_odd(host):
    """A version whose structs are not known: times alone, and nothing is read."""
    output, trace = follow(host)
    assert "avif 0 0 0" in output, output
    spans = ours(trace)
    assert {span.name for span in spans} == {"avifDecoderParse", "avifDecoderNextImage", "avifImageYUVToRGB"}, spans
    assert {(span.shape, span.bytes) for span in spans} == {(None, 0)}, spans


def check_programs(folder):
    """Programs that nobody wrote for this, on the host's picture."""
    if not shutil.which("avifdec") or not shutil.which("avifenc"):
        return
    path, png = os.path.join(folder, "picture.avif"), os.path.join(folder, "picture.png")
    _, trace = follow("avifdec", "-j", "1", path, png)
    span = (named(trace, "avifDecoderNextImage") + named(trace, "avifDecoderNthImage"))[0]
    assert (span.stage, span.shape, span.values["THREADS"]) == ("decode", GREY, (1, 0)), span
    assert trace.coverage["libavif"][0] == "covered", trace.coverage
    _, trace = follow("avifenc", "-s", "10", "-j", "1", png, os.path.join(folder, "copy.avif"))
    assert {"encode", "convert"} == {span.stage for span in ours(trace)}, ours(trace)
    assert named(trace, "avifEncoderAddImage")[0].shape[:2] == (WIDTH, HEIGHT)
    assert one(trace, "avifEncoderFinish").bytes == os.path.getsize(os.path.join(folder, "copy.avif"))


def main():
    host, odd = parts.program(1), parts.program(2)
    check_odd(odd)
    with tempfile.TemporaryDirectory() as folder:
        check_host(host, folder)
        check_off(host, folder)
        check_programs(folder)


if __name__ == "__main__":
    main()
