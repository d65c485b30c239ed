# SPDX-License-Identifier: Apache-2.0
"""The libraries that the Python shim wraps: the real ones where they are installed, else stand-ins that have the
modules and names which programs call, and nothing behind them.

    test_python_libraries.py
"""
import os
import subprocess
import sys
import tempfile
import unittest

import lightmeter_run

PYTHON = "/usr/bin/python3"
ROUNDS = 12

# A stand-in: its modules, what a program does with it, and the calls that have to be seen with their stages.
STAND_INS = {
    "onnxruntime": (
        {"onnxruntime/__init__": "from onnxruntime.capi.onnxruntime_inference_collection import InferenceSession",
         "onnxruntime/capi/__init__": "",
         "onnxruntime/capi/onnxruntime_inference_collection":
             "class Session:\n    def run(self, names, feed): return [work()]\n"
             "class InferenceSession(Session):\n    def __init__(self, path): work()"},
        "import onnxruntime\nsession = onnxruntime.InferenceSession('m.onnx')\ndef once(): session.run(None, {})",
        {"onnxruntime.capi.onnxruntime_inference_collection.Session.run": "infer"}),
    "tflite": (
        {"tflite_runtime/__init__": "",
         "tflite_runtime/interpreter":
             "class Interpreter:\n    def __init__(self, path): work()\n    def allocate_tensors(self): work()\n"
             "    def invoke(self): work()"},
        "from tflite_runtime.interpreter import Interpreter\ni = Interpreter('m')\n"
        "def once(): i.allocate_tensors(); i.invoke()",
        {"tflite_runtime.interpreter.Interpreter.invoke": "infer",
         "tflite_runtime.interpreter.Interpreter.allocate_tensors": "load"}),
    "keras": (
        {"keras/__init__": "", "keras/src/__init__": "", "keras/src/trainers/__init__": "",
         "keras/src/trainers/trainer": "class Trainer:\n    def predict(self, x): return work()"},
        "from keras.src.trainers.trainer import Trainer\nclass Model(Trainer): pass\nm = Model()\n"
        "def once(): m.predict(1)",
        {"keras.src.trainers.trainer.Trainer.predict": "infer"}),
    "openvino": (
        {"openvino/__init__": "from openvino._ov_api import Core",
         "openvino/_ov_api":
             "class InferRequest:\n    def infer(self, x): return work()\n"
             "class CompiledModel:\n    def __call__(self, x): return InferRequest().infer(x)\n"
             "class Core:\n    def read_model(self, p): return work()\n"
             "    def compile_model(self, m, d): work(); return CompiledModel()"},
        "import openvino\nc = openvino.Core()\nmodel = c.compile_model(c.read_model('m'), 'CPU')\ndef once(): model(1)",
        {"openvino.CompiledModel": "infer", "openvino._ov_api.InferRequest.infer": "infer"}),
    "albumentations": (
        {"albumentations/__init__": "", "albumentations/core/__init__": "",
         "albumentations/core/composition": "class Compose:\n    def __call__(self, *a, **k): return work()"},
        "from albumentations.core.composition import Compose\nt = Compose()\ndef once(): t(image=1)",
        {"albumentations.Compose": "preprocess"}),
    "ultralytics": (
        {"ultralytics/__init__": "", "ultralytics/engine/__init__": "",
         "ultralytics/engine/predictor":
             "class BasePredictor:\n    def setup_model(self, m): work()\n    def preprocess(self, x): return work()\n"
             "    def inference(self, x): return work()\n    def postprocess(self, x): return work()"},
        "from ultralytics.engine.predictor import BasePredictor\n"
        "class Detect(BasePredictor):\n    def postprocess(self, x): return super().postprocess(x)\n"
        "p = Detect(); p.setup_model(1)\ndef once(): p.postprocess(p.inference(p.preprocess(1)))",
        {"ultralytics.engine.predictor.BasePredictor." + name: stage for name, stage in
         (("preprocess", "preprocess"), ("inference", "infer"), ("postprocess", "postprocess"))}),
    "decord": (
        {"decord/__init__": "from decord.video_reader import VideoReader",
         "decord/video_reader":
             "class VideoReader:\n    def __init__(self, p): work()\n    def __getitem__(self, i): return work()\n"
             "    def get_batch(self, i): return work()"},
        "import decord\nv = decord.VideoReader('v.mp4')\ndef once(): v[1]; v.get_batch([1, 2])",
        {"decord.video_reader.VideoReader.__getitem__": "decode", "decord.video_reader.VideoReader.get_batch": "decode"}),
    "zarr": (
        {"zarr/__init__": "from zarr.core import Array",
         "zarr/core": "class Array:\n    def __getitem__(self, i): return work()\n    def __setitem__(self, i, x): work()"},
        "import zarr\na = zarr.Array()\ndef once(): a[0] = a[1]",
        {"zarr.core.Array.__getitem__": "load", "zarr.core.Array.__setitem__": "save"}),
    "httpx": (
        {"httpx/__init__": "from httpx._client import Client",
         "httpx/_client": "class Client:\n    def send(self, r): return work()\n    def get(self, u): return self.send(u)"},
        "import httpx\nc = httpx.Client()\ndef once(): c.get('u')",
        {"httpx._client.Client.send": "receive"}),
}

