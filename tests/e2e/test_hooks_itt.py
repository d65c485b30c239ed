# SPDX-License-Identifier: Apache-2.0
"""Bridge itt: tasks, frames and counters of a host with a client of our own.

usage: test_hooks_itt.py HOST
"""
import parts
from agent_trace import AGENT, calls, expect, follow, named, one

ENVIRONMENT = {"INTEL_LIBITTNOTIFY64": AGENT}
BEGIN, END = 0, 2


def run(*words, **options):
    return follow(parts.program(1), *words, environment=ENVIRONMENT, own=("*",), **options)


def check_tasks():
    _, trace = run("tasks")
    expect(trace, {"app:infer batch #": ("infer", 5), "app:load": ("load", 1),
                   "early:decode early": ("decode", 1), "app:decode early": ("decode", 1),
                   "OpenCVTrace:cv::resize": ("preprocess", 1)})
    assert one(trace, "app:load").bytes == 4711
    assert len(trace.spans) == 9, trace.spans
    assert trace.coverage["itt"][0] == "covered" and "1 module;" in trace.coverage["itt"][1]


def check_opencv():
    """OpenCV takes an answer to the question for the version as the wish to be traced."""
    _, trace = run("tasks")
    assert not named(trace, "app:draw asked")
    _, trace = run("tasks", config=["opencv-trace 1"])
    expect(trace, {"app:draw asked": ("draw", 1)})


def check_by_id():
    _, trace = run("id", config=["range item app:frame"])
    # Where two overlap, the one that goes on is in two parts.
    expect(trace, {"app:save x": ("save", 300), "app:send y": ("send", 600), "app:draw z": ("draw", 1)})
    assert trace.counters == {"app:draw z": 0}
    assert len(trace.items) == 24 and len({number for _, number in trace.items}) == 12, trace.items
    _, trace = run("id")
    assert not trace.items and not named(trace, "app:frame")


def check_counters():
    _, trace = run("counters")
    assert trace.counters == {"app:queue": -5}, trace.counters


def check_paused():
    output, trace = run("paused")
    assert "child 0" in output
    expect(trace, {"app:decode seen": ("decode", 1), "app:decode child": ("decode", 1)})
    assert not named(trace, "app:decode unseen")


def check_tables():
    for scenario, status in (("newer", "uninstrumented"), ("foreign", "absent")):
        output, trace = run(scenario)
        assert "unknown 2" in output and not trace.spans, (output, trace.spans)
        assert trace.coverage["itt"][0] == status, trace.coverage


def check_off():
    _, trace = run("tasks", off=("itt",))
    assert not trace.spans and trace.coverage["itt"][0] == "uninstrumented", trace
    assert calls(trace, "app:load") == 0


def main():
    check_tasks()
    check_opencv()
    check_by_id()
    check_counters()
    check_paused()
    check_tables()
    check_off()


if __name__ == "__main__":
    main()
