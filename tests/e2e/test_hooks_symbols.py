# SPDX-License-Identifier: Apache-2.0
"""Each symbol that the hook sets look for exists: in an installed library, or in a later release of it.

usage: test_hooks_symbols.py HOOK_SYMBOLS ARCHIVE_OF_NEWER. A name that is mangled wrongly would never be found
and nobody would notice.
"""
import glob
import re
import subprocess

import parts

LIBRARIES = ("libopencv_core.so.*", "libopencv_imgproc.so.*", "libopencv_imgcodecs.so.*",
             "libopencv_dnn.so.*", "libopencv_calib3d.so.*", "libopencv_features2d.so.*",
             "libopencv_highgui.so.*", "libopencv_objdetect.so.*", "libopencv_photo.so.*",
             "libopencv_video.so.*", "libopencv_videoio.so.*", "libjpeg.so.*", "libturbojpeg.so.*",
             "libpng16.so.*", "libwebp.so.*", "libtiff.so.*", "libspng.so.*", "libheif.so.*",
             "libavif.so.*", "libopenjp2.so.*", "libjxl.so.*",
             "libavcodec.so.*", "libavfilter.so.*", "libavformat.so.*", "libavutil.so.*",
             "libswresample.so.*", "libswscale.so.*",
             "libgomp.so.*", "libomp.so.*", "libtbb.so.12", "libglib-2.0.so.*")
FOLDERS = ("/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib")
# What only libjpeg-turbo 3 has; and ONNX Runtime and liburing, which
# their own tests open.
# What FFmpeg had until 4 and has since 7.1.
ELSEWHERE = re.compile(r"^((__)?io_|jpeg1[26]_|tj3|OrtGetApiBase$|"
                       r"avcodec_(de|en)code_(video2|audio[24])$|sws_free_context$)")
VERSION = re.compile(r"^(_ZN2cv3dnn)14dnn4_v\d{8}")


def symbols(*options):
    output = subprocess.run(["nm", *options], check=True, capture_output=True, text=True).stdout
    words = (line.split() for line in output.splitlines() if line.strip() and not line.endswith(":"))
    return {VERSION.sub(r"\1", line[-1].split("@")[0]) for line in words}


def main():
    have = symbols(parts.program(2))
    for library in LIBRARIES:
        found = [path for folder in FOLDERS for path in glob.glob(f"{folder}/{library}")]
        if not found:
            parts.skip(f"there is no {library}; ./dev setup brings it")
        have |= symbols("-D", "--defined-only", found[0])
    wanted = parts.run(parts.program(1)).stdout.decode().split()
    assert len(wanted) == len(set(wanted)), "a symbol is in two rows"
    wanted = {name for name in wanted if not ELSEWHERE.match(name)}
    opencv = sum(name.startswith("_Z") for name in wanted)
    assert opencv > 100 and len(wanted) > opencv + 30, (opencv, len(wanted))
    missing = sorted(wanted - have)
    assert not missing, f"no library has these: {missing}"


if __name__ == "__main__":
    main()
