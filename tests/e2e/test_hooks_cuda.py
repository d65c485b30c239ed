# SPDX-License-Identifier: Apache-2.0
"""Hook set cuda, with a stand-in for the runtime and the driver. usage: test_hooks_cuda.py HOST ACTIVITY CUPTI NAMESAKES"""
import ctypes
import os
import shutil
import tempfile

import parts
from agent_trace import expect, follow, named

COUNT = 2 * 3 * 4 * 5 * 6 * 7
BYTES = 4 * COUNT
WAIT_NS = 20e6


# What a piece of work took by the stand-in for CUPTI; 50 us is what a stage's time may be wrong by.
KERNEL_NS, COPY_NS, MEMSET_NS, MAY_DIFFER_NS = 3000000, 1000000, 500000, 50000
OTHERS = ", of calls that are not followed"
WORK = {"transfer on the accelerator: copies, ns": 2 * COPY_NS, "transfer on the accelerator: copies, bytes": 4196,
        "infer on the accelerator: kernels, ns": KERNEL_NS, "enqueue on the accelerator: kernels, ns": KERNEL_NS,
        f"transfer on the accelerator: memsets, ns{OTHERS}": MEMSET_NS}


class Activity:
    """Runs of the host `cuda_activity`, with the stand-in for CUPTI under the name of a release."""

    def __init__(self, host, library, folder):
        self.host, self.library, self.folder = host, library, folder

    def install(self, *names):
        for name in os.listdir(self.folder):
            os.remove(os.path.join(self.folder, name))
        for name in names:
            shutil.copy(self.library, os.path.join(self.folder, name))

    def run(self, what, mode="", config=("cuda-activity 1",), off=()):
        """(counters, what calls say the device worked for them, notes, the coverage of CUPTI)."""
        environment = {"LD_LIBRARY_PATH": f"{self.folder}:{os.environ.get('LD_LIBRARY_PATH', '')}",
                       "CUPTI_STAND_IN": mode}
        _, trace = follow(self.host, what, environment=environment, config=list(config), off=off)
        waits = {}
        for span in trace.spans:
            if "ACCEL" in span.values:
                waits[span.name] = waits.get(span.name, 0) + span.values["ACCEL"][0]
        return trace.counters, waits, " ".join(trace.notes), trace.coverage.get("cuda-activity")

    def refused(self, what, mode, why):
        counters, waits, notes, coverage = self.run(what, mode)
        assert not counters and not waits and not notes, (mode, counters, waits, notes)
        assert coverage[0] == "uninstrumented" and why in coverage[1], (mode, coverage)


def near(counters, expected):
    """Times within MAY_DIFFER_NS, bytes exactly."""
    assert set(counters) == set(expected), (counters, expected)
    for name, value in expected.items():
        assert abs(counters[name] - value) <= (0 if "bytes" in name else MAY_DIFFER_NS), (counters, expected)


def check_stages(activity):
    """Work is of the stage it was queued in, whichever thread waits, and however the records come."""
    for mode in ("", "late", "thread"):
        counters, waits, notes, coverage = activity.run("work", mode)
        near(counters, WORK)
        assert waits == {"cudaMemcpy": COPY_NS, "cudaStreamSynchronize": 2 * KERNEL_NS + COPY_NS + MEMSET_NS}, waits
        assert not notes and coverage == ("covered", "kernels, copies and memsets, by CUPTI's version 28"), coverage
    counters, _, notes, _ = activity.run("threads")
    near(counters, {"infer on the accelerator: kernels, ns": 50 * KERNEL_NS,
                    "postprocess on the accelerator: kernels, ns": 50 * KERNEL_NS,
                    "transfer on the accelerator: copies, ns": 100 * COPY_NS,
                    "transfer on the accelerator: copies, bytes": 1600})
    assert not notes, notes
    # What nothing has waited for is asked for at the end.
    counters, waits, notes, _ = activity.run("exit")
    near(counters, {"infer on the accelerator: kernels, ns": KERNEL_NS})
    assert not waits and not notes, (waits, notes)


def check_losses(activity):
    counters, _, notes, _ = activity.run("work", "full")
    near(counters, WORK)
    # 32 buffers of the 40 that are asked for at each of three waits and at the end; three records each.
    assert "384 records were lost for lack of room, 0 were" in notes, notes
    counters, _, notes, _ = activity.run("work", "kinds")
    near(counters, WORK)
    assert "0 records were lost for lack of room, 4 were of a kind" in notes, notes


