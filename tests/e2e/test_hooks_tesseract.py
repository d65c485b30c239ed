# SPDX-License-Identifier: Apache-2.0
"""Hook set tesseract: a host that uses the C API, and the program tesseract, on a picture of a few words.

usage: test_hooks_tesseract.py HOST
"""
import os
import shutil
import subprocess
import tempfile

import parts
from agent_trace import calls, expect, follow, named, one

SIZE = (420, 60)
# One thread: those of OpenMP would only make the test slower.
ALONE = {"OMP_THREAD_LIMIT": "1"}
DRAW = f"""
import sys
from PIL import Image, ImageDraw, ImageFont
small = Image.new("L", {(SIZE[0] // 3, SIZE[1] // 3)}, 255)
ImageDraw.Draw(small).text((8, 5), "seven words 1234", fill=0, font=ImageFont.load_default())
small.resize({SIZE}, Image.BICUBIC).save(sys.argv[1])
"""


def ours(trace):
    return [span for span in trace.spans if span.name.startswith(("Tess", "LSTM"))]


def check_host(host, picture):
    output, trace = follow(host, picture, environment=ALONE)
    assert "words" in output, output
    expect(trace, {"TessBaseAPI::Init": ("load", 2), "TessBaseAPI::SetImage": ("preprocess", 2),
                   "TessBaseAPI::AnalyseLayout": ("preprocess", 1), "TessBaseAPI::FindLines": ("preprocess", None),
                   "TessBaseAPI::Recognize": ("infer", 2), "LSTMRecognizer::RecognizeLine": ("infer", None),
                   "TessBaseAPI::GetUTF8Text": ("postprocess", 2), "TessBaseAPI::GetTSVText": ("postprocess", 1),
                   "TessBaseAPI::GetHOCRText": ("postprocess", 1)})
    by_pix, by_bytes = named(trace, "TessBaseAPI::SetImage")
    assert (by_pix.shape, by_bytes.shape) == ((*SIZE, 0, 0), (*SIZE, 1, 0)), (by_pix, by_bytes)
    assert "INPUT" in by_bytes.values and "INPUT" not in by_pix.values, (by_pix, by_bytes)
    # All calls are of one object; the program's own are at the top but for the text that had to be recognized first.
    assert len({span.values["SESSION"] for span in ours(trace) if "SESSION" in span.values}) == 1
    assert sorted(span.depth for span in named(trace, "TessBaseAPI::Recognize")) == [0, 1]
    assert {span.depth for span in named(trace, "TessBaseAPI::Init")} == {0}
    # Leptonica is seen inside it.
    assert one(trace, "pixRead").stage == "decode" and any(s.name.startswith("pix") and s.depth for s in trace.spans)
    assert trace.coverage["tesseract"][0] == "covered", trace.coverage


def check_off(host, picture):
    _, trace = follow(host, picture, off=("tesseract",), environment=ALONE)
    assert not ours(trace)
    assert trace.coverage["tesseract"][0] == "uninstrumented", trace.coverage


def check_program(picture):
    if not shutil.which("tesseract"):
        return
    output, trace = follow("tesseract", picture, "-", "--psm", "6", environment=ALONE)
    assert "words" in output, output
    expect(trace, {"TessBaseAPI::ProcessPages": ("postprocess", 1), "TessBaseAPI::ProcessPage": ("postprocess", 1),
                   "TessBaseAPI::Init": ("load", 1), "TessBaseAPI::Recognize": ("infer", 1), "pixRead": ("decode", None),
                   "TessResultRenderer::AddImage": ("save", 1), "TessBaseAPI::GetUTF8Text": ("postprocess", 1)})
    assert one(trace, "TessBaseAPI::ProcessPage").shape[:2] == SIZE
    assert calls(trace, "LSTMRecognizer::RecognizeLine") >= 1


def main():
    host = parts.program(1)
    with tempfile.TemporaryDirectory() as folder:
        picture = os.path.join(folder, "text.png")
        drawn = subprocess.run(["/usr/bin/python3", "-c", DRAW, picture], check=False, capture_output=True)
        if drawn.returncode:
            parts.skip("there is no Pillow to draw the picture with")
        if parts.run(host, picture).returncode == parts.SKIPPED:
            parts.skip("there is no model for English")
        check_host(host, picture)
        check_off(host, picture)
        check_program(picture)


if __name__ == "__main__":
    main()
