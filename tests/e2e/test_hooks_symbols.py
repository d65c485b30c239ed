# SPDX-License-Identifier: Apache-2.0
"""Each symbol that the hook sets look for exists: in an installed library, or in another version of it.

usage: test_hooks_symbols.py HOOK_SYMBOLS ARCHIVE_OF_NEWER. A name that is mangled wrongly would never be found
and nobody would notice. Which libraries a set's functions lie in, its own table says.
"""
import glob
import os
import re
import subprocess
import sys

import parts

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
import hook_table  # noqa: E402

FOLDERS = ("/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib")
# Sets whose library Debian does not have, or their own test opens: set: why.
NOT_INSTALLED = {
    "cuda": "NVIDIA's own; test_hooks_cuda.py has a stand-in",
    "onnxruntime": "test_hooks_onnxruntime.py opens the set-up's",
    "openvino": "not in Debian; test_hooks_openvino.py has a stand-in",
    "tflite": "not in Debian; test_hooks_tflite.py has a stand-in",
}
# What other versions have than those the machine may have: set: (pattern, why).
ELSEWHERE = {
    "io_uring": (r"io_uring_(submit_and_wait|wait_cqes)_min_timeout$|io_(submit|p?getevents)$",
                 "liburing 2.8; libaio"),
    "libavcodec": (r"avcodec_(de|en)code_(video2|audio[24])$", "FFmpeg until 4"),
    "libjpeg": (r"jpeg1[26]_", "libjpeg-turbo 3"),
    "swscale": (r"sws_free_context$", "FFmpeg from 7.1"),
    "tesseract": (r"_ZN9tesseract11TessBaseAPI(\d+\w+)EP10ETEXT_DESCi?$|"
                  r"_ZN9tesseract11TessBaseAPI8DetectOSEP9OSResults$", "Tesseract 4"),
    "turbojpeg": (r"tj3", "libjpeg-turbo 3"),
}
# Functions of a library that the set's own calls: set: how their file names begin.
BESIDE = {"libavcodec": ["libavutil"]}
SHOWN = 20
VERSION = re.compile(r"^(_ZN2cv3dnn)14dnn4_v\d{8}")


def symbols(*options):
    output = subprocess.run(["nm", *options], check=True, capture_output=True, text=True).stdout
    words = (line.split() for line in output.splitlines() if line.strip() and not line.endswith(":"))
    return {VERSION.sub(r"\1", line[-1].split("@")[0]) for line in words}


def installed(one):
    """The files of the set's libraries, each once."""
    found = (path for head in one.libraries + BESIDE.get(one.name, []) for folder in FOLDERS
             for path in glob.glob(f"{folder}/{head}*") if ".so" in path)
    return sorted({os.path.realpath(path) for path in found})


def check_set(one, newer):
    """How many of the set's symbols were found; None when its library is not there."""
    wanted = {call.symbol for call in one.calls if not call.is_libc}
    files = installed(one)
    if not files or one.name in NOT_INSTALLED:
        return None
    have = set().union(newer, *(symbols("-D", "--defined-only", path) for path in files))
    pattern, why = ELSEWHERE.get(one.name, (None, ""))
    missing = sorted(wanted - have)
    wrong = [name for name in missing if pattern is None or not re.match(pattern, name)]
    assert not wrong, f"{one.name}: {files} lack {len(wanted - have)} symbols of {len(wanted)}: " \
        f"{wrong[:SHOWN]} (allowed: {why or 'none'})"
    assert len(missing) < len(wanted), f"{one.name}: {files} have none of its symbols"
    return len(wanted) - len(missing)


def check_whole(table):
    """No function is in two sets: only one of them would see it. And the agent finds each quickly."""
    owners = {}
    for one in table.sets:
        for call in one.calls:
            owners.setdefault(call.symbol, []).append(one.name)
    twice = {symbol: sets for symbol, sets in owners.items() if len(sets) > 1}
    assert not twice, f"in two rows: {dict(list(twice.items())[:SHOWN])}"
    used, slots = table.slots
    assert used == sum(not call.is_libc for one in table.sets for call in one.calls), used
    assert 2 * used <= slots, f"{used} functions in {slots} places: raise SYMBOLS_SLOTS"
    assert {"file_io", "jumps", "libjpeg", "opencv_core"} <= {one.name for one in table.sets}
    unknown = sorted((set(NOT_INSTALLED) | set(ELSEWHERE) | set(BESIDE)) - {one.name for one in table.sets})
    assert not unknown, f"no such sets: {unknown}"


def main():
    table, newer = hook_table.read(parts.program(1)), symbols(parts.program(2))
    check_whole(table)
    followed = [one for one in table.sets if any(not call.is_libc for call in one.calls)]
    found = {one.name: check_set(one, newer) for one in followed}
    absent = sorted(name for name, count in found.items() if count is None and name not in NOT_INSTALLED)
    print(f"{sum(filter(None, found.values()))} symbols found; not installed: {', '.join(absent) or 'none'}")
    if absent:
        parts.skip(f"there is no library of {', '.join(absent)}; ./dev setup brings it")


if __name__ == "__main__":
    main()
