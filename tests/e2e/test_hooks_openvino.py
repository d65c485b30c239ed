# SPDX-License-Identifier: Apache-2.0
"""Hook set openvino, with a stand-in for the library. usage: test_hooks_openvino.py HOST LIBRARY"""
import parts
from agent_trace import expect, follow, named, one

COUNT = 5000


def main():
    host = parts.program(1)
    output, trace = follow(host)
    assert "'A 1 B 2 C 3 D 4 E 5 F 6 G 7'" in output and "'HINT LATENCY'" in output, output
    expect(trace, {"ov_core_read_model": ("load", 2), "ov_core_compile_model": ("load", 3),
                   "ov_core_compile_model_from_file": ("load", 1), "ov_infer_request_infer": ("infer", 3),
                   "ov_infer_request_start_async": ("infer", 1), "ov_infer_request_wait": ("infer", 1),
                   "ov_infer_request_wait_for": ("infer", 1)})
    refused, *made = named(trace, "ov_core_compile_model")
    assert "SESSION" not in refused.values or not refused.values["SESSION"][0], refused
    assert all(span.values["SESSION"][0] for span in made), made
    assert one(trace, "ov_core_compile_model_from_file").values["SESSION"][0]
    empty, *runs = named(trace, "ov_infer_request_infer")
    assert (empty.bytes, set(empty.values)) == (0, {"SESSION"}), empty
    for run in runs:
        assert (run.bytes, run.values["ELEMENTS"]) == (4 * COUNT, (COUNT, 0)), run
        assert run.values["SESSION"] == empty.values["SESSION"], run
    assert trace.coverage["openvino"][0] == "covered", trace.coverage
    _, trace = follow(host, off=("openvino",))
    assert not [span for span in trace.spans if span.name.startswith("ov_")]


if __name__ == "__main__":
    main()
