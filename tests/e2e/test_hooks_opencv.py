# SPDX-License-Identifier: Apache-2.0
"""Hook sets opencv_imgcodecs, opencv_imgproc and opencv_dnn: C++ and Python hosts, spans and shapes.

usage: test_hooks_opencv.py HOST EXAMPLES_FOLDER
"""
import os
import subprocess
import sys
import tempfile

import parts
from agent_trace import calls, expect, follow, named, one

WIDTH, HEIGHT = 1200, 800
PYTHON = ("/usr/bin/python3", "-B")
QUIET = {"OPENCV_LOG_LEVEL": "SILENT"}  # its warnings carry times
# name: (stage, shape of the result); each called once by the C++ host on its picture
FILTERS = {
    "cv::warpAffine": ("preprocess", (500, 300, 3, 0)),
    "cv::warpPerspective": ("preprocess", (700, 500, 3, 0)),
    "cv::copyMakeBorder": ("preprocess", (WIDTH + 70, HEIGHT + 30, 3, 0)),
    "cv::GaussianBlur": ("preprocess", (WIDTH, HEIGHT, 1, 0)),
    "cv::blur": ("preprocess", (WIDTH, HEIGHT, 1, 0)),
    "cv::medianBlur": ("preprocess", (WIDTH, HEIGHT, 1, 0)),
    "cv::filter2D": ("preprocess", (WIDTH, HEIGHT, 1, 0)),
    "cv::Sobel": ("preprocess", (WIDTH, HEIGHT, 1, 0)),
    "cv::Canny": ("preprocess", (WIDTH, HEIGHT, 1, 0)),
    "cv::adaptiveThreshold": ("preprocess", (WIDTH, HEIGHT, 1, 0)),
    "cv::morphologyEx": ("preprocess", (WIDTH, HEIGHT, 1, 0)),
    "cv::equalizeHist": ("preprocess", (WIDTH, HEIGHT, 1, 0)),
    "cv::Mat::convertTo": ("convert", (WIDTH, HEIGHT, 1, 0)),
    "cv::findContours": ("postprocess", None),
    "cv::connectedComponents": ("postprocess", None),
    "cv::connectedComponentsWithStats": ("postprocess", None),
}