# The real ones: what a program does, and what has to be seen.
REAL = {
    "skimage": (
        "import skimage.io, skimage.transform, skimage.color, skimage.filters, skimage.measure, numpy\n"
        "picture = (numpy.random.rand(60, 80, 3) * 255).astype('uint8')\n"
        "def once():\n"
        "    skimage.io.imsave(folder + '/a.png', picture); a = skimage.io.imread(folder + '/a.png')\n"
        "    g = skimage.filters.gaussian(skimage.color.rgb2gray(skimage.transform.resize(a, (30, 40))))\n"
        "    skimage.measure.label(g > .5)",
        {"skimage.io._io.imread": "decode", "skimage.io._io.imsave": "encode",
         "skimage.transform._warps.resize": "preprocess", "skimage.color.colorconv.rgb2gray": "convert",
         "skimage.filters._gaussian.gaussian": "preprocess", "skimage.measure._label.label": "postprocess"}),
    "imageio": (
        "import imageio, numpy\npicture = numpy.zeros((60, 80, 3), numpy.uint8)\n"
        "def once(): imageio.imwrite(folder + '/a.png', picture); imageio.imread(folder + '/a.png')",
        {"imread": "decode", "imwrite": "encode"}),
    "h5py": (
        "import h5py, numpy\nfile = h5py.File(folder + '/a.h5', 'w'); d = file.create_dataset('x', data=numpy.zeros(1000))\n"
        "def once(): d[0:10] = d[10:20]",
        {"Dataset.__getitem__": "load", "Dataset.__setitem__": "save"}),
    "torchvision": (
        "import torch, torchvision\nfrom torchvision import transforms\nfrom PIL import Image\n"
        "t = transforms.Compose([transforms.Resize(32), transforms.ToTensor(), transforms.Normalize([.5] * 3, [.5] * 3)])\n"
        "picture = Image.new('RGB', (80, 60))\nnet = torch.nn.Conv2d(3, 4, 3)\n"
        "def once():\n"
        "    with torch.no_grad(): net(t(picture)[None])\n"
        "    torchvision.ops.nms(torch.rand(50, 4).cumsum(1), torch.rand(50), .5)",
        {"torchvision.transforms.Resize": "preprocess", "torchvision.transforms.Normalize": "preprocess",
         "torchvision.transforms.functional.to_tensor": "convert", "torchvision.ops.boxes.nms": "postprocess",
         "torch.nn.Module": "infer"}),
    "torch.utils.data": (
        "import torch\nfrom torch.utils.data import DataLoader, TensorDataset\n"
        "data = TensorDataset(torch.zeros(8, 3))\n"
        "def once():\n    for _ in DataLoader(data, batch_size=4): pass",
        {"torch.utils.data fetch": "load"}),
    "requests": (
        "import requests, threading, http.server\n"
        "class Handler(http.server.BaseHTTPRequestHandler):\n"
        "    def do_GET(self): self.send_response(200); self.end_headers(); self.wfile.write(b'x' * 1000)\n"
        "    def log_message(self, *_): pass\n"
        "server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)\n"
        "threading.Thread(target=server.serve_forever, daemon=True).start()\n"
        "url = 'http://127.0.0.1:%d/' % server.server_port\n"
        "def once(): requests.get(url).content",
        {"requests.sessions.Session.request": "receive", "http.client.HTTPConnection.getresponse": "receive"}),
    "numpy": (
        "import numpy\nnumpy.save(folder + '/a.npy', numpy.zeros(1000))\ndef once(): numpy.load(folder + '/a.npy')",
        {"numpy.load": "load"}),
    "concurrent.futures": (
        "import time\nfrom concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(2)\n"
        "def once(): pool.submit(time.sleep, .01).result()",
        {"concurrent.futures._base.Future.result": "wait"}),
}
PROGRAM = """
import sys, lightmeter
folder = sys.argv[1]
sys.path.insert(0, folder)
{text}
for number in range({rounds}):
    with lightmeter.item(number): once()
"""
WORK = "def work():\n    for _ in range(20000): pass\n"