def has_cupti():
    try:
        ctypes.CDLL("libcupti.so.12")
    except OSError:
        return False
    return True


def check_activity(host, library, namesakes):
    with tempfile.TemporaryDirectory() as folder:
        activity = Activity(host, library, folder)
        # A machine may have the real one, which refuses without a driver.
        activity.refused("work", "", "not found: of CUDA 12" if not has_cupti() else "")
        activity.install("libcupti.so.12")
        check_stages(activity)
        check_losses(activity)
        activity.refused("work", "refuse", "another profiler has CUPTI (CUPTI's error 39)")
        activity.refused("work", "partly", "could not be started (CUPTI's error 26)")
        activity.refused("work", "newer", "version 990000")
        # A child has the parent's work, and none of its own; the stand-in ends a child that calls it.
        counters, _, notes, coverage = activity.run("fork")
        near(counters, WORK)
        assert not notes and coverage[0] == "covered", (notes, coverage)
        counters, _, _, coverage = activity.run("child")
        assert not counters and coverage is None, (counters, coverage)
        # Not loaded where CUDA is not called, nor where it was not asked for.
        for what, config, off in (("idle", ("cuda-activity 1",), ()), ("work", (), ()),
                                  ("work", ("cuda-activity 1",), ("cuda",))):
            counters, waits, notes, coverage = activity.run(what, "loaded", config, off)
            assert not counters and not waits and not notes and coverage is None, (what, counters, coverage)
        # Functions of the same names in a library that is not CUDA.
        counters, _, _, coverage = Activity(namesakes, library, folder).run("work")
        assert not counters and coverage is None, (counters, coverage)
        # One of another release than CUDA's is only taken where the program has loaded it itself.
        activity.install("libcupti.so.13")
        activity.refused("work", "loaded", "")
        near(activity.run("own")[0], WORK)


def main():
    host = parts.program(1)
    check_activity(*(parts.program(at) for at in (2, 3, 4)))
    output, trace = follow(host)
    assert "21 400 400 400, errno 42" in output, output
    expect(trace, {"cudaMemcpy": ("transfer", 2), "cudaMemcpyAsync": ("transfer", 1),
                   "cudaMemcpy2D": ("transfer", 1), "cudaLaunchKernel": ("enqueue", 1),
                   "cudaStreamSynchronize": ("wait", 2), "cudaEventSynchronize": ("wait", 2),
                   "cudaDeviceSynchronize": ("wait", 1), "cuMemcpyHtoD_v2": ("transfer", 1),
                   "cuMemcpyDtoH_v2": ("transfer", 1), "cuLaunchKernel": ("enqueue", 1),
                   "cuStreamSynchronize": ("wait", 2)})
    moved = {name: sum(span.bytes for span in named(trace, name)) for name in
             ("cudaMemcpy", "cudaMemcpyAsync", "cudaMemcpy2D", "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2")}
    assert moved == {"cudaMemcpy": BYTES + 4, "cudaMemcpyAsync": BYTES, "cudaMemcpy2D": 80 * 50,
                     "cuMemcpyHtoD_v2": BYTES, "cuMemcpyDtoH_v2": BYTES}, moved
    for name in ("cudaLaunchKernel", "cuLaunchKernel"):
        for span in named(trace, name):
            assert not span.values or span.values["ELEMENTS"] == (COUNT, 0), span
    # What the library waits with is its own affair, and what it calls of itself is not recorded apart.
    for name in ("cudaStreamSynchronize", "cudaEventSynchronize", "cudaDeviceSynchronize", "cuStreamSynchronize"):
        waits = [span for span in named(trace, name) if span.off_ns]
        assert [(span.stage, span.cause) for span in waits] == [("wait", "accel")], waits
        assert waits[0].off_ns > WAIT_NS / 2, waits
    assert {span.depth for span in trace.spans if span.name.startswith("cu")} == {0}
    assert not [span for span in trace.spans if span.name.startswith("pthread_cond")], trace.spans
    assert trace.coverage["cuda"][0] == "covered", trace.coverage
    _, trace = follow(host, off=("cuda",))
    assert not [span for span in trace.spans if span.name.startswith("cu")]
    assert [span for span in trace.spans if span.name.startswith("pthread_cond")]


if __name__ == "__main__":
    main()
