# SPDX-License-Identifier: Apache-2.0
"""Hook set cuda, with a stand-in for the runtime and the driver. usage: test_hooks_cuda.py HOST CUPTI"""
import os
import shutil
import tempfile

import parts
from agent_trace import expect, follow, named

COUNT = 2 * 3 * 4 * 5 * 6 * 7
BYTES = 4 * COUNT
WAIT_NS = 20e6


# What the stand-in for CUPTI hands over at each flush: a kernel, a copy, a memset.
WORK_NS = 3000000 + 1000000 + 500000
WAITS = {"cudaMemcpy": 2, "cudaMemcpy2D": 1, "cudaStreamSynchronize": 2, "cudaEventSynchronize": 2,
         "cudaDeviceSynchronize": 1, "cuMemcpyHtoD_v2": 1, "cuMemcpyDtoH_v2": 1, "cuStreamSynchronize": 2}


def with_cupti(host, folder, mode="", config=("cuda-activity 1",)):
    environment = {"LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}", "CUPTI_STAND_IN": mode}
    _, trace = follow(host, environment=environment, config=list(config))
    work = {}
    for span in trace.spans:
        if "ACCEL" in span.values:
            work.setdefault(span.name, []).append(span.values["ACCEL"][0])
    return work, " ".join(trace.notes)


def check_activity(host, library):
    with tempfile.TemporaryDirectory() as folder:
        work, notes = with_cupti(host, folder)
        assert not work and "CUPTI was not found" in notes, (work, notes)
        shutil.copy(library, os.path.join(folder, "libcupti.so.12"))
        work, notes = with_cupti(host, folder)
        assert work == {name: [WORK_NS] * count for name, count in WAITS.items()}, work
        assert "is CUPTI's" in notes, notes
        work, notes = with_cupti(host, folder, config=())
        assert not work and not notes, (work, notes)
        for mode in ("refuse", "partly"):
            work, notes = with_cupti(host, folder, mode)
            assert not work and "CUPTI refused (its error 39)" in notes, (work, notes)
        work, notes = with_cupti(host, folder, "full")
        assert set(work) == set(WAITS) and "more records at once" in notes, (work, notes)


def main():
    host = parts.program(1)
    check_activity(host, parts.program(2))
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
