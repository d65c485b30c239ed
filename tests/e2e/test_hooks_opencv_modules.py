# SPDX-License-Identifier: Apache-2.0
"""Hook sets of OpenCV's other modules: core, video, videoio, objdetect, features2d, calib3d, photo, highgui.

usage: test_hooks_opencv_modules.py HOST HOST_OPENCV_5
"""
import os
import tempfile

import parts
from agent_trace import calls, expect, follow, named, one

WIDTH, HEIGHT = 640, 480
PYTHON = ("/usr/bin/python3", "-B")
# No screen is needed: Qt and GTK draw into memory, or the host's windows do not open for either run.
QUIET = {"OPENCV_LOG_LEVEL": "SILENT", "QT_QPA_PLATFORM": "offscreen", "QT_LOGGING_RULES": "*=false"}
U8, I16, F32 = 1, 4, 6  # enum trace_dtype
SETS = ("opencv_calib3d", "opencv_core", "opencv_features2d", "opencv_highgui", "opencv_imgproc",
        "opencv_objdetect", "opencv_photo", "opencv_video", "opencv_videoio")

# name: (stage, calls)
CALLS = {
    "cv::add": ("preprocess", 1), "cv::subtract": ("preprocess", 1), "cv::addWeighted": ("preprocess", 1),
    "cv::inRange": ("preprocess", 1), "cv::bitwise_and": ("preprocess", 1),
    "cv::multiply": ("preprocess", 1), "cv::divide": ("preprocess", 1), "cv::normalize": ("preprocess", 1),
    "cv::meanStdDev": ("preprocess", 1), "cv::minMaxLoc": ("postprocess", 1),
    "cv::sum": ("postprocess", 1), "cv::mean": ("preprocess", 1), "cv::norm": ("postprocess", 1),
    "cv::countNonZero": ("postprocess", 1), "cv::split": ("convert", 1), "cv::merge": ("convert", 1),
    "cv::hconcat": ("preprocess", 1), "cv::vconcat": ("preprocess", 1), "cv::Mat::clone": ("convert", 2),
    "cv::Mat::setTo": ("convert", 1), "cv::transpose": ("preprocess", 1),
    "cv::rotate": ("preprocess", 1), "cv::reduce": ("postprocess", 1), "cv::dft": ("preprocess", 1),
    "cv::gemm": ("preprocess", 1), "cv::UMat::copyTo": ("transfer", 1), "cv::UMat::getMat": ("transfer", 1),
    "cv::parallel_for_": ("preprocess", None), "cv::goodFeaturesToTrack": ("postprocess", 1),
    "cv::calcOpticalFlowPyrLK": ("track", 1), "cv::calcOpticalFlowFarneback": ("track", 1),
    "cv::CamShift": ("track", 1), "cv::createBackgroundSubtractorMOG2": ("load", 1),
    "cv::HOGDescriptor::detectMultiScale": ("infer", 1), "cv::QRCodeDetector::detectAndDecode": ("infer", 1),
    "cv::Feature2D::detect": ("postprocess", 1), "cv::Feature2D::compute": ("postprocess", 1),
    "cv::DescriptorMatcher::knnMatch": ("postprocess", 1), "cv::drawKeypoints": ("draw", 1),
    "cv::undistort": ("preprocess", 1), "cv::findHomography": ("postprocess", 1),
    "cv::projectPoints": ("postprocess", 1), "cv::solvePnP": ("postprocess", 1),
    "cv::fastNlMeansDenoising": ("preprocess", 1), "cv::inpaint": ("preprocess", 1),
    "cv::grabCut": ("postprocess", 1), "cv::boundingRect": ("postprocess", 1),
    "cv::putText": ("draw", 6), "cv::rectangle": ("draw", 36),
    "cv::VideoWriter::open": ("load", 1), "cv::VideoWriter::write": ("encode", 4),
    "cv::VideoWriter::operator<<": ("encode", 1), "cv::VideoWriter::release": ("encode", None),
    "cv::VideoCapture::open": ("load", 2), "cv::VideoCapture::read": ("decode", 1),
    "cv::VideoCapture::operator>>": ("decode", 1), "cv::VideoCapture::grab": ("decode", 6),
    "cv::VideoCapture::retrieve": ("decode", 5), "cv::namedWindow": ("draw", 1),
    "cv::imshow": ("draw", 1), "cv::waitKey": ("wait", 1), "cv::destroyWindow": ("draw", 1),
}


