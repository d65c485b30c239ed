# SPDX-License-Identifier: Apache-2.0
"""Hook set libheif: spans, bytes and shapes of a host that encodes and decodes HEIC; heif-convert.

usage: test_hooks_libheif.py HOST
"""
import os
import re
import shutil
import tempfile

import parts
from agent_trace import expect, follow, named, one

WIDTH, HEIGHT = 192, 128
SIZE = (WIDTH, HEIGHT)
U8, U16 = 1, 3
# Channels and number type of the decodes, in the host's order: from a file, memory twice, a reader.
DECODED = [(3, U8), (4, U8), (3, U8), (3, U16)]


def ours(trace):
    return [span for span in trace.spans if span.name.startswith("heif_")]


def check_host(host, folder):
    output, trace = follow(host, folder)
    length = int(re.search(r"^read 0 0 0 0 of (\d+)$", output, re.MULTILINE).group(1))
    spans = named(trace, "heif_decode_image")
    assert {span.stage for span in spans} == {"decode"} and len(spans) == 5, spans
    assert [(span.shape, span.source, span.values.get("DTYPE")) for span in spans[:4]] == \
        [((*SIZE, channels, 0), SIZE, (dtype, U8)) for channels, dtype in DECODED], spans
    assert (spans[4].shape, spans[4].source) == (None, None), "one that failed"
    scaled = one(trace, "heif_image_scale_image")
    assert (scaled.stage, scaled.shape, scaled.source) == \
        ("preprocess", (WIDTH // 2, HEIGHT // 4, 3, 0), SIZE), scaled
    for name in ("heif_context_encode_image", "heif_context_encode_thumbnail"):
        span = one(trace, name)
        assert (span.stage, span.shape) == ("encode", (*SIZE, 3, 0)), span
    expect(trace, {
        "heif_context_read_from_file": ("decode", 1), "heif_context_read_from_memory": ("decode", 3),
        "heif_context_read_from_memory_without_copy": ("decode", 1),
        "heif_context_read_from_reader": ("decode", 1), "heif_context_write_to_file": ("encode", 1),
        "heif_context_write": ("encode", 1),
    })
    given = [sum(span.bytes for span in named(trace, f"heif_context_read_from_memory{more}"))
             for more in ("", "_without_copy")]
    assert given == [2 * length + length // 2, length], (given, length)
    # What the library calls of itself (the thumbnail is encoded as an image) is not recorded apart.
    assert {span.depth for span in ours(trace)} == {0}


def check_off(host, folder):
    _, trace = follow(host, folder, off=("libheif",))
    assert not ours(trace)
    assert trace.coverage["libheif"][0] == "uninstrumented", trace.coverage


def check_program(folder):
    """A program that nobody wrote for this, on the host's picture."""
    if not shutil.which("heif-convert"):
        return
    path = os.path.join(folder, "picture.heic")
    _, trace = follow("heif-convert", path, os.path.join(folder, "picture.png"))
    span = named(trace, "heif_decode_image")[0]
    assert (span.stage, span.shape[:2], span.source) == ("decode", SIZE, SIZE), span
    assert trace.coverage["libheif"][0] == "covered", trace.coverage


def main():
    host = parts.program(1)
    with tempfile.TemporaryDirectory() as folder:
        if parts.run(host, folder).returncode == parts.SKIPPED:
            parts.skip("this libheif has no encoder")
        check_host(host, folder)
        check_off(host, folder)
        check_program(folder)


if __name__ == "__main__":
    main()
