# SPDX-License-Identifier: Apache-2.0
"""Hook set libwebp: spans, bytes and shapes of a host that encodes and decodes; Pillow and OpenCV in Python.

usage: test_hooks_libwebp.py HOST
"""
import os
import tempfile

import parts
from agent_trace import calls, expect, follow, named, one

WIDTH, HEIGHT = 500, 301
SIZE = (WIDTH, HEIGHT)
CHANNELS = {"RGB": 3, "BGR": 3, "RGBA": 4, "BGRA": 4, "ARGB": 4}
PYTHON = ("/usr/bin/python3", "-B", "-c")
SCRIPT = """
import sys, zlib
import cv2, numpy
from PIL import Image
picture = Image.linear_gradient("L").resize((160, 120)).convert("RGB")
picture.save(sys.argv[1], lossless=True)
print(Image.open(sys.argv[1]).convert("RGB").tobytes() == picture.tobytes())
print(cv2.imread(sys.argv[1])[..., ::-1].tobytes() == picture.tobytes())
assert cv2.imwrite(sys.argv[1], numpy.array(picture)[..., ::-1])
"""


def ours(trace):
    return [span for span in trace.spans if span.name.startswith("WebP")]


def check_encode(trace, made):
    for how, channels in CHANNELS.items():
        for name in (f"WebPEncode{how}", f"WebPEncodeLossless{how}"):
            if how != "ARGB":
                span = one(trace, name)
                assert (span.stage, span.shape, span.bytes) == \
                    ("encode", (*SIZE, channels, 0), made[name]), span
    span = one(trace, "WebPEncode")
    assert (span.stage, span.shape, span.bytes) == ("encode", (*SIZE, 3, 0), 0), span


def check_decode(trace, made):
    lossless, lossy = made["WebPEncodeLosslessRGBA"], made["WebPEncode"]
    for how, channels in CHANNELS.items():
        for name in (f"WebPDecode{how}", f"WebPDecode{how}Into"):
            span = named(trace, name)[0]
            assert (span.stage, span.shape, span.source, span.bytes) == \
                ("decode", (*SIZE, channels, 0), SIZE, lossless), span
    for name in ("WebPDecodeYUV", "WebPDecodeYUVInto"):
        span = one(trace, name)
        assert (span.stage, span.shape, span.source, span.bytes) == \
            ("decode", (*SIZE, 3, 0), SIZE, lossy), span
    whole, scaled = named(trace, "WebPDecode")
    assert (whole.stage, whole.shape, whole.source, whole.bytes) == \
        ("decode", (*SIZE, 3, 0), SIZE, lossy), whole
    assert (scaled.shape, scaled.source, scaled.bytes) == \
        ((WIDTH // 2, HEIGHT // 3, 4, 0), SIZE, lossless), scaled


def check_pieces(trace, made):
    """Bytes once each; the shape and the time of all when the picture is whole."""
    rates = []
    for name, total in (("WebPIAppend", made["WebPEncodeLosslessRGBA"]), ("WebPIUpdate", made["WebPEncode"])):
        pieces = named(trace, name)
        assert ({span.stage for span in pieces}, calls(trace, name)) == ({"decode"}, 5), pieces
        assert sum(span.bytes for span in pieces) == total, pieces
        assert [span.shape for span in pieces] == [None] * 4 + [(*SIZE, 0, 0)], pieces
        # From the first piece to the end of the last, which alone has it.
        assert ["ELAPSED" in span.values for span in pieces] == [False] * 4 + [True], pieces
        least = pieces[-1].end - (pieces[0].end - pieces[0].duration)
        rates.append(pieces[-1].values["ELAPSED"][0] / least)
    assert 0.5 < rates[0] / rates[1] < 2, rates


def check_headers(trace):
    for name in ("WebPGetInfo", "WebPGetFeaturesInternal"):
        expect(trace, {name: ("decode", 1000)})
        assert len(named(trace, name)) <= 8, f"{name} is not folded: {len(named(trace, name))} records"


def check_host(host):
    output, trace = follow(host)
    assert "42 damaged" in output, output
    words = [line.split() for line in output.splitlines() if line.startswith("WebPEncode")]
    made = {name: int(count) for name, count in words}
    check_encode(trace, made)
    check_decode(trace, made)
    check_pieces(trace, made)
    check_headers(trace)
    damaged = named(trace, "WebPDecodeBGR")[1:]
    assert len(damaged) == 42 and {span.shape for span in damaged} == {None}, damaged
    # What the library calls of itself (WebPEncodeRGB calls WebPEncode) is not recorded apart.
    assert {span.depth for span in ours(trace)} == {0}


def check_off(host):
    _, trace = follow(host, off=("libwebp",))
    assert not ours(trace)
    assert trace.coverage["libwebp"][0] == "uninstrumented", trace.coverage


def check_python(folder):
    output, trace = follow(*PYTHON, SCRIPT, os.path.join(folder, "python.webp"))
    assert output.split() == ["True"] * 2, output
    if not ours(trace):
        parts.skip("these Pillow and OpenCV have a libwebp of their own")
    assert one(trace, "WebPEncode").shape == (160, 120, 4, 0)
    expect(trace, {"WebPDecode": ("decode", 1), "WebPDecodeBGRInto": ("decode", 1),
                   "WebPEncodeLosslessBGR": ("encode", 1)})
    assert one(trace, "WebPDecode").shape == (160, 120, 4, 0)
    assert one(trace, "WebPDecodeBGRInto").shape == (160, 120, 3, 0)
    assert trace.coverage["libwebp"][0] == "covered", trace.coverage


def main():
    host = parts.program(1)
    with tempfile.TemporaryDirectory() as folder:
        check_host(host)
        check_off(host)
        check_python(folder)


if __name__ == "__main__":
    main()
