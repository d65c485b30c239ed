# SPDX-License-Identifier: Apache-2.0
"""Hook set cuda, with a stand-in for the runtime and the driver. usage: test_hooks_cuda.py HOST LIBRARY"""
import parts
from agent_trace import expect, follow, named

COUNT = 2 * 3 * 4 * 5 * 6 * 7
BYTES = 4 * COUNT
WAIT_NS = 20e6


def main():
    host = parts.program(1)
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
