# SPDX-License-Identifier: Apache-2.0
"""Hook set opencl: transfers, launches, waits and device time of a host; OpenCV's own use of OpenCL.

Runs on any OpenCL device; with PoCL that is the CPU. usage: test_hooks_opencl.py HOST
"""
import os
import tempfile

import parts
from agent_trace import calls, expect, follow, named, one

BYTES = 65536 * 4
RUNS = 5
NO_DEVICE = 3
PYTHON = ("/usr/bin/python3", "-B", "-c")
SCRIPT = """
import cv2, numpy
cv2.ocl.setUseOpenCL(True)
picture = numpy.tile(numpy.arange(640 * 3, dtype=numpy.uint8).reshape(1, 640, 3), (480, 1, 1))
blurred = cv2.GaussianBlur(cv2.UMat(picture), (7, 7), 0)
print(cv2.ocl.useOpenCL(), int(blurred.get().sum()))
"""


def environment(folder):
    return {"TIMES": os.path.join(folder, "times"), "POCL_CACHE_DIR": folder,
            "OPENCV_OPENCL_DEVICE": ":CPU:"}


def work_ns(spans):
    return sum(span.values.get("ACCEL", (0, 0))[0] for span in spans)


def check_near(what, found, wanted):
    """Within 2 % or 50 us."""
    assert abs(found - wanted) <= max(wanted * 0.02, 50e3), f"{what}: {found} ns, not {wanted} ns"


def check_device_time(trace, times):
    """What the host's own event profiling says, each event once."""
    check_near("waited", work_ns(named(trace, "clWaitForEvents")), times["waited"])
    check_near("finished", work_ns(named(trace, "clReleaseEvent")), times["finished"])
    reads = [span for span in named(trace, "clEnqueueReadBuffer") if "ACCEL" in span.values]
    assert len(reads) == 1, reads
    check_near("read", work_ns(reads), times["read"])
    total = times["waited"] + times["finished"] + times["read"]
    check_near("all", work_ns(trace.spans), total)


def check_waiting(trace, times):
    """Blocked in a wait for the device, whatever the library waits with, is waiting for the device."""
    for name, wanted in (("clWaitForEvents", times["waiting"]), ("clFinish", times["finishing"])):
        spans = [span for span in named(trace, name) if span.off_ns]
        assert {(span.stage, span.cause) for span in spans} == {("wait", "accel")}, spans
        # The rest is CPU time of the wait itself, and here the second waits of an event.
        off_ns = sum(span.off_ns for span in spans)
        assert 0.5 * wanted <= off_ns <= 1.05 * wanted + 5e6, (name, off_ns, wanted)


def check_commands(trace):
    expect(trace, {
        "clBuildProgram": ("load", 1), "clCreateProgramWithSource": ("load", 1),
        "clCreateBuffer": ("transfer", 1), "clEnqueueWriteBuffer": ("transfer", RUNS),
        "clEnqueueReadBuffer": ("transfer", RUNS + 3), "clEnqueueReadBufferRect": ("transfer", 1),
        "clEnqueueMapBuffer": ("transfer", 2), "clEnqueueUnmapMemObject": ("transfer", 1),
        "clEnqueueCopyBuffer": ("transfer", 1), "clFlush": ("enqueue", 1),
        "clEnqueueNDRangeKernel": ("enqueue", 2 * RUNS + 1), "clFinish": ("wait", 2),
        "clWaitForEvents": ("wait", 2 * RUNS + 2)})
    moved = {name: sum(span.bytes for span in named(trace, name)) for name in (
        "clCreateBuffer", "clEnqueueWriteBuffer", "clEnqueueReadBuffer", "clEnqueueReadBufferRect",
        "clEnqueueMapBuffer", "clEnqueueCopyBuffer")}
    assert moved == {"clCreateBuffer": BYTES, "clEnqueueWriteBuffer": RUNS * BYTES,
                     "clEnqueueReadBuffer": (RUNS + 3) * BYTES, "clEnqueueReadBufferRect": 256 * 16 * 2,
                     "clEnqueueMapBuffer": 2 * BYTES, "clEnqueueCopyBuffer": BYTES}, moved
    items = {span.values["ELEMENTS"][0] for span in named(trace, "clEnqueueNDRangeKernel")
             if span.values}
    assert items <= {65536}, items


def check_host(host, folder):
    output, trace = follow(host, environment=environment(folder))
    assert "refused -30 -30 1 -30 1" in output, output
    with open(os.path.join(folder, "times"), encoding="ascii") as file:
        times = {name: int(value) for name, value in (line.split() for line in file)}
    check_device_time(trace, times)
    check_waiting(trace, times)
    check_commands(trace)
    assert trace.coverage["opencl"][0] == "covered", trace.coverage


def check_off(host, folder):
    _, trace = follow(host, off=("opencl",), environment=environment(folder))
    assert not [span for span in trace.spans if span.name.startswith("cl")]
    assert trace.coverage["opencl"] == ("uninstrumented", "switched off by --no-hook")


def check_opencv(folder):
    """It asks dlsym for each function; what it does on the device is part of its own call."""
    if parts.run(*PYTHON, "import cv2").returncode:
        return
    output, trace = follow(*PYTHON, SCRIPT, environment=environment(folder))
    if output.startswith("False"):
        return
    blur = one(trace, "cv::GaussianBlur")
    assert calls(trace, "clEnqueueNDRangeKernel") >= 1, trace.coverage
    assert {span.depth for span in named(trace, "clEnqueueNDRangeKernel")} == {blur.depth + 1}
    read = max(named(trace, "clEnqueueReadBuffer"), key=lambda span: span.bytes)
    assert (read.stage, read.bytes) == ("transfer", 640 * 480 * 3), read


def main():
    host = parts.program(1)
    with tempfile.TemporaryDirectory() as folder:
        if parts.run(host, env={**os.environ, **environment(folder)}).returncode == NO_DEVICE:
            parts.skip("there is no OpenCL device; the package pocl-opencl-icd has one")
        check_host(host, folder)
        check_off(host, folder)
        check_opencv(folder)


if __name__ == "__main__":
    main()
