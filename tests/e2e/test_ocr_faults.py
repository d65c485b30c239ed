# SPDX-License-Identifier: Apache-2.0
"""What examples/ocr does with bad input: a message that helps, the right status, nothing lost.

usage: test_ocr_faults.py OCR. Damaged photographs are skipped and named, the others still come out;
wrong models, libraries and command lines end the program before it starts.
"""
import json
import os
import subprocess
import sys
import tempfile

import parts


def write(folder, name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def damaged_photos(folder, good):
    """Files that no decoder should take, and a word of the message for each."""
    with open(good, "rb") as file:
        data = file.read()
    middle = len(data) // 2
    flipped = data[:middle] + bytes(byte ^ 0x55 for byte in data[middle:middle + 4000]) + data[middle + 4000:]
    return {
        write(folder, "cut.jpg", data[:middle]): "damaged",
        write(folder, "flipped.jpg", flipped): "damaged",
        write(folder, "header-only.jpg", data[:20]): "damaged",
        write(folder, "empty.jpg", b""): "empty",
        write(folder, "text.jpg", b"this is no photograph\n"): "not a JPEG",
        os.path.join(folder, "missing.jpg"): "No such file",
        folder + "/folder.jpg": "",
    }


def check_damaged(ocr, start, folder, good):
    bad = damaged_photos(folder, good)
    os.mkdir(folder + "/folder.jpg")
    write(folder + "/folder.jpg", "inside.jpeg", b"\xff\xd8\xff")
    words = [word for word in bad.values() if word] + [os.path.basename(path) for path in bad]
    result = parts.rejects(1, words + ["7 of 9 photographs were skipped"], ocr, *start, good, *bad, good)
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["photo"] for line in lines] == [good, good], "the good photographs come out"
    assert lines[0] == lines[1]


def check_models(ocr, library, folder, good):
    first = ["--onnxruntime", library]
    models = os.path.dirname(parts.model())
    missing = os.path.join(folder, "missing.onnx")
    parts.rejects(2, [missing], ocr, *first, missing, good)
    parts.rejects(2, ["noise.onnx"], ocr, *first, write(folder, "noise.onnx", b"\x08\x07 noise"), good)
    other = os.path.join(models, "ch_PP-OCRv4_rec_infer.onnx")
    parts.rejects(2, [other, "not a text detection model", "PP-OCRv4"], ocr, *first, other, good)
    with open(parts.model(), "rb") as file:
        cut = write(folder, "cut.onnx", file.read()[:100000])
    parts.rejects(2, ["cut.onnx"], ocr, *first, cut, good)


def check_libraries(ocr, folder, good):
    no_library = os.path.join(folder, "libonnxruntime.so")
    clean = {key: value for key, value in os.environ.items() if key != "LIGHTMETER_ONNXRUNTIME"}
    parts.rejects(2, ["cannot open ONNX Runtime", "--onnxruntime"], ocr, "--onnxruntime", no_library,
                  parts.model(), good)
    parts.rejects(2, ["cannot open ONNX Runtime"], ocr, parts.model(), good,
                  env={**clean, "LIGHTMETER_ONNXRUNTIME": no_library})
    parts.rejects(2, ["no libonnxruntime.so in"], ocr, "--onnxruntime", folder, parts.model(), good)
    parts.rejects(2, ["is not ONNX Runtime"], ocr, "--onnxruntime", "libm.so.6", parts.model(), good)
    holder = os.path.dirname(parts.onnxruntime())
    prefix = [os.path.dirname(holder)] if os.path.basename(holder) == "lib" else []
    for place in [parts.onnxruntime(), holder] + prefix:
        result = parts.run(ocr, parts.model(), good, env={**clean, "LIGHTMETER_ONNXRUNTIME": place})
        assert result.returncode == 0, f"{place}: {result.stderr.decode()}"


def check_command_lines(ocr, start, folder, good):
    empty = os.path.join(folder, "empty")
    os.mkdir(empty)
    for words, line in (
            (["name a model", "--help"], []),
            (["name a model"], [parts.model()]),
            (["--limit-side", "32 to 4096"], ["--limit-side", "31", parts.model(), good]),
            (["--threads", "1 to 256"], ["--threads", "two", parts.model(), good]),
            (["--repeat"], ["--repeat", "-1", parts.model(), good]),
            (["not understood", "--help"], ["--fast", parts.model(), good]),
            (["no *.jpg", empty], [parts.model(), empty])):
        result = parts.rejects(2, words, ocr, *line)
        assert result.stdout == b"", f"{line}: nothing belongs on stdout"
    shown = parts.run(ocr, "--help")
    assert shown.returncode == 0 and b"usage: ocr" in shown.stdout and shown.stderr == b""
    with open("/dev/full", "wb") as full:
        result = subprocess.run([ocr, *start, good], stdout=full, stderr=subprocess.PIPE, check=False,
                                timeout=240)
    assert result.returncode == 2 and b"cannot write the output" in result.stderr, result.stderr


def check_names(ocr, start, folder, good):
    """Any file name makes a valid line of JSON; --repeat goes through the list again."""
    with open(good, "rb") as file:
        data = file.read()
    odd = os.fsencode(folder) + b'/a "quoted" \\ name\twith caf\xc3\xa9 and \xff\x80.jpg'
    with open(odd, "wb") as file:
        file.write(data)
    result = subprocess.run([ocr, *start[:-1], "--repeat", "2", start[-1], odd], capture_output=True,
                            check=False, timeout=240)
    lines = [json.loads(line) for line in result.stdout.decode("utf-8").splitlines()]
    assert len(lines) == 2 and lines[0] == lines[1], result
    assert lines[0]["photo"].endswith('/a "quoted" \\ name\twith caf\u00e9 and \ufffd\ufffd.jpg'), lines[0]


def main():
    ocr, library = parts.program(), parts.onnxruntime()
    good = min(parts.photos(20), key=os.path.getsize)
    start = ["--onnxruntime", library, "--limit-side", "320", parts.model()]
    with tempfile.TemporaryDirectory() as folder:
        check_damaged(ocr, start, folder, good)
        check_models(ocr, library, folder, good)
        check_libraries(ocr, folder, good)
        check_command_lines(ocr, start, folder, good)
        check_names(ocr, start, folder, good)
    print("ok")


sys.exit(main())
