# SPDX-License-Identifier: Apache-2.0
"""Bridge nvtx: ranges of a host with a client of our own, also of an older and a newer kind.

usage: test_hooks_nvtx.py HOST MODULE
"""
import collections

import parts
from agent_trace import AGENT, calls, expect, follow, named, one

ENVIRONMENT = {"NVTX_INJECTION64_PATH": AGENT}
BEGIN, END = 0, 2


def run(*words, **options):
    return follow(parts.program(1), *words, environment=ENVIRONMENT, own=("*",), **options)


def check_ranges():
    _, trace = run("ranges")
    expect(trace, {"decode image #": ("decode", 12), "Preprocess é中😀": ("preprocess", 1),
                   "Preprocessor": ("Preprocessor", 1), "conv1": ("conv1", 1)})
    assert len(trace.spans) == 15, trace.spans
    assert trace.coverage["nvtx"][0] == "covered" and "1 module;" in trace.coverage["nvtx"][1]


def check_domains():
    _, trace = run("domains")
    expect(trace, {"ocr:detect": ("detect", 3), "wé:load": ("load", 1), "infer a": ("infer", 1),
                   "ocr:encode b": ("encode", 2)})
    assert not named(trace, "NCCL:send"), "the insides of a library are not stages"
    assert one(trace, "infer a").end <= named(trace, "ocr:encode b")[1].end
    assert sum(span.calls for span in trace.spans if span.stage == "save") == 70
    assert calls(trace, "(more domains):save") == 70 - (62 - 3)


def check_free():
    rule = ["range item frame #"]
    _, trace = run("free", config=rule, drops=3000 - 1024)
    expect(trace, {"save outer": ("save", 1), "track inner": ("track", 2), "draw": ("draw", 4),
                   "track many": ("track", 5000), "transfer there": ("transfer", 1)})
    assert trace.counters["transfer there"] == 0 and "transfer there" in trace.counters
    ends = collections.Counter(trace.items)
    assert len(trace.items) == 6 and [op for op, _ in ends].count(BEGIN) == 3 == \
        [op for op, _ in ends].count(END), trace.items


def check_endless():
    _, trace = run("endless", drops=36)
    names = {span.name for span in trace.spans}
    assert len(names) < 540, len(names)
    stages = collections.Counter()
    for span in trace.spans:
        stages[span.stage] += span.calls
    # A name beyond the limit keeps its stage, where it has one that many names share.
    assert stages["decode"] == 1500 and stages["infer"] == 64 and stages["load"] == 1, stages
    assert {span.stage for span in named(trace, "(more names)")} == {"decode", "other", "infer", "load"}


def check_odd():
    output, trace = run("odd")
    assert "child 0" in output and "errno 77" in output
    expect(trace, {"load parent": ("load", 1), "decode child": ("decode", 1),
                   "encode jumped": ("encode", 1), "save within": ("save", 1)})
    assert one(trace, "save within").depth == one(trace, "encode jumped").depth + 1


def check_module():
    output, trace = run("module", parts.program(2))
    assert "module 1" in output
    expect(trace, {"infer here": ("infer", 1), "postprocess": ("postprocess", 1), "encode": ("encode", 1),
                   "decode in thread": ("decode", 2000), "convert": ("convert", 2000)})
    assert "2 modules" in trace.coverage["nvtx"][1], trace.coverage


def check_tables():
    _, trace = run("smaller")
    assert trace.coverage["nvtx"][0] == "covered"
    _, trace = run("newer")
    assert calls(trace, "decode image #") == 12
    for scenario in ("short", "refusing"):
        _, trace = run(scenario)
        assert not trace.spans and trace.coverage["nvtx"][0] == "uninstrumented", trace


def check_rules():
    rules = ["range ignore conv?", "range item decode image *", "range mine Pre*", "range mine ocr:det*",
             "range draw aten::*"]
    _, trace = run("ranges", config=rules)
    expect(trace, {"Preprocess é中😀": ("mine", 1), "Preprocessor": ("mine", 1),
                   "aten::conv2d, seq = #": ("draw", 1)})
    assert len(trace.spans) == 3 and len(trace.items) == 24, trace
    assert len({number for _, number in trace.items}) == 12
    _, trace = run("domains", config=rules)
    assert one(trace, "ocr:detect").stage == "mine" if calls(trace, "ocr:detect") == 1 else \
        {span.stage for span in named(trace, "ocr:detect")} == {"mine"}


def check_off():
    _, trace = run("ranges", off=("nvtx",))
    assert not trace.spans and trace.coverage["nvtx"][0] == "uninstrumented", trace


def main():
    check_ranges()
    check_domains()
    check_free()
    check_endless()
    check_odd()
    check_module()
    check_tables()
    check_rules()
    check_off()


if __name__ == "__main__":
    main()