def check_files(output, trace):
    encoded = int(output.split(" bytes")[0].split()[-1])
    expect(trace, {
        "cv::imwrite": ("encode", 1), "cv::imencode": ("encode", 1), "cv::imread": ("decode", 3),
        "cv::imdecode": ("decode", 2), "cv::imreadmulti": ("decode", 1),
    })
    whole, reduced, missing = named(trace, "cv::imread")
    assert whole.shape == (WIDTH, HEIGHT, 3, 0), whole
    assert reduced.shape == (WIDTH // 2, HEIGHT // 2, 1, 0), reduced
    assert missing.shape is None, missing
    vector, into = named(trace, "cv::imdecode")
    assert (vector.shape, vector.bytes) == ((WIDTH, HEIGHT, 3, 0), encoded), vector
    assert (into.shape, into.bytes) == ((WIDTH, HEIGHT, 1, 0), encoded), into
    assert one(trace, "cv::imwrite").shape == (WIDTH, HEIGHT, 3, 0)
    made = one(trace, "cv::imencode")
    assert (made.shape, made.bytes) == ((WIDTH, HEIGHT, 3, 0), encoded), made
    # libjpeg's own spans lie inside, with the scale that the decoder was asked for.
    scales = {span.scale for span in named(trace, "jpeg_start_decompress") if span.depth == 1}
    assert {(1, 1), (4, 8)} & scales or len(scales) > 1, scales


def check_filters(trace):
    for name, (stage, shape) in FILTERS.items():
        span = one(trace, name)
        assert (span.stage, span.depth, span.shape) == (stage, 0, shape), span
        assert span.source == (WIDTH, HEIGHT), span
    first, second = named(trace, "cv::resize")
    assert (first.shape, second.shape) == ((600, 400, 3, 0), (300, 600, 3, 0)), (first, second)
    assert {s.shape for s in named(trace, "cv::cvtColor")} == {(WIDTH, HEIGHT, 1, 0)}
    assert {s.stage for s in named(trace, "cv::cvtColor")} == {"convert"}
    # morphologyEx calls these, Canny calls Sobel, warpAffine calls remap: part of the outer call.
    for name in ("cv::erode", "cv::dilate", "cv::remap", "cv::split"):
        assert not named(trace, name), name
    assert calls(trace, "cv::minAreaRect") == calls(trace, "cv::contourArea") > 0
    assert calls(trace, "cv::rectangle") == 2
    expect(trace, {"cv::drawContours": ("draw", 1), "cv::circle": ("draw", 2)})


def check_values(trace):
    """Codes are OpenCV's own, types and filters those of src/trace/format.h."""
    reduced = named(trace, "cv::imread")[1]
    assert reduced.scale == (1, 2) and named(trace, "cv::imread")[0].scale is None, reduced
    area, linear = (span.values["FILTER"][0] for span in named(trace, "cv::resize"))
    assert (area, linear) == (4, 2), (area, linear)
    assert {span.values["COLOUR"][0] for span in named(trace, "cv::cvtColor")} == {6}  # BGR2GRAY
    made = one(trace, "cv::Mat::convertTo").values
    assert (made["DTYPE"], made["ELEMENTS"]) == ((6, 1), (WIDTH * HEIGHT, 0)), made
    # A picture lies where it was decoded to when it is the input of the next call.
    blurred, grey = one(trace, "cv::GaussianBlur"), named(trace, "cv::cvtColor")[0]
    assert blurred.values["INPUT"] == grey.values["OUTPUT"], (blurred, grey)


def check_errors(host, folder):
    output, trace = follow(host, folder, "errors", environment=QUIET)
    assert output.startswith("999 of 999 caught"), output
    assert calls(trace, "cv::resize") == 334 and calls(trace, "cv::cvtColor") == 333
    last = named(trace, "cv::resize")[-1]
    assert (last.depth, last.shape, last.source) == (0, (3000, 2000, 3, 0), (40, 40)), last


def check_python(folder, examples):
    net = os.path.join(folder, "spots.onnx")
    subprocess.run([*PYTHON, os.path.join(examples, "spots_net.py"), net], check=True)
    host = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hosts", "hooks_opencv.py")
    output, trace = follow(*PYTHON, host, folder, net, environment=QUIET)
    assert "100 caught" in output, output
    expect(trace, {
        "cv::imread": ("decode", 1), "cv::imdecode": ("decode", 1), "cv::resize": ("preprocess", None),
        "cv::cvtColor": ("convert", 2), "cv::dnn::readNetFromONNX": ("load", 1),
        "cv::dnn::blobFromImage": ("preprocess", 1), "cv::dnn::blobFromImages": ("preprocess", 1),
        "cv::dnn::Net::setInput": ("preprocess", 2), "cv::dnn::Net::forward": ("infer", 2),
        "cv::dnn::NMSBoxes": ("postprocess", 1),
    })
    assert one(trace, "cv::imread").shape == (800, 600, 3, 0)
    assert one(trace, "cv::imdecode").bytes == os.path.getsize(os.path.join(folder, "python.png"))
    blob = one(trace, "cv::dnn::blobFromImage")
    assert (blob.shape, blob.source) == ((640, 640, 3, 1), (800, 600)), blob
    assert one(trace, "cv::dnn::blobFromImages").shape == (64, 48, 3, 3)
    assert {span.shape for span in named(trace, "cv::dnn::Net::forward")} == {(640, 640, 3, 1)}
    runs = [span.values for span in named(trace, "cv::dnn::Net::forward")]
    assert len({values["SESSION"] for values in runs}) == 1, runs
    assert runs[0]["ELEMENTS"] == (640 * 640 * 3, 0) and runs[0]["THREADS"] == (1, 0), runs
    assert calls(trace, "cv::resize") == 1 + 100, "blobFromImage's own resize is part of it"
    for name in ("opencv_imgcodecs", "opencv_imgproc", "opencv_dnn"):
        assert trace.coverage[name][0] == "covered", trace.coverage


def main():
    host = parts.program(1)
    with tempfile.TemporaryDirectory() as folder:
        output, trace = follow(host, folder, environment=QUIET)
        check_files(output, trace)
        check_filters(trace)
        check_values(trace)
        check_errors(host, folder)
        check_python(folder, sys.argv[2])


if __name__ == "__main__":
    main()
