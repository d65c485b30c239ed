# SPDX-License-Identifier: Apache-2.0
"""Hook set libtorch: a network in Python, eager and as TorchScript; each hooked name is one that the library has."""
import glob
import re

import parts
from agent_trace import AGENT, calls, expect, follow, named

PYTHON = ("/usr/bin/python3", "-B", "-c")
SCRIPT = """
import io, zlib
import torch
torch.manual_seed(3)
torch.set_num_threads(1)
nn = torch.nn
net = nn.Sequential(
    nn.Conv2d(3, 16, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(inplace=True),
    nn.Conv2d(16, 32, 3, padding="same"), nn.SiLU(), nn.MaxPool2d(2), nn.ConvTranspose2d(32, 8, 2, stride=2),
    nn.GELU(), nn.GroupNorm(4, 8), nn.LeakyReLU(0.1), nn.PReLU(), nn.Hardswish(), nn.AdaptiveAvgPool2d((4, 4)),
    nn.Flatten(), nn.Linear(128, 10), nn.LayerNorm(10), nn.ReLU6(), nn.Softmax(dim=1)).eval()
batch = torch.rand(2, 3, 64, 64)

def say(out):
    print(tuple(out.shape), zlib.crc32(out.numpy().tobytes()))

with torch.no_grad():
    say(net(batch))
    say(torch.addmm(batch[0, 0], batch[0, 1], batch[0, 2], beta=0.5))
    say(torch.bmm(batch[0], batch[1]) @ batch[1])
    say(torch.sigmoid(torch.log_softmax(torch.conv1d(batch[0], torch.ones(2, 64, 3)), 0)))
    try:
        net(torch.rand(1, 4, 8, 8))
    except RuntimeError as error:
        print(str(error)[:60])
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(net), file)
    file.seek(0)
    model = torch.jit.load(file)
    say(model(batch))
"""
EAGER = ("batch_norm", "relu_", "silu", "max_pool2d", "conv_transpose2d", "gelu", "group_norm", "leaky_relu",
         "prelu", "adaptive_avg_pool2d", "linear", "layer_norm", "softmax", "addmm", "bmm", "matmul", "sigmoid",
         "log_softmax", "conv1d")


def check_names():
    """What is hooked is there, all of it: a name with one wrong letter would never be called."""
    found = glob.glob("/usr/lib/*/libtorch_cpu.so.1.13")
    if not found:
        return
    with open(AGENT, "rb") as file:
        names = set(re.findall(rb"(_ZNK?(?:2at4_ops|5torch3jit)\w+)\0", file.read()))
    with open(found[0], "rb") as file:
        text = file.read()
    missing = [name.decode() for name in sorted(names) if name + b"\0" not in text]
    assert len(names) >= 40 and not missing, (len(names), missing)


def main():
    if parts.run(*PYTHON, "import torch").returncode:
        parts.skip("there is no PyTorch; the package python3-torch has one")
    output, trace = follow(*PYTHON, SCRIPT)
    lines = output.splitlines()
    assert len(lines) == 6 and lines[4].startswith("Given groups=1"), output
    if trace.coverage["libtorch"][0] != "covered":
        parts.skip("this PyTorch is bound inside itself")
    check_names()
    expect(trace, {"at::" + name: ("infer", None) for name in EAGER})
    # The first network has two, and so has the first layer that refuses its input.
    assert calls(trace, "at::conv2d") == 3, named(trace, "at::conv2d")
    expect(trace, {"torch::jit::import_ir_module": ("load", 1)})
    runs = named(trace, "torch::jit::GraphExecutor::run")
    assert runs and {span.stage for span in runs} == {"infer"}, runs
    # What runs inside a graph is part of it.
    inner = [span for span in trace.spans if span.name.startswith("at::") and span.depth > 0]
    assert not inner, inner
    _, trace = follow(*PYTHON, SCRIPT, off=("libtorch",))
    assert not [span for span in trace.spans if span.name.startswith(("at::", "torch::"))]


if __name__ == "__main__":
    main()
