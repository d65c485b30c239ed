# SPDX-License-Identifier: Apache-2.0
"""./dev bench: an optimised build of its own, then bench/run with the arguments given."""
import os
import subprocess
import sys

import builds


def main():
    if builds.compile_tree("bench", quiet=True) != 0:
        print("dev: the build failed; the messages above say where", file=sys.stderr)
        return 1
    env = dict(builds.environment(), LIGHTMETER_BUILD=builds.folder_of("bench"))
    return subprocess.run([os.path.join(builds.ROOT, "bench", "run"), *sys.argv[1:]], cwd=builds.ROOT,
                          env=env, check=False).returncode


sys.exit(main())