class Libraries(unittest.TestCase):
    def check(self, folder, text, expected):
        result, report, _ = lightmeter_run.measured(
            PYTHON, "-B", "-c", PROGRAM.format(text=text, rounds=ROUNDS), folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        seen = {function["name"]: function for function in report["functions"]}
        for name, stage in expected.items():
            found = [function for full, function in seen.items() if full == name or full.endswith("." + name)]
            self.assertTrue(found, f"{name} is not in {sorted(seen)}")
            self.assertEqual(found[0]["stage"], stage, name)
            self.assertGreaterEqual(found[0]["calls"], ROUNDS - 2, name)
        self.assertEqual([row for row in report["collection"]["coverage"] if "could not be wrapped" in row["why"]], [])

    def test_stand_ins(self):
        for library, (modules, text, expected) in STAND_INS.items():
            with self.subTest(library=library), tempfile.TemporaryDirectory() as folder:
                for path, source in modules.items():
                    file = os.path.join(folder, path + ".py")
                    os.makedirs(os.path.dirname(file), exist_ok=True)
                    with open(file, "w", encoding="utf-8") as out:
                        out.write(WORK + source)
                self.check(folder, text, expected)

    def test_real(self):
        for library, (text, expected) in REAL.items():
            with self.subTest(library=library), tempfile.TemporaryDirectory() as folder:
                if subprocess.run([PYTHON, "-c", f"import {library}"], capture_output=True, check=False).returncode:
                    self.skipTest(f"{library} is not installed")
                self.check(folder, text, expected)

    def test_every_library_has_its_case(self):
        here = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "python", "lightmeter", "libraries")
        files = {name[:-3] for name in os.listdir(here) if name.endswith(".py") and name != "__init__.py"}
        with open(os.path.join(here, "__init__.py"), encoding="utf-8") as file:
            rows = {line.split('"')[1] for line in file if line.startswith('    "')}
        self.assertEqual(files, rows, "files, and rows of LIBRARIES")
        with open(os.path.join(here, "..", "..", "..", "docs", "python.md"), encoding="utf-8") as file:
            page = file.read()
        self.assertEqual([name for name in sorted(files) if f"| {name} |" not in page], [], "not in docs/python.md")


if __name__ == "__main__":
    sys.exit(unittest.main())
