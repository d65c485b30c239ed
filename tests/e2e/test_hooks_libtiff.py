# SPDX-License-Identifier: Apache-2.0
"""Hook set libtiff: spans, bytes and shapes of a host that writes and reads TIFF; tiffcp and Pillow.

usage: test_hooks_libtiff.py HOST
"""
import os
import re
import shutil
import tempfile

import parts
from agent_trace import calls, expect, follow, named, one

WIDTH, HEIGHT, STRIPS, TILES = 320, 240, 4, 12
SIZE = (WIDTH, HEIGHT)
RGB, RGBA, HALF = (*SIZE, 3, 0), (*SIZE, 4, 0), (WIDTH, HEIGHT // 2, 3, 0)
U8 = (1, 1)
PYTHON = ("/usr/bin/python3", "-B", "-c")
PILLOW = """
import sys
from PIL import Image
picture = Image.linear_gradient("L").resize((160, 120)).convert("RGB")
picture.save(sys.argv[1], compression="tiff_lzw")
print(Image.open(sys.argv[1]).tobytes() == picture.tobytes())
"""


def ours(trace):
    return [span for span in trace.spans if span.name.startswith("TIFF")]


def number(output, pattern):
    return int(re.search(pattern, output, re.MULTILINE).group(1))


def total_bytes(trace, name):
    return sum(span.bytes for span in named(trace, name))


def check_files(trace):
    """What was opened, to read or to write, and the shape of what is there."""
    opened = named(trace, "TIFFOpen")
    assert [span.stage for span in opened] == ["encode", "decode"] * 3 + ["decode"] * 2, opened
    assert [span.shape for span in opened] == [None, RGB] * 3 + [RGB, None], opened
    assert {span.values.get("DTYPE") for span in opened if span.shape} == {U8}, opened
    client = one(trace, "TIFFClientOpen")
    assert (client.stage, client.shape) == ("decode", RGB), client
    closed = named(trace, "TIFFClose")
    assert calls(trace, "TIFFClose") == 8 and {span.stage for span in closed} == {"decode", "encode"}
    # The second page, whose directory was still to be written.
    assert HALF in {span.shape for span in closed if span.stage == "encode"}, closed
    written = one(trace, "TIFFWriteDirectory")
    assert (written.stage, written.shape, written.values.get("DTYPE")) == ("encode", RGB, U8), written
    expect(trace, {"TIFFReadDirectory": ("decode", 2), "TIFFSetDirectory": ("decode", 1),
                   "TIFFFlush": ("encode", 1)})


def check_rows(trace):
    rows = HEIGHT + HEIGHT // 2
    expect(trace, {"TIFFWriteScanline": ("encode", rows), "TIFFReadScanline": ("decode", rows)})
    for name in ("TIFFWriteScanline", "TIFFReadScanline"):
        assert len(named(trace, name)) <= 40, f"{name} is not folded: {len(named(trace, name))} records"


def check_striles(trace, output):
    """What strips and tiles take in the file, once each."""
    strips, tiles = number(output, r"^strips (\d+)$"), number(output, r"^tiles (\d+)$")
    assert number(output, r"^raw (\d+)$") == strips, output
    expect(trace, {
        "TIFFWriteEncodedStrip": ("encode", STRIPS), "TIFFReadEncodedStrip": ("decode", STRIPS + 1),
        "TIFFReadRawStrip": ("decode", STRIPS), "TIFFWriteTile": ("encode", TILES),
        "TIFFReadTile": ("decode", TILES), "TIFFReadEncodedTile": ("decode", TILES + 1),
    })
    for name in ("TIFFWriteEncodedStrip", "TIFFReadEncodedStrip", "TIFFReadRawStrip"):
        assert total_bytes(trace, name) == strips, (name, named(trace, name), strips)
    for name in ("TIFFWriteTile", "TIFFReadTile", "TIFFReadEncodedTile"):
        assert total_bytes(trace, name) == tiles, (name, named(trace, name), tiles)


def check_rasters(trace):
    whole, part = one(trace, "TIFFReadRGBAImage"), one(trace, "TIFFRGBAImageGet")
    assert (whole.stage, whole.shape, whole.source, whole.values.get("DTYPE")) == \
        ("decode", RGBA, SIZE, U8), whole
    assert (part.stage, part.shape) == ("decode", (WIDTH // 2, HEIGHT // 2, 4, 0)), part
    expect(trace, {"TIFFRGBAImageBegin": ("decode", 1)})


def timed(trace):
    return [span for span in ours(trace) if "ELAPSED" in span.values]


def check_pictures(trace):
    """Two pages by rows, one by strips and one by tiles; the rasters are in one call, and damage is none."""
    ends = timed(trace)
    assert [(span.name, span.stage) for span in ends] == \
        [(name, "decode") for name in 2 * ["TIFFReadDirectory"] + 2 * ["TIFFClose"]], ends
    assert min(span.values["ELAPSED"][0] for span in ends) > 0, ends


def check_pair(host, folder):
    """Each from its opening to its last strip, also where two are read in turn; the one looked through is none."""
    output, trace = follow(host, folder, "pair")
    assert number(output, r"^pair (\d+)") == 3 * WIDTH * HEIGHT * 3, output
    opened = [span for span in named(trace, "TIFFOpen") if span.stage == "decode"][1:]
    read = named(trace, "TIFFReadEncodedStrip")[STRIPS + 1:]
    ends = timed(trace)[1:]
    assert len(opened) == 4 and len(ends) == 3 and len(read) == 3 * STRIPS, (opened, read, ends)
    last = [read[2 * STRIPS - 2], read[2 * STRIPS - 1], read[-1]]
    rates = [end.values["ELAPSED"][0] / (strip.end - (start.end - start.duration))
             for start, strip, end in zip(opened, last, ends)]
    assert max(rates) < 2 * min(rates), rates


def check_host(host, folder):
    output, trace = follow(host, folder)
    assert "no such strip -1" in output and "damaged -1" in output and "not there 0, errno 2" in output, output
    check_files(trace)
    check_rows(trace)
    check_striles(trace, output)
    check_rasters(trace)
    check_pictures(trace)
    # What the library calls of itself (TIFFReadRGBAImage calls TIFFReadTile) is not recorded apart.
    assert {span.depth for span in ours(trace)} == {0}


def check_off(host, folder):
    _, trace = follow(host, folder, off=("libtiff",))
    assert not ours(trace)
    assert trace.coverage["libtiff"][0] == "uninstrumented", trace.coverage


def check_pillow(path):
    output, trace = follow(*PYTHON, PILLOW, path)
    assert output.split() == ["True"], output
    if not ours(trace):
        parts.skip("this Pillow has a libtiff of its own")
    assert trace.coverage["libtiff"][0] == "covered", trace.coverage
    assert {span.stage for span in ours(trace)} == {"decode", "encode"}
    for stage in ("decode", "encode"):
        assert (160, 120, 3, 0) in {span.shape for span in ours(trace) if span.stage == stage}, ours(trace)
    assert total_bytes(trace, "TIFFReadEncodedStrip") > 0


def check_tools(path, folder):
    """libtiff's own programs, which nobody wrote for this."""
    if not shutil.which("tiffcp"):
        return
    _, trace = follow("tiffcp", "-c", "none", path, os.path.join(folder, "copy.tif"))
    opened = named(trace, "TIFFOpenExt")
    assert {span.stage for span in opened} == {"decode", "encode"}, opened
    assert (160, 120, 3, 0) in {span.shape for span in opened}, opened
    assert {"decode", "encode"} <= {span.stage for span in ours(trace) if "Scanline" in span.name or "Strip" in span.name}
    if shutil.which("tiffinfo"):
        _, trace = follow("tiffinfo", "-d", path)
        assert one(trace, "TIFFOpenExt").shape == (160, 120, 3, 0)


def main():
    host = parts.program(1)
    with tempfile.TemporaryDirectory() as folder:
        check_host(host, folder)
        check_pair(host, folder)
        check_off(host, folder)
        path = os.path.join(folder, "pillow.tif")
        check_pillow(path)
        check_tools(path, folder)


if __name__ == "__main__":
    main()
