# SPDX-License-Identifier: Apache-2.0
"""./dev bench: the build that ./dev build makes, then bench/run with the arguments given."""
import os
import subprocess
import sys

import builds


def main():
    if builds.compile_tree("plain", quiet=True) != 0:
        print("dev: the build failed; the messages above say where", file=sys.stderr)
        return 1
    return subprocess.run([os.path.join(builds.ROOT, "bench", "run"), *sys.argv[1:]], cwd=builds.ROOT,
                          env=builds.environment(), check=False).returncode


sys.exit(main())
