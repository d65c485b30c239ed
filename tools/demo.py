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


def main():
    if builds.compile_tree("plain", quiet=True) != 0:
        print("dev: the build failed; the messages above say where", file=sys.stderr)
        return 1
    build = builds.folder_of("plain")
    ocr = os.path.join(build, "examples", "ocr")
    if not os.access(ocr, os.X_OK) or not os.environ["LIGHTMETER_ONNXRUNTIME_LIBRARY"]:
        print("dev: the demo needs ONNX Runtime, which the set-up could not get here\n"
              "     Name an installation: ./dev demo --onnxruntime PATH (see ./dev help).", file=sys.stderr)
        return 1
    model = os.path.join(os.environ["LIGHTMETER_MODELS"], "ch_PP-OCRv4_det_infer.onnx")
    photos = photographs()
    shown = [os.path.relpath(path, builds.ROOT) for path in (os.path.join(build, "lightmeter"), ocr)]
    print(f"\n$ {shown[0]} run -- {shown[1]} {os.path.basename(model)} PHOTO...   "
          f"({len(photos)} photographs)\n", flush=True)
    trace = os.path.join(build, "demo.lmt")
    return subprocess.run([os.path.join(build, "lightmeter"), "run", "-o", trace, "--", ocr, model,
                           *photos], cwd=builds.ROOT, check=False).returncode


sys.exit(main())
