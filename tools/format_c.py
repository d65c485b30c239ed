# SPDX-License-Identifier: Apache-2.0
"""Formats the C and C++ files in place (./dev fmt), or looks whether they are (./dev check).

Releases of clang-format disagree in details, so one is the judge: VERSION. Where only another is there,
./dev fmt says so and changes nothing, and the check is skipped.
"""
import re
import shutil
import subprocess
import sys

import sources

VERSION = 14


def clang_format():
    """The command of the right version, or None."""
    for name in (f"clang-format-{VERSION}", "clang-format"):
        if shutil.which(name):
            text = subprocess.run([name, "--version"], capture_output=True, text=True, check=False).stdout
            match = re.search(r"version (\d+)", text)
            if match and int(match.group(1)) == VERSION:
                return name
    return None


def check_command():
    """The command that looks only, or None where the right version is not there."""
    name = clang_format()
    return [name, "--dry-run", "-Werror", *sources.c_files()] if name else None


def main():
    if sys.argv[1:]:
        print(f"dev: fmt: unexpected: {' '.join(sys.argv[1:])}\n     usage: ./dev fmt", file=sys.stderr)
        return 2
    name = clang_format()
    if not name:
        print(f"dev: fmt: the files are formatted with clang-format {VERSION}, which is not here\n"
              f"     Install clang-format-{VERSION} (Debian 12 has it) and run this command again.",
              file=sys.stderr)
        return 1
    return subprocess.run([name, "-i", *sources.c_files()], cwd=sources.ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
