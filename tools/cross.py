# SPDX-License-Identifier: Apache-2.0
"""Compiles the preloaded library and a program with marks for AArch64, to show that they still do.

usage: cross.py BUILD [FOLDER]. The commands are those of BUILD, a configured Meson folder, warnings as
errors included, with the cross compiler in place of its own. The library is linked too, so that all it
needs must be in glibc. Runs nothing of what it makes, which lies in FOLDER, else nowhere afterwards.
Exit status 0 when all of it compiles, 1 when not, 77 when there is no cross compiler.
"""
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COMPILER = "aarch64-linux-gnu-gcc"
LIBRARY = "liblightmeter-agent.so"
SKIPPED = 77
MARKS = """#include <lightmeter/mark.h>
#include <stdio.h>

int main(void)
{
    LM_STAGE("preprocess");
    lm_item_begin(1);
    lm_item_end(1);
    puts("hello");
    return 0;
}
"""
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wundef", "-Werror"]


def library_commands(build):
    """(folder, command without output, source) of each file of the library."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    for entry in entries:
        if not entry["output"].startswith(LIBRARY + ".p/"):
            continue
        words = shlex.split(entry["command"])
        options = words[next(i for i, word in enumerate(words) if word.startswith("-")):]
        for name in ("-MQ", "-MF", "-o", "-c"):  # each with its argument: they name files of BUILD
            place = options.index(name)
            del options[place:place + 2]
        options.remove("-MD")
        yield entry["directory"], [COMPILER, *options], entry["file"]


def run(command, folder):
    print(shlex.join(command), flush=True)
    return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, check=False).returncode == 0


def compile_library(build, out):
    objects, is_good = [], True
    for folder, command, source in library_commands(build):
        objects.append(os.path.join(out, source.strip("./").replace("/", "_") + ".o"))
        is_good &= run([*command, "-o", objects[-1], "-c", source], folder)
    if not objects:
        sys.exit(f"cross.py: {build} builds no {LIBRARY}. Name a configured build folder.")
    return is_good and run([COMPILER, "-shared", "-pthread", "-Wl,-z,now", "-Wl,--no-undefined",
                            "-Wl,-z,nodelete", "-o", os.path.join(out, LIBRARY), *objects], out)


def compile_marks(out):
    source = os.path.join(out, "marks.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(MARKS)
    return run([COMPILER, *WARNINGS, "-I", os.path.join(ROOT, "include"), "-o",
                os.path.join(out, "marks"), source], out)


def main(arguments):
    if len(arguments) not in (1, 2):
        sys.exit(__doc__)
    if not shutil.which(COMPILER):
        print(f"there is no {COMPILER} (Debian: gcc-aarch64-linux-gnu, libc6-dev-arm64-cross)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as temporary:
        out = os.path.abspath(arguments[1]) if len(arguments) == 2 else temporary
        os.makedirs(out, exist_ok=True)
        results = [compile_library(os.path.abspath(arguments[0]), out), compile_marks(out)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
