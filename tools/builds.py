# SPDX-License-Identifier: Apache-2.0
"""Configures and compiles the tree in one of the ways of BUILDS, each in a folder of its own.

Used by ./dev build and by the other tools here. A folder is configured anew only when its options
change. Where ONNX Runtime is comes from ./dev through the environment.
"""
import hashlib
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CHECKED = ["-Dtests=enabled", "-Dexamples=enabled", "--werror"]
SANITIZED = CHECKED + ["-Db_lundef=false", "--buildtype=debugoptimized"]

# name: (folder, compiler, options)
BUILDS = {
    "plain": ("build", "gcc", ["--buildtype=debugoptimized"]),
    "gcc": ("build-check/gcc", "gcc", CHECKED),
    "clang": ("build-check/clang", "clang", CHECKED),
    "asan": ("build-check/asan", "gcc", SANITIZED + ["-Db_sanitize=address,undefined"]),
    # gcc warns of each fence: its sanitizer does not follow them, so races they order are reported.
    "tsan": ("build-check/tsan", "gcc", SANITIZED + ["-Db_sanitize=thread", "-Dc_args=-Wno-tsan"]),
    "fuzz": ("build-check/fuzz", "clang",
             SANITIZED + ["-Dfuzz=true", "-Db_sanitize=address,undefined"]),
}


def folder_of(name):
    return os.path.join(ROOT, BUILDS[name][0])


def options_of(name):
    options = list(BUILDS[name][2])
    for option, variable in (("onnxruntime_include", "LIGHTMETER_ONNXRUNTIME_INCLUDE"),
                             ("onnxruntime_library", "LIGHTMETER_ONNXRUNTIME_LIBRARY")):
        options.append(f"-D{option}={os.environ.get(variable, '')}")
    return options


def run(command, log):
    """Runs it with its output in `log` (a file), or on our own when log is None."""
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log,
                          stderr=subprocess.STDOUT if log else None, check=False,
                          env=environment()).returncode


def environment():
    env = {key: value for key, value in os.environ.items()
           if key not in ("CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS", "LD_PRELOAD")}
    # The interpreter that Meson and the tests find first must be the system's.
    env["PATH"] = "/usr/bin:/bin:" + env.get("PATH", "")
    return env


def configure(name, log=None):
    folder, options = folder_of(name), options_of(name)
    compiler = BUILDS[name][1]
    stamp = os.path.join(folder, ".options")
    wanted = hashlib.sha256("\n".join([ROOT, compiler] + options).encode()).hexdigest()
    if os.path.exists(os.path.join(folder, "build.ninja")) and os.path.exists(stamp):
        with open(stamp, encoding="utf-8") as file:
            if file.read() == wanted:
                return 0
    shutil.rmtree(folder, ignore_errors=True)
    cxx = {"gcc": "g++", "clang": "clang++"}[compiler]
    status = run(["env", f"CC={compiler}", f"CXX={cxx}", "meson", "setup", folder, *options], log)
    if status == 0:
        with open(stamp, "w", encoding="utf-8") as file:
            file.write(wanted)
    return status


def compile_tree(name, log=None, quiet=False):
    """0 when the build in `name` stands. `quiet`: only what ninja says of failures."""
    status = configure(name, log)
    if status == 0:
        status = run(["ninja", "-C", folder_of(name)] + (["--quiet"] if quiet else []), log)
    return status


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in BUILDS:
        print(f"usage: builds.py {'|'.join(BUILDS)}", file=sys.stderr)
        return 2
    return compile_tree(sys.argv[1])


if __name__ == "__main__":
    sys.exit(main())
