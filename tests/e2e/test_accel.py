# SPDX-License-Identifier: Apache-2.0
"""Accelerators seen from outside, with a stand-in for NVML. usage: test_accel.py LIBRARY

The program is named in LIGHTMETER.
"""
import json
import os
import re
import tempfile

import parts

LIGHTMETER = os.environ.get("LIGHTMETER", "build/lightmeter")
TARGET = ("sh", "-c", "ls /proc/self/fd | wc -l; sleep 0.4")


def environment(library, **more):
    return {**os.environ, "LD_LIBRARY_PATH": os.path.dirname(os.path.abspath(library)), **more}


def accelerators(env):
    result = parts.run(LIGHTMETER, "doctor", "--json", env=env)
    checks = {check["name"]: check for check in json.loads(result.stdout)["checks"]}
    return checks["accelerators"]


def samples(env):
    """({(metric, device): values}, what the target printed) of a run."""
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "a.lmt")
        result = parts.run(LIGHTMETER, "run", "-q", "-o", trace, "--", *TARGET, env=env)
        assert result.returncode == 0, result
        dump = parts.run(LIGHTMETER, "dump", trace, env=env).stdout.decode()
    found = {}
    for line in dump.splitlines():
        if "accel_" in line:
            match = re.search(r"(accel_\w+) subject (\d+) value (\d+)", line)
            assert match, line
            found.setdefault((match.group(1), int(match.group(2))), []).append(int(match.group(3)))
    return found, result.stdout


def check_report(env):
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "a.lmt")
        parts.run(LIGHTMETER, "run", "-q", "-o", trace, "--", *TARGET, env=env)
        report = parts.run(LIGHTMETER, "report", trace).stdout.decode()
    assert "busy 37 % · 2.79 GiB of its 7.45 GiB in use" in " ".join(report.split()), report


def main():
    library = parts.program(1)
    check = accelerators(environment(library))
    assert (check["state"], check["what"]) == ("works", "NVML samples Stand-in 0, Stand-in 1"), check
    check = accelerators(environment(library, NVML_STATUS="9"))
    assert check["state"] == "missing" and "status 9" in check["what"], check
    found, output = samples(environment(library))
    expected = {("accel_busy_percent", 0): 37, ("accel_memory_busy_percent", 0): 11,
                ("accel_used_bytes", 0): 3000000000, ("accel_total_bytes", 0): 8000000000,
                ("accel_used_bytes", 1): 3000000000, ("accel_total_bytes", 1): 8000000000}
    assert {key: set(values) for key, values in found.items()} == \
        {key: {value} for key, value in expected.items()}, found
    # Nothing of it reaches the program; and a library that cannot start, or none, is no failure.
    check_report(environment(library))
    failing, without = samples(environment(library, NVML_STATUS="9"))
    assert (failing, without) == ({}, output), (failing, without, output)


if __name__ == "__main__":
    main()
