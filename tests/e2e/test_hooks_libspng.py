# SPDX-License-Identifier: Apache-2.0
"""Hook set libspng: spans, bytes, shapes and folds of a host that encodes and decodes PNG; vips where it has libspng.

usage: test_hooks_libspng.py HOST
"""
import os
import re
import shutil
import tempfile

import parts
from agent_trace import expect, follow, named

WIDTH, HEIGHT = 320, 240
U8, U16 = 1, 3
# Of the whole decodes, in the host's order: channels, and number type in memory and in the file.
DECODED = [(4, U8, U8), (4, U16, U8), (3, U8, U8), (4, U8, U8), (1, U8, U8), (1, U8, U8)]
PROGRESSIVE = "spng_decode_image (progressive)"


def ours(trace):
    return [span for span in trace.spans if span.name.startswith("spng_")]


def check_decode(trace, made):
    # Six that succeed; one is cut, two have nothing to decode.
    spans = named(trace, "spng_decode_image")
    assert {span.stage for span in spans} == {"decode"} and len(spans) == 9, spans
    shapes = [(span.shape, span.values.get("DTYPE")) for span in spans[:6]]
    assert shapes == [((WIDTH, HEIGHT, channels, 0), (memory, file))
                      for channels, memory, file in DECODED], shapes
    assert {span.shape for span in spans[6:]} == {None}, spans[6:]
    assert len({span.values["OUTPUT"] for span in spans[:6]}) == 1, spans
    expect(trace, {"spng_get_ihdr": ("decode", 7), "spng_decoded_image_size": ("decode", 7),
                   "spng_set_png_buffer": ("decode", 14)})
    given = sum(span.bytes for span in named(trace, "spng_set_png_buffer"))
    assert given == 4 * made[0] + 2 * made[1] + 6 * made[2] + made[3] + made[0] // 2, (given, made)


def check_rows(trace, counts):
    """By rows, by scanlines, the upper half, two in turn, interlaced, and one that is damaged: five are whole."""
    whole, scanlines, half, passes, damaged = counts
    assert (whole, scanlines, half) == (HEIGHT, HEIGHT, HEIGHT // 2), counts
    assert HEIGHT < passes < 2 * HEIGHT and 0 < damaged < HEIGHT, counts
    # What the library calls of itself (spng_decode_row calls spng_decode_scanline) is not recorded apart.
    expect(trace, {PROGRESSIVE: ("decode", 7), "spng_decode_row": ("decode", whole + half + passes + damaged + 2 * HEIGHT),
                   "spng_decode_scanline": ("decode", HEIGHT), "spng_decode_chunks": ("decode", 5)})
    starts = named(trace, PROGRESSIVE)
    assert {(span.shape, span.values["DTYPE"]) for span in starts} == \
        {((WIDTH, HEIGHT, 4, 0), (U8, U8))}, starts
    ends = [span for span in ours(trace) if "ELAPSED" in span.values]
    assert [span.name for span in ends] == \
        ["spng_decode_row", "spng_decode_scanline"] + 3 * ["spng_decode_row"], ends
    rates = []
    for start, end in zip(starts[:2] + starts[3:6], ends):
        least = end.end - (start.end - start.duration)
        assert least > 0 and end.values["ELAPSED"][0] > 0, (start, end)
        rates.append(end.values["ELAPSED"][0] / least)
    assert max(rates) < 2 * min(rates), rates


def check_encode(trace, made):
    spans = named(trace, "spng_encode_image")
    assert [(span.stage, span.shape, span.values.get("DTYPE")) for span in spans] == \
        [("encode", (WIDTH, HEIGHT, channels, 0), (U8, U8)) for channels in (4, 1, 4, 4)], spans
    assert spans[0].values["INPUT"] == spans[1].values["INPUT"] != (0, 0), spans
    expect(trace, {"spng_encode_row": ("encode", HEIGHT), "spng_get_png_buffer": ("encode", 4)})
    total = sum(span.bytes for span in named(trace, "spng_get_png_buffer"))
    assert total == sum(made), (total, made)


def check_host(host):
    output, trace = follow(host)
    made = [int(count) for count in re.findall(r"^made (\d+)", output, re.MULTILINE)]
    check_decode(trace, made)
    check_rows(trace, [int(count) for count in re.findall(r"^rows (\d+), -?\d+, chunks", output, re.MULTILINE)])
    check_encode(trace, made)
    for name in ("spng_decode_row", "spng_encode_row"):
        assert len(named(trace, name)) <= 40, f"{name} is not folded: {len(named(trace, name))} records"
    assert {span.depth for span in ours(trace)} == {0}


def check_off(host):
    _, trace = follow(host, off=("libspng",))
    assert not ours(trace)
    assert trace.coverage["libspng"][0] == "uninstrumented", trace.coverage


def check_vips(folder):
    """A program that nobody wrote for this, where its libvips reads PNG with libspng."""
    if not shutil.which("vips"):
        return
    path, copy = os.path.join(folder, "vips.png"), os.path.join(folder, "copy.png")
    parts.run("vips", "gaussnoise", path, "200", "100")
    _, trace = follow("vips", "copy", path, copy)
    if ours(trace):
        assert {"decode"} <= {span.stage for span in ours(trace)}, ours(trace)
        assert trace.coverage["libspng"][0] == "covered", trace.coverage


def main():
    host = parts.program(1)
    check_host(host)
    check_off(host)
    with tempfile.TemporaryDirectory() as folder:
        check_vips(folder)


if __name__ == "__main__":
    main()
