# SPDX-License-Identifier: Apache-2.0
"""Hook set tflite, with a stand-in for the library. usage: test_hooks_tflite.py HOST LIBRARY"""
import parts
from agent_trace import calls, expect, follow, named, one

COUNT = 2 * 8 * 16 * 3
F32 = 6


def main():
    host = parts.program(1)
    output, trace = follow(host)
    assert "0 1 0:" in output and "1, errno 42" in output, output
    expect(trace, {"TfLiteModelCreateFromFile": ("load", 1), "TfLiteModelCreate": ("load", 1),
                   "TfLiteInterpreterCreate": ("load", 2), "TfLiteInterpreterAllocateTensors": ("load", 1),
                   "TfLiteTensorCopyFromBuffer": ("transfer", 5), "TfLiteTensorCopyToBuffer": ("transfer", 4)})
    assert one(trace, "TfLiteModelCreate").bytes == 100
    made = named(trace, "TfLiteInterpreterCreate")[0]
    assert made.values["THREADS"] == (3, 0) and made.values["SESSION"][0], made
    runs = named(trace, "TfLiteInterpreterInvoke")
    assert calls(trace, "TfLiteInterpreterInvoke") == len(runs) == 4, runs
    for run in runs:
        assert (run.stage, run.bytes, run.shape) == ("infer", 4 * COUNT, (16, 8, 3, 2)), run
        assert run.values["SESSION"] == made.values["SESSION"], run
        assert (run.values["DTYPE"], run.values["ELEMENTS"]) == ((F32, 0), (COUNT, 0)), run
        assert run.values["INPUT"][0] > made.values["SESSION"][0], run
    assert sum(span.bytes for span in named(trace, "TfLiteTensorCopyFromBuffer")) == 4 * 4 * COUNT + 1
    assert sum(span.bytes for span in named(trace, "TfLiteTensorCopyToBuffer")) == 4 * 4
    assert trace.coverage["tflite"][0] == "covered", trace.coverage
    _, trace = follow(host, off=("tflite",))
    assert not [span for span in trace.spans if span.name.startswith("TfLite")]


if __name__ == "__main__":
    main()
