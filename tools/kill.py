# SPDX-License-Identifier: Apache-2.0
"""./dev kill [REPEATS [SEED]]: kill -9 of a program, of Lightmeter and of both at random moments, over and over.

The long form of tests/e2e/test_kill.py, with the gcc build. What a failing repeat left is kept in
build-check/kill/seed-SEED; `./dev kill 1 SEED` repeats its plan. Exit status 1 when one failed.
"""
import os
import random
import subprocess
import sys

import builds


def main():
    numbers = sys.argv[1:] or ["1000"]
    if len(numbers) > 2 or not all(number.isdigit() for number in numbers) or int(numbers[0]) == 0:
        print(f"dev: kill: '{' '.join(numbers)}' is not a number of repeats, and a seed at most\n"
              "     usage: ./dev kill [REPEATS [SEED]]", file=sys.stderr)
        return 2
    if builds.compile_tree("gcc", quiet=True) != 0:
        print("dev: the gcc build failed; the messages above say where", file=sys.stderr)
        return 1
    folder = builds.folder_of("gcc")
    seed = numbers[1] if len(numbers) > 1 else str(random.randrange(1 << 32))
    return subprocess.run(
        ["/usr/bin/python3", "-B", os.path.join(builds.ROOT, "tests", "e2e", "test_kill.py"),
         os.path.join(folder, "tests", "e2e", "hosts", "host_counting"), numbers[0], seed,
         os.path.join(builds.ROOT, "build-check", "kill")],
        check=False, env=dict(builds.environment(), LIGHTMETER=os.path.join(folder, "lightmeter"))).returncode


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
