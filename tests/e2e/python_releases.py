# SPDX-License-Identifier: Apache-2.0
"""The releases of CPython on this machine besides the system's, for the tests that go through all of them."""
import glob
import os
import shutil
import subprocess

TELL = "import sys; print('%d.%d' % sys.version_info[:2])"


def places():
    """Where interpreters may be: a version manager's folders, and the path, whose entries may be stand-ins of one."""
    found = sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python")))
    return found + [place for minor in range(8, 20) for place in [shutil.which(f"python3.{minor}")] if place]


def releases(first, last):
    """{version: path} of those that run, each version once, from `first` to `last` (pairs of numbers)."""
    found = {}
    for place in places():
        told = subprocess.run([place, "-c", TELL], capture_output=True, check=False)
        version = told.stdout.decode(errors="replace").strip()
        if told.returncode == 0 and first <= tuple(map(int, version.split("."))) <= last:
            found.setdefault(version, place)
    return dict(sorted(found.items()))
