# SPDX-License-Identifier: Apache-2.0
"""Hook set openjpeg: spans, shapes and scales of a host that encodes and decodes JPEG 2000; opj_* and Pillow.

usage: test_hooks_openjpeg.py HOST HOST_OF_ODD_VERSION
"""
import os
import shutil
import tempfile

import parts
from agent_trace import calls, expect, follow, named, one

WIDTH, HEIGHT, TILE, THREADS = 200, 120, 100, (2, 0)
WHOLE, HALF, LOW_TILE = (WIDTH, HEIGHT, 3, 0), (WIDTH // 2, HEIGHT // 2, 3, 0), (TILE, HEIGHT - TILE, 3, 0)
U8_AS_I32 = (5, 1)
PYTHON = ("/usr/bin/python3", "-B", "-c")
PILLOW = """
import sys
from PIL import Image
picture = Image.linear_gradient("L").resize((160, 120)).convert("RGB")
picture.save(sys.argv[1], irreversible=False)
print(Image.open(sys.argv[1]).tobytes() == picture.tobytes())
"""


def ours(trace):
    return [span for span in trace.spans if span.name.startswith("opj_")]


def check_decode(trace):
    whole, half, again = named(trace, "opj_decode")
    for span, shape, scale in ((whole, WHOLE, (1, 1)), (half, HALF, (1, 2)), (again, WHOLE, (1, 1))):
        assert (span.stage, span.shape, span.source, span.scale, span.values.get("DTYPE")) == \
            ("decode", shape, (WIDTH, HEIGHT), scale, U8_AS_I32), span
    assert [span.values.get("THREADS") for span in (whole, half, again)] == [None, THREADS, None]
    tile = one(trace, "opj_get_decoded_tile")
    assert (tile.stage, tile.shape, tile.values.get("DTYPE")) == ("decode", LOW_TILE, U8_AS_I32), tile
    headers = named(trace, "opj_read_header")
    assert [(span.stage, span.shape) for span in headers] == \
        [("decode", WHOLE)] * 5 + [("decode", None)], headers
    pieces = named(trace, "opj_decode_tile_data")
    assert len(pieces) == 4 and {span.stage for span in pieces} == {"decode"}, pieces
    assert [span.shape for span in pieces] == [(TILE, TILE, 3, 0)] * 2 + [LOW_TILE] * 2, pieces
    assert len({span.values["OUTPUT"] for span in pieces}) == 1, pieces
    # The fifth finds none.
    expect(trace, {"opj_read_tile_header": ("decode", 5), "opj_end_decompress": ("decode", 4)})


def check_encode(trace):
    started, encoded = named(trace, "opj_start_compress"), one(trace, "opj_encode")
    for span in (*started, encoded):
        assert (span.stage, span.shape, span.values.get("THREADS")) == ("encode", WHOLE, THREADS), span
    tiles = named(trace, "opj_write_tile")
    assert len(tiles) == 4 and {span.stage for span in tiles} == {"encode"}, tiles
    assert len({span.values["INPUT"] for span in tiles}) == 1, tiles
    assert {span.values["THREADS"] for span in tiles} == {THREADS}, tiles
    expect(trace, {"opj_end_compress": ("encode", 2)})


def check_host(host, folder):
    _, trace = follow(host, folder)
    check_decode(trace)
    check_encode(trace)
    assert {span.depth for span in ours(trace)} == {0}
    assert not calls(trace, "opj_destroy_codec"), "not timed"


def check_off(host, folder):
    _, trace = follow(host, folder, off=("openjpeg",))
    assert not ours(trace)
    assert trace.coverage["openjpeg"][0] == "uninstrumented", trace.coverage


def check_odd(host):
    """A version 1: times alone, nothing is read, and all four arguments arrive."""
    output, trace = follow(host)
    assert "opj 7 4321" in output, output
    assert {(span.name, span.shape, span.source) for span in ours(trace)} == \
        {("opj_decode", None, None), ("opj_encode", None, None)}, ours(trace)


def check_pillow(path):
    output, trace = follow(*PYTHON, PILLOW, path)
    assert output.split() == ["True"], output
    if not ours(trace):
        parts.skip("this Pillow has an OpenJPEG of its own")
    assert one(trace, "opj_read_header").shape == (160, 120, 3, 0)
    assert one(trace, "opj_start_compress").shape == (160, 120, 3, 0)
    expect(trace, {"opj_decode_tile_data": ("decode", 1), "opj_write_tile": ("encode", 1)})
    assert trace.coverage["openjpeg"][0] == "covered", trace.coverage


def check_programs(path, folder):
    """Programs that nobody wrote for this."""
    if not shutil.which("opj_decompress") or not shutil.which("opj_compress"):
        return
    picture = os.path.join(folder, "picture.ppm")
    _, trace = follow("opj_decompress", "-quiet", "-r", "1", "-i", path, "-o", picture)
    span = one(trace, "opj_decode")
    assert (span.shape, span.source, span.scale) == ((80, 60, 3, 0), (160, 120), (1, 2)), span
    # It prints how long it took.
    _, trace = follow("sh", "-c", 'exec opj_compress "$@" > /dev/null', "sh", "-i", picture, "-o",
                      os.path.join(folder, "copy.j2k"))
    span = one(trace, "opj_encode")
    assert (span.stage, span.shape) == ("encode", (80, 60, 3, 0)), span


def main():
    host, odd = parts.program(1), parts.program(2)
    check_odd(odd)
    with tempfile.TemporaryDirectory() as folder:
        check_host(host, folder)
        check_off(host, folder)
        path = os.path.join(folder, "pillow.jp2")
        check_pillow(path)
        check_programs(path, folder)


if __name__ == "__main__":
    main()