def check_attributes(trace):
    span = one(trace, "cv::subtract")
    assert (span.shape, span.source) == ((WIDTH, HEIGHT, 3, 0), (WIDTH, HEIGHT)), span
    assert span.values["DTYPE"] == (I16, U8) and span.values["INPUT"] != span.values["OUTPUT"], span
    span = one(trace, "cv::normalize")
    assert span.values["DTYPE"] == (F32, U8), span
    assert span.values["ELEMENTS"] == (WIDTH * HEIGHT * 3, 0), span
    assert one(trace, "cv::hconcat").shape == (2 * WIDTH, HEIGHT, 3, 0)
    assert one(trace, "cv::vconcat").shape == (WIDTH, 3 * HEIGHT, 3, 0)
    # The same picture goes into each: it lies where it lay.
    places = {one(trace, name).values["INPUT"] for name in ("cv::add", "cv::normalize", "cv::undistort")}
    assert len(places) == 1, places
    # The program's own, and those of hidden classes (the background subtractor).
    loops = [span.values.get("THREADS") for span in named(trace, "cv::parallel_for_") if span.calls == 1]
    assert loops.count((2, 0)) == 1 and set(loops) <= {(1, 0), (2, 0), None}, loops
    # What the body of the program's own loop calls is seen on each thread, inside and outside of the loop's span.
    assert calls(trace, "cv::resize") == 4, named(trace, "cv::resize")
    # The other thread's part of it is of its stage, and no call; a call that is recorded in it stays one.
    pieces = named(trace, "cv::parallel_for_ (team)")
    assert {span.stage for span in pieces} == {"preprocess"} and {span.depth for span in pieces} == {0}, pieces
    assert not [span for span in trace.spans if span.name.endswith("(team) (team)")], trace.spans
    for name in ("cv::VideoWriter::write", "cv::VideoCapture::read", "cv::VideoCapture::retrieve"):
        assert all(s.shape == (WIDTH, HEIGHT, 3, 0) for s in named(trace, name) if s.calls == 1 and s.shape), name
    span = one(trace, "cv::waitKey")
    assert span.cause in ("sleep", None) and span.duration > 0, span


def check_modules(host, folder):
    output, trace = follow(host, folder, environment=QUIET)
    assert "5 frames" in output and "200 matches" in output, output
    expect(trace, CALLS)
    check_attributes(trace)
    for name in SETS:
        assert trace.coverage[name][0] == "covered", (name, trace.coverage)


def check_errors(host, folder):
    output, trace = follow(host, folder, "errors", environment=QUIET)
    assert output.startswith("300 of 300 caught"), output
    assert one(trace, "cv::rotate").depth == 0, named(trace, "cv::rotate")
    assert calls(trace, "cv::add") == 30 and calls(trace, "cv::boundingRect") == 30, trace.spans


def check_python(folder):
    host = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hosts", "hooks_opencv_video.py")
    output, trace = follow(*PYTHON, host, os.path.join(folder, "a.avi"), environment=QUIET)
    assert output.startswith("5 frames"), output
    # Through the vtables only: cv2 holds these by pointer.
    expect(trace, {"cv::VideoCapture::open": ("load", 1), "cv::VideoCapture::read": ("decode", 6),
                   "cv::HOGDescriptor::detectMultiScale": ("infer", 1)})
    shapes = [span.shape for span in named(trace, "cv::VideoCapture::read") if span.shape]
    assert shapes and set(shapes) == {(WIDTH, HEIGHT, 3, 0)}, shapes


def check_other_series(host):
    """Of an OpenCV that is not of the 4 series no array is read."""
    _, trace = follow(host)
    assert calls(trace, "cv::resize") == 100, trace.spans
    assert not any(span.shape or span.source or span.values for span in trace.spans), trace.spans


def main():
    host, other = parts.program(1), parts.program(2)
    with tempfile.TemporaryDirectory() as folder:
        check_modules(host, folder)
        check_errors(host, folder)
        check_python(folder)
        check_other_series(other)


if __name__ == "__main__":
    main()
