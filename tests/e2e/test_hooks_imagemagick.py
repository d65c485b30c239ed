# SPDX-License-Identifier: Apache-2.0
"""Hook set imagemagick: a host that uses MagickCore, a library with functions of the same names, and the programs.

usage: test_hooks_imagemagick.py HOST ODD_HOST
"""
import os
import shutil
import tempfile

import parts
from agent_trace import calls, expect, follow, named, one

WHOLE = (300, 200)
BILINEAR, LANCZOS = 2, 5
GREY = 2  # GRAYColorspace
# One thread each: threads of OpenMP start in any order.
ALONE = {"MAGICK_THREAD_LIMIT": "1", "OMP_NUM_THREADS": "1"}


def ours(trace):
    return [span for span in trace.spans if span.name.endswith(("Image", "Images", "Blob", "Genesis"))]


def shaped(trace, name, stage, width, height):
    span = one(trace, name)
    assert (span.stage, span.shape) == (stage, (width, height, 0, 0)), span
    return span


def check_reading(output, trace):
    made = int(next(line for line in output.splitlines() if line.startswith("ImageToBlob")).split()[1])
    assert shaped(trace, "ImageToBlob", "encode", *WHOLE).bytes == made
    for name in ("BlobToImage", "PingBlob"):
        assert shaped(trace, name, "decode", *WHOLE).bytes == made
    failed = one(trace, "ReadImage")
    assert (failed.stage, failed.shape) == ("decode", None), failed


def check_processing(trace):
    resized = shaped(trace, "ResizeImage", "preprocess", 90, 70)
    assert (resized.source, resized.values["FILTER"]) == (WHOLE, (BILINEAR, 0)), resized
    resampled = shaped(trace, "ResampleImage", "preprocess", 600, 278)
    assert (resampled.source, resampled.values["FILTER"]) == (WHOLE, (LANCZOS, 0)), resampled
    assert shaped(trace, "ThumbnailImage", "preprocess", 30, 20).source == WHOLE
    assert shaped(trace, "UnsharpMaskImage", "preprocess", *WHOLE).source == WHOLE
    assert shaped(trace, "RotateImage", "preprocess", 338, 262).source == WHOLE
    shaped(trace, "LevelImage", "preprocess", *WHOLE)
    converted = shaped(trace, "TransformImageColorspace", "convert", *WHOLE)
    assert converted.values["COLOUR"] == (GREY, 0), converted
    shaped(trace, "CompositeImage", "draw", *WHOLE)
    shaped(trace, "QuantizeImage", "convert", *WHOLE)
    expect(trace, {"ScaleImage": ("preprocess", 1), "CropImage": ("preprocess", 1), "MagickCoreGenesis": ("load", 1)})
    # What the library calls of itself (ThumbnailImage calls ResizeImage) is not recorded apart.
    assert {span.depth for span in ours(trace)} == {0}


def check_host(host):
    output, trace = follow(host, environment=ALONE)
    check_reading(output, trace)
    check_processing(trace)
    assert trace.coverage["imagemagick"][0] == "covered", trace.coverage
    _, trace = follow(host, off=("imagemagick",), environment=ALONE)
    assert not ours(trace)
    assert trace.coverage["imagemagick"][0] == "uninstrumented", trace.coverage


def check_odd(host):
    """Another library's ReadImage is its own affair: not recorded, and no parameter lost."""
    output, trace = follow(host)
    assert output.split() == ["23160", "97.0"], output
    assert not ours(trace)
    assert trace.coverage["imagemagick"][0] == "absent", trace.coverage


def check_programs(folder):
    """What convert and mogrify write of photographs is the same to the byte."""
    if not shutil.which("convert") or not shutil.which("mogrify"):
        return
    photos = parts.photos(2)
    made = os.path.join(folder, "a.png")
    _, trace = follow("convert", photos[0], "-resize", "200x", "-colorspace", "Gray", "-strip",
                      "-define", "png:exclude-chunks=date,time", made, environment=ALONE)
    expect(trace, {"ReadImages": ("decode", 1), "ResizeImage": ("preprocess", 1), "WriteImages": ("encode", 1),
                   "TransformImageColorspace": ("convert", 1), "MagickCoreGenesis": ("load", 1)})
    resized, written = one(trace, "ResizeImage"), one(trace, "WriteImages")
    assert resized.shape[0] == 200 and resized.shape == written.shape, (resized, written)
    _, trace = follow("sh", "-c", f'cp "$@" {folder} && mogrify -resize 300x300 -unsharp 0x1 -quality 80 {folder}/*.jpg && '
                      f"cat {folder}/*.jpg | sha256sum", "sh", *photos, environment=ALONE)
    expect(trace, {"ReadImages": ("decode", 2), "ResizeImage": ("preprocess", 2), "WriteImages": ("encode", 2)})
    assert calls(trace, "UnsharpMaskImage") + calls(trace, "UnsharpMaskImageChannel") == 2
    assert named(trace, "jpeg_read_scanlines"), "the coder's own calls are not seen"


def main():
    check_host(parts.program(1))
    check_odd(parts.program(2))
    with tempfile.TemporaryDirectory() as folder:
        check_programs(folder)


if __name__ == "__main__":
    main()
