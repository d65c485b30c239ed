# SPDX-License-Identifier: Apache-2.0
"""Fuzzes every target of the fuzz build for some seconds each, from its corpus in tests/fuzz.

Used by ./dev fuzz and, shortly, by ./dev check. What a target finds is kept in build-check/fuzz/found,
and grown corpora in build-check/fuzz/grown; nothing in the source tree is written.
"""
import os
import subprocess
import sys

import builds

CORPUS = os.path.join(builds.ROOT, "tests", "fuzz", "corpus")


def targets():
    folder = os.path.join(builds.folder_of("fuzz"), "tests", "fuzz")
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    paths = [os.path.join(folder, name) for name in names if name.startswith("fuzz_")]
    return [path for path in paths if os.path.isfile(path) and os.access(path, os.X_OK)]


def fuzz(target, seconds, log=None):
    """0 when the target stood for that long."""
    name = os.path.basename(target)
    base = builds.folder_of("fuzz")
    grown, found = os.path.join(base, "grown", name), os.path.join(base, "found", name)
    os.makedirs(grown, exist_ok=True)
    os.makedirs(found, exist_ok=True)
    seeds = os.path.join(CORPUS, name.removeprefix("fuzz_"))
    command = [target, f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=2048",
               "-print_final_stats=1", f"-artifact_prefix={found}/", grown]
    return builds.run(command + ([seeds] if os.path.isdir(seeds) else []), log)


def main():
    if len(sys.argv) != 2 or not sys.argv[1].isdigit() or int(sys.argv[1]) == 0:
        print(f"dev: fuzz: '{sys.argv[1] if len(sys.argv) > 1 else ''}' is not a number of seconds\n"
              "     usage: ./dev fuzz [SECONDS]", file=sys.stderr)
        return 2
    if builds.compile_tree("fuzz", quiet=True) != 0 or not targets():
        print("dev: the fuzz build failed or has no targets; the messages above say where", file=sys.stderr)
        return 1
    failed = []
    for target in targets():
        print(f"== {os.path.basename(target)}: {sys.argv[1]} s", flush=True)
        if fuzz(target, int(sys.argv[1])) != 0:
            failed.append(os.path.basename(target))
    for name in failed:
        print(f"dev: {name} failed; the input is in build-check/fuzz/found/{name}. Run it again with:\n"
              f"     build-check/fuzz/tests/fuzz/{name} INPUT", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
