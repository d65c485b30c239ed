# SPDX-License-Identifier: Apache-2.0
"""./dev demo: a real OCR text detection over real photographs, measured, with the report shown."""
import csv
import os
import subprocess
import sys

import builds

PHOTOS, BYTES_MIN, BYTES_MAX = 16, 500_000, 8_000_000


def photographs():
    """PHOTOS JPEGs of a camera's size, spread over the corpus; the same ones every time."""
    with open(os.environ["LIGHTMETER_PHOTOS_LIST"], encoding="utf-8", newline="") as table:
        rows = [row for row in csv.DictReader(table, delimiter="\t")
                if row["format"] == "jpeg" and BYTES_MIN <= int(row["bytes"]) <= BYTES_MAX]
    picked = [rows[i * len(rows) // PHOTOS] for i in range(min(PHOTOS, len(rows)))]
    return [os.path.join(os.environ["LIGHTMETER_PHOTOS"], row["path"]) for row in picked]


def pipeline(build):
    """The command to measure: text detection, or without ONNX Runtime the threaded pipeline."""
    examples = os.path.join(build, "examples")
    ocr = os.path.join(examples, "ocr")
    if os.access(ocr, os.X_OK) and os.environ["LIGHTMETER_ONNXRUNTIME_LIBRARY"]:
        return [ocr, os.path.join(os.environ["LIGHTMETER_MODELS"], "ch_PP-OCRv4_det_infer.onnx")]
    print("dev: the text detection needs ONNX Runtime, which the set-up could not get here; this is the\n"
          "     threaded pipeline instead. To see the text detection, name an installation:\n"
          "     ./dev demo --onnxruntime PATH (see ./dev help).", file=sys.stderr)
    return [os.path.join(examples, "threads")]


def main():
    if builds.compile_tree("plain", quiet=True) != 0:
        print("dev: the build failed; the messages above say where", file=sys.stderr)
        return 1
    build = builds.folder_of("plain")
    command, photos = pipeline(build), photographs()
    lightmeter = os.path.join(build, "lightmeter")
    shown = [os.path.relpath(path, builds.ROOT) for path in (lightmeter, command[0])]
    print(f"\n$ {shown[0]} run -- {shown[1]} "
          + "".join(os.path.basename(argument) + " " for argument in command[1:])
          + f"PHOTO...   ({len(photos)} photographs)\n", flush=True)
    # Its own output is one line for each box or picture; the report is what the demo is about.
    with open(os.path.join(build, "demo-output.txt"), "wb") as output:
        status = subprocess.run([lightmeter, "run", "-o", os.path.join(build, "demo.lmt"), "--", *command,
                                 *photos], cwd=builds.ROOT, stdout=output, check=False).returncode
    print(f"\nThe pipeline's own output: {os.path.relpath(output.name, builds.ROOT)}; the trace: build/demo.lmt\n"
          "Look at it again: build/lightmeter report build/demo.lmt", flush=True)
    return status


sys.exit(main())
