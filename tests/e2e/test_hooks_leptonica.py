# SPDX-License-Identifier: Apache-2.0
"""Hook set leptonica: stages, bytes and shapes of a host that reads, writes and processes.

usage: test_hooks_leptonica.py HOST
"""
import os
import tempfile

import parts
from agent_trace import expect, follow, named, one

SIZE = (300, 200)
FILTER_NEAREST = 1


def ours(trace):
    return [span for span in trace.spans if span.name.startswith("pix")]


def check_reading(output, trace):
    made = int(next(line for line in output.splitlines() if line.startswith("pixWriteMem")).split()[2])
    written = one(trace, "pixWriteMem")
    assert (written.stage, written.shape[:2], written.bytes) == ("encode", SIZE, made), written
    for name in ("pixReadMem", "pixReadMemPng"):
        span = one(trace, name)
        assert (span.stage, span.shape, span.bytes) == ("decode", (*SIZE, 3, 0), made), span
    assert one(trace, "pixWrite").stage == "encode"
    whole, failed = sorted(named(trace, "pixRead"), key=lambda span: span.shape is None)
    assert (whole.stage, whole.shape, failed.shape) == ("decode", (*SIZE, 3, 0), None), (whole, failed)
    reduced = one(trace, "pixReadJpeg")
    assert (reduced.stage, reduced.shape) == ("decode", (150, 100, 3, 0)), reduced


def check_processing(trace):
    expect(trace, {"pixScale": ("preprocess", 2), "pixConvertTo8": ("convert", 1), "pixRotate": ("preprocess", 1),
                   "pixConvertRGBToGray": ("convert", 1), "pixUnsharpMasking": ("preprocess", 1),
                   "pixOtsuAdaptiveThreshold": ("preprocess", 1), "pixConnComp": ("postprocess", 1),
                   "pixGammaTRC": ("preprocess", 1), "pixDilateBrick": ("preprocess", 1)})
    # Each is recorded alone, with its attributes, unless it was very short.
    shapes = {"pixScale": (150, 50, 3, 0), "pixScaleToSize": (77, 55, 3, 0), "pixConvertTo8": (*SIZE, 1, 0),
              "pixUnsharpMasking": (*SIZE, 1, 0)}
    for name, shape in shapes.items():
        for span in named(trace, name):
            assert (span.shape, span.source) in ((shape, SIZE), (None, None)), span
    assert any(span.shape for name in shapes for span in named(trace, name)), "no call has a shape"
    for span in named(trace, "pixScaleBySampling"):
        assert not span.shape or span.values["FILTER"] == (FILTER_NEAREST, 0), span


def main():
    host = parts.program(1)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "picture.jpg")
        output, trace = follow(host, file)
        check_reading(output, trace)
        check_processing(trace)
        # What Leptonica calls of itself (pixReadMem calls pixReadMemPng) is not recorded apart.
        assert len(named(trace, "pixReadMemPng")) == 1 and {span.depth for span in ours(trace)} == {0}
        assert trace.coverage["leptonica"][0] == "covered", trace.coverage
        _, trace = follow(host, file, off=("leptonica",))
        assert not ours(trace)
        assert trace.coverage["leptonica"][0] == "uninstrumented", trace.coverage


if __name__ == "__main__":
    main()
