# SPDX-License-Identifier: Apache-2.0
"""Hook set libvips: operations and pixels of a host that uses the API, and the programs vips and vipsthumbnail.

usage: test_hooks_libvips.py HOST
"""
import os
import shutil
import tempfile

import parts
from agent_trace import calls, expect, follow, named, one

SIZE = (250, 151)
U8 = 1
# Warnings have the process's number in them.
QUIET = {"VIPS_WARNING": "0"}


def ours(trace):
    return [span for span in trace.spans if span.name.startswith("vips_")]


def check_host(host):
    output, trace = follow(host, environment=QUIET)
    assert "refused" in output, output
    expect(trace, {"vips_xyz": ("preprocess", None), "vips_cast": ("convert", None), "vips_init": ("load", None),
                   "vips_colourspace": ("convert", None),
                   "vips_pngload_buffer_header": ("decode", None), "vips_threadpool_run": ("wait", None),
                   "vips_invert": ("preprocess", None), "vips_foreign_find_load_buffer": ("load", None)})
    # To a buffer or, since 8.13, to a target.
    assert {span.stage for span in ours(trace) if span.name.startswith("vips_pngsave")} == {"encode"}
    written = named(trace, "vips_image_write_to_memory")
    assert [span.shape for span in written] == [(*SIZE, 3, 0), (*SIZE, 1, 0), (*SIZE, 3, 0)], written
    assert {(span.stage, span.values["DTYPE"]) for span in written} == {("preprocess", (U8, 0))}, written
    copied = one(trace, "vips_image_copy_memory")
    assert (copied.stage, copied.shape) == ("preprocess", (*SIZE, 3, 0)), copied
    # The region that the host asked for itself: made by what vips_resize came down to.
    regions = [span for span in trace.spans if span.shape == (60, 40, 3, 0)]
    assert {(span.stage, span.values["DTYPE"]) for span in regions} == {("preprocess", (U8, 0))}, regions
    # One image was loaded: its first pixels count as the decode, the others do not.
    loaded = one(trace, "vips_pngload_buffer")
    assert loaded.stage == "decode" and loaded.shape[0] == SIZE[0], loaded
    assert trace.coverage["libvips"][0] == "covered", trace.coverage


def check_off(host):
    _, trace = follow(host, off=("libvips",), environment=QUIET)
    assert not ours(trace)
    assert trace.coverage["libvips"][0] == "uninstrumented", trace.coverage


def check_thumbnails(folder):
    """The files that vipsthumbnail writes are the same to the byte; each photograph is one decode."""
    if not shutil.which("vipsthumbnail"):
        return
    photos = parts.photos(3)
    _, trace = follow("sh", "-c", f'vipsthumbnail -s 200 -o {folder}/%s.jpg "$@" && cat {folder}/*.jpg | sha256sum',
                      "sh", *photos, environment=QUIET)
    assert len(os.listdir(folder)) == 3
    expect(trace, {"vips_thumbnail": ("preprocess", None), "vips_jpegload": ("decode", 3),
                   "vips_jpegload_rows": ("decode", None), "vips_reducev": ("preprocess", None)})
    assert {span.stage for span in ours(trace) if "save" in span.name} == {"encode"}
    # Pixels are made on threads of the pool, in whose spans the callers' own are not.
    assert calls(trace, "vips_threadpool_run") >= 3


def check_vips(folder):
    if not shutil.which("vips"):
        return
    picture, big = os.path.join(folder, "a.png"), os.path.join(folder, "b.tif")
    _, trace = follow("sh", "-c", f"vips grey {picture} 400 300 --uchar && vips resize {picture} {big} 1.5 && "
                      f"vips avg {big}", environment=QUIET)
    expect(trace, {"vips_grey": ("preprocess", None), "vips_pngload": ("decode", 1),
                   "vips_resize": ("preprocess", None), "vips_avg": ("preprocess", None)})
    assert {span.stage for span in ours(trace) if span.name.startswith("vips_tiffsave")} == {"encode"}


def main():
    host = parts.program(1)
    check_host(host)
    check_off(host)
    for check in (check_vips, check_thumbnails):
        with tempfile.TemporaryDirectory() as folder:
            check(folder)


if __name__ == "__main__":
    main()
