# SPDX-License-Identifier: Apache-2.0
"""Hook set onnxruntime: sessions, runs with shapes, bound and asynchronous runs, errors, an old version.

usage: test_hooks_onnxruntime.py HOST HOST_OF_OLD_VERSION
"""
import collections
import os

import parts
from agent_trace import expect, follow, named, one

SHAPE = (128, 64, 3)


def check_run(host):
    library, model = parts.onnxruntime(), parts.model()
    _, trace = follow(host, library, model)
    expect(trace, {
        "OrtCreateSession": ("load", 1), "OrtCreateSessionFromArray": ("load", 1),
        "OrtRun": ("infer", 4), "OrtRunWithBinding": ("infer", 1), "OrtRunAsync": ("infer", 3),
        "OrtRunAsync callback": ("postprocess", 3),
    })
    assert one(trace, "OrtCreateSessionFromArray").bytes == os.path.getsize(model)
    shapes = [span.shape for span in named(trace, "OrtRun")]
    assert shapes == [(*SHAPE, 1), (*SHAPE, 2), (*SHAPE, 1), None], shapes
    assert {span.shape for span in named(trace, "OrtRunAsync")} == {(*SHAPE, 2)}
    assert one(trace, "OrtRunWithBinding").shape is None
    assert all(span.depth == 0 for span in named(trace, "OrtRun"))
    changes = collections.Counter(queue.op for queue in trace.queues)
    assert changes == {0: 3, 1: 3}, trace.queues
    depths = [queue.depth for queue in trace.queues]
    assert {queue.name for queue in trace.queues} == {"OrtRunAsync in flight"}
    assert min(depths) == 0 and 1 <= max(depths) <= 3, depths
    assert trace.coverage["onnxruntime"][0] == "covered", trace.coverage


def check_off(host):
    _, trace = follow(host, parts.onnxruntime(), parts.model(), off=("onnxruntime",))
    assert not [span for span in trace.spans if span.name.startswith("Ort")]


def check_old(host):
    """The table of a version without RunAsync is left alone where it ends, and other people's slots are."""
    output, trace = follow(host)
    assert "Run is as it was" in output and "behind the table: as it was" in output, output
    expect(trace, {"OrtCreateSession": ("load", 1), "OrtRunWithBinding": ("infer", 1)})


def main():
    check_old(parts.program(2))
    host = parts.program(1)
    check_run(host)
    check_off(host)


if __name__ == "__main__":
    main()
