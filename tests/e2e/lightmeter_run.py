# SPDX-License-Identifier: Apache-2.0
"""Runs a program with and without Lightmeter, for the tests beside it.

The command under test comes in the environment (LIGHTMETER), hosts as arguments of the test script.
"""
import json
import os
import re
import subprocess
import tempfile

LIGHTMETER = os.environ.get("LIGHTMETER", "build/lightmeter")


def bare(*command, **options):
    """The program as it is."""
    settings = {"capture_output": True, "timeout": 120, "check": False, "input": b"line\n", **options}
    return subprocess.run([str(word) for word in command], **settings)


def measured(*command, options=(), **settings):
    """The program under `lightmeter run --quiet`; gives its result and the report as a dict."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        trace = os.path.join(folder, "run.lmt")
        result = bare(LIGHTMETER, "run", "--quiet", "-o", trace, "--json", report, *options, "--",
                      *command, **settings)
        dump = bare(LIGHTMETER, "dump", trace) if settings.pop("dump", False) else None
        try:
            with open(report, encoding="utf-8") as file:
                facts = json.load(file)
        except OSError:
            facts = None
        return result, facts, dump


def stages(report):
    return {stage["name"]: stage for stage in report["stages"]}


def is_sanitized():
    with open(LIGHTMETER, "rb") as command:
        return re.search(rb"__[alt]san_init", command.read()) is not None


def need_plain_launcher(test):
    """Skips it where the command is sanitized: that starts behind no other preload and under no tracer."""
    if is_sanitized():
        test.skipTest("a sanitized launcher starts behind no other preload and under no tracer")


def left_run_folders():
    """Run folders that a finished run must not leave behind."""
    return [name for name in os.listdir("/dev/shm") if name.startswith("lightmeter-")]
