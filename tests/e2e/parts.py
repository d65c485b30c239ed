# SPDX-License-Identifier: Apache-2.0
"""Where the end-to-end tests of the examples find what the set-up brought, and how they skip.

Imported by the tests beside it. The places come from the environment that ./dev sets, else from the
set-up's default folder. A test that lacks a part ends with status 77, which Meson counts as skipped.
"""
import os
import subprocess
import sys

SKIPPED = 77


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def cache():
    named = os.environ.get("LIGHTMETER_CACHE")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return named or os.path.join(home, "lightmeter")


def part(variable, *default):
    """The path in the environment variable, else the one under the set-up's folder; must exist."""
    path = os.environ.get(variable) or os.path.join(cache(), *default)
    if not os.path.exists(path):
        skip(f"there is no {path}; ./dev setup brings it")
    return path


def model():
    return os.path.join(part("LIGHTMETER_MODELS", "models"), "ch_PP-OCRv4_det_infer.onnx")


def onnxruntime():
    return part("LIGHTMETER_ONNXRUNTIME_LIBRARY", "onnxruntime", "lib", "libonnxruntime.so.1")


def photos(count):
    """`count` JPEG photographs, spread over the corpus, the same ones every time."""
    folder = part("LIGHTMETER_PHOTOS", "photos")
    names = sorted(name for name in os.listdir(folder) if name.endswith(".jpg"))
    if len(names) < count:
        skip(f"there are only {len(names)} photographs in {folder}; ./dev setup brings more")
    return [os.path.join(folder, names[i * len(names) // count]) for i in range(count)]


def program(position=1):
    """The program under test: an argument of the test."""
    if len(sys.argv) <= position or not os.access(sys.argv[position], os.R_OK):
        skip("the program under test was not built")
    return sys.argv[position]


def run(*command, **options):
    """Runs to the end, with a limit, and keeps what it prints."""
    settings = {"capture_output": True, "timeout": 240, "check": False, **options}
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, **settings)


def rejects(status, words, *command, **options):
    """The command ends with this status and says all these words on stderr, and nothing of a crash."""
    result = run(*command, **options)
    text = result.stderr.decode("utf-8", "replace")
    assert result.returncode == status, f"{command}: status {result.returncode}, not {status}: {text}"
    missing = [word for word in words if word not in text]
    assert not missing, f"{command}: the message lacks {missing}: {text}"
    return result
