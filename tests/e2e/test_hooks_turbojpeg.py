# SPDX-License-Identifier: Apache-2.0
"""Hook set turbojpeg: spans, bytes and shapes of the version 2 calls, and of version 3's by a stand-in.

usage: test_hooks_turbojpeg.py HOST HOST_OF_VERSION_3
"""
import parts
from agent_trace import expect, follow, named, one

WIDTH, HEIGHT = 1000, 601


def check_version_2(host):
    output, trace = follow(host)
    encoded, turned = (int(line) for line in output.splitlines() if line.isdigit())
    expect(trace, {
        "tjCompress2": ("encode", 1), "tjDecompressHeader3": ("decode", 1),
        "tjDecompress2": ("decode", 4), "tjDecompressToYUV2": ("decode", 1),
        "tjDecodeYUV": ("convert", 1), "tjTransform": ("encode", 1),
    })
    assert turned > 0
    made = one(trace, "tjCompress2")
    assert (made.shape, made.bytes) == ((WIDTH, HEIGHT, 3, 0), encoded), made
    full, scaled, cut, nothing = named(trace, "tjDecompress2")
    assert (full.shape, full.source, full.scale, full.bytes) == \
        ((WIDTH, HEIGHT, 4, 0), (WIDTH, HEIGHT), (1, 1), encoded), full
    # 3/8 of 1000 x 601 is the largest that fits 400 x 400; sizes are rounded up.
    assert (scaled.shape, scaled.source, scaled.scale, scaled.bytes) == \
        ((375, 226, 3, 0), (WIDTH, HEIGHT), (3, 8), encoded), scaled
    assert (cut.shape, cut.bytes) == (None, 20) and nothing.shape is None, (cut, nothing)
    assert one(trace, "tjDecompressToYUV2").shape == (WIDTH, HEIGHT, 3, 0)
    assert one(trace, "tjDecodeYUV").shape == (WIDTH, HEIGHT, 1, 0)


def check_version_3(host):
    output, trace = follow(host)
    assert "scale 1 3/8" in output and "crop 1 16 32 64 128" in output, output
    whole, scaled = named(trace, "tj3Decompress8")
    assert (whole.stage, whole.shape, whole.source) == ("decode", (0x304, 0x102, 4, 0), (0x304, 0x102))
    assert (scaled.shape, scaled.source) == (None, (0x304, 0x102)), scaled
    made = one(trace, "tj3Compress8")
    assert (made.stage, made.shape, made.bytes) == ("encode", (640, 480, 1, 0), 4321), made


def main():
    check_version_2(parts.program(1))
    check_version_3(parts.program(2))


if __name__ == "__main__":
    main()
