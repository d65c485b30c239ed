# SPDX-License-Identifier: Apache-2.0
"""./dev hosts: the build that ./dev build makes, then the long form of tests/e2e/test_suites.py, with
the arguments given: words of the names of suites."""
import os
import subprocess
import sys

import builds


def main():
    if builds.compile_tree("plain", quiet=True) != 0:
        print("dev: the build failed; the messages above say where", file=sys.stderr)
        return 1
    environment = {**builds.environment(),
                   "LIGHTMETER": os.path.join(builds.folder_of("plain"), "lightmeter")}
    return subprocess.run(["/usr/bin/python3", "-B",
                           os.path.join(builds.ROOT, "tests", "e2e", "test_suites.py"), "--long",
                           *sys.argv[1:]], cwd=builds.ROOT, env=environment, check=False).returncode


sys.exit(main())
