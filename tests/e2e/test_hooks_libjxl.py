# SPDX-License-Identifier: Apache-2.0
"""Hook set libjxl: spans, bytes and shapes of a host that encodes and decodes JPEG XL; vips where it has libjxl.

usage: test_hooks_libjxl.py HOST
"""
import os
import re
import shutil
import tempfile

import parts
from agent_trace import calls, expect, follow, named

WIDTH, HEIGHT = 200, 120
U8, U16, F32 = 1, 3, 6
# Of the whole pictures, in the host's order: channels, number type as made and as stored.
DECODED = [(3, (U8, U8)), (4, (F32, U8)), (3, (U16, U8))]


def ours(trace):
    return [span for span in trace.spans if span.name.startswith("Jxl")]


def check_host(host):
    output, trace = follow(host)
    made = int(re.search(r"^made (\d+)$", output, re.MULTILINE).group(1))
    given = sum(int(n) for n in re.findall(r"^give (\d+)$", output, re.MULTILINE))
    statuses = output.count("status ")
    expect(trace, {"JxlDecoderProcessInput": ("decode", statuses),
                   "JxlDecoderSetInput": ("decode", output.count("give ")),
                   "JxlEncoderAddImageFrame": ("encode", 1), "JxlEncoderProcessOutput": ("encode", 2)})
    assert sum(span.bytes for span in named(trace, "JxlDecoderSetInput")) == given
    # The pixels come out in calls that take long; a header may be folded.
    spans = [span for span in named(trace, "JxlDecoderProcessInput") if "OUTPUT" in span.values]
    assert [(span.shape, span.values["DTYPE"]) for span in spans] == \
        [((WIDTH, HEIGHT, channels, 0), dtype) for channels, dtype in DECODED], spans
    # Each of them is told by the one call that completed it, with the time since its first call.
    whole = [span for span in named(trace, "JxlDecoderProcessInput") if "ELAPSED" in span.values]
    assert whole == spans and all(span.values["ELAPSED"][0] > 0 for span in whole), whole
    first, second = named(trace, "JxlEncoderProcessOutput")
    assert (first.bytes, first.shape) == (64, None), first
    assert (second.bytes, second.shape) == (made - 64, (WIDTH, HEIGHT, 3, 0)), second
    assert {span.depth for span in ours(trace)} == {0}
    assert not calls(trace, "JxlDecoderDestroy"), "not timed"


def check_off(host):
    _, trace = follow(host, off=("libjxl",))
    assert not ours(trace)
    assert trace.coverage["libjxl"][0] == "uninstrumented", trace.coverage


def check_vips(folder):
    """A program that nobody wrote for this, where its libvips has JPEG XL; a module that it loads."""
    if not shutil.which("vips"):
        return
    path, copy = os.path.join(folder, "vips.jxl"), os.path.join(folder, "copy.pgm")
    parts.run("vips", "black", path, "200", "100")
    if not os.path.exists(path):
        return
    _, trace = follow("vips", "copy", path, copy)
    if trace.coverage["libjxl"][0] == "absent":
        return
    assert trace.coverage["libjxl"][0] == "covered", trace.coverage
    span = [span for span in named(trace, "JxlDecoderProcessInput") if "OUTPUT" in span.values][0]
    assert (span.stage, span.shape[:2]) == ("decode", (200, 100)), span


def main():
    host = parts.program(1)
    check_host(host)
    check_off(host)
    with tempfile.TemporaryDirectory() as folder:
        check_vips(folder)


if __name__ == "__main__":
    main()
