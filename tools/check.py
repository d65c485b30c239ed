# SPDX-License-Identifier: Apache-2.0
"""./dev check: every build and every suite, counted, with one honest line at the end.

Each entry of SUITES gives a list of outcomes (name, "passed" | "failed" | "skipped"). A build counts as
one; when it fails, its tests count as one failure more, for they could not run. Full output is in
build-check/logs; of a failure the end is shown. Exit status 1 when anything failed.
"""
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

import builds
import cross
import format_c
import fuzz
import sources

LOGS = os.path.join(builds.ROOT, "build-check", "logs")
FUZZ_SECONDS = 15
SHOWN_LINES = 20
RESULTS = {"OK": "passed", "EXPECTEDFAIL": "passed", "SKIP": "skipped"}
# Sanitizers: the first report ends the test, and leaks of the program under test count.
SANITIZER_ENV = {
    "ASAN_OPTIONS": "abort_on_error=0:exitcode=99:detect_leaks=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    # Memory that cannot be had is an answer that the program has to take.
    "TSAN_OPTIONS": "halt_on_error=1:exitcode=98:second_deadlock_stack=1:allocator_may_return_null=1",
}


def log_path(name):
    return os.path.join(LOGS, re.sub(r"[^\w.-]", "-", name) + ".log")


def show_end(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    wrong = [i for i, line in enumerate(lines) if re.search(r"\b(error|FAILED|ERROR):", line)]
    start = min(wrong[0], len(lines) - 1) if wrong else max(0, len(lines) - SHOWN_LINES)
    for line in lines[start:start + SHOWN_LINES]:
        print("    " + line)
    print(f"    (all of it: {os.path.relpath(path, builds.ROOT)})", flush=True)


def command_outcome(name, command, env=None, skipped=None):
    """Runs one command as one outcome. The status `skipped` says that it could not be tried, and why last."""
    path = log_path(name)
    with open(path, "wb") as log:
        status = subprocess.run(command, cwd=builds.ROOT, stdin=subprocess.DEVNULL, stdout=log,
                                stderr=subprocess.STDOUT, check=False,
                                env=env or builds.environment()).returncode
    if skipped is not None and status == skipped:
        with open(path, encoding="utf-8", errors="replace") as log:
            print(f"  skipped {name}: {(log.read().strip().splitlines() or ['it says no reason'])[-1]}")
        return [(name, "skipped")]
    if status != 0:
        print(f"  FAILED {name}: status {status}")
        show_end(path)
    return [(name, "passed" if status == 0 else "failed")]


def build(name):
    path = log_path("build-" + name)
    with open(path, "wb") as log:
        status = builds.compile_tree(name, log)
    if status != 0:
        print(f"  FAILED the {name} build")
        show_end(path)
    return status == 0


def test_records(folder):
    with open(os.path.join(folder, "meson-logs", "testlog.json"), encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def show_test(record):
    print(f"  FAILED {record['name']}: {record['result'].lower()} after {record['duration']:.1f} s")
    text = (record.get("stdout") or "") + (record.get("stderr") or "")
    for line in text.splitlines()[-SHOWN_LINES:]:
        print("    " + line)


def meson_outcomes(name, timeout_factor):
    """Runs the tests of a build; each test of Meson is one outcome."""
    folder = builds.folder_of(name)
    with contextlib.suppress(FileNotFoundError):  # what an earlier run left is no result of this one
        os.remove(os.path.join(folder, "meson-logs", "testlog.json"))
    command = ["meson", "test", "-C", folder, "--no-rebuild", "--timeout-multiplier", str(timeout_factor)]
    if name == "tsan":
        # Its shadow memory has a fixed place that a randomised layout may take.
        command = ["setarch", os.uname().machine, "-R", *command]
    with open(log_path("test-" + name), "wb") as log:
        subprocess.run(command, cwd=builds.ROOT, stdin=subprocess.DEVNULL, stdout=log,
                       stderr=subprocess.STDOUT, check=False,
                       env=dict(builds.environment(), **SANITIZER_ENV))
    try:
        records = test_records(folder)
    except (OSError, ValueError) as error:
        print(f"  FAILED the tests of the {name} build left no result: {error}")
        show_end(log_path("test-" + name))
        records = []
    outcomes = []
    for record in records:
        outcome = RESULTS.get(record["result"], "failed")
        outcomes.append((f"{name}: {record['name']}", outcome))
        if outcome == "failed":
            show_test(record)
        elif outcome == "skipped":
            print(f"  skipped {record['name']}: {skip_reason(record)}")
    return outcomes or [(f"{name}: tests", "failed")]


def skip_reason(record):
    lines = ((record.get("stdout") or "") + "\n" + (record.get("stderr") or "")).strip().splitlines()
    return lines[-1] if lines else "it says no reason"


def built_and_tested(name, timeout_factor=1):
    """The build as one outcome and each of its tests as one more."""
    if not build(name):
        return [(f"{name} build", "failed"), (f"{name} tests, not run", "failed")]
    return [(f"{name} build", "passed")] + meson_outcomes(name, timeout_factor)


def crossed():
    """The files of the gcc build's library, as it compiles them."""
    command = ["/usr/bin/python3", "-B", os.path.join("tools", "cross.py"), builds.folder_of("gcc")]
    return command_outcome("AArch64 library and marks", command, skipped=cross.SKIPPED)


def fuzzed():
    if not build("fuzz"):
        return [("fuzz build", "failed"), ("fuzz targets, not run", "failed")]
    outcomes = [("fuzz build", "passed")]
    for target in fuzz.targets():
        name = os.path.basename(target)
        path = log_path(name)
        with open(path, "wb") as log:
            status = fuzz.fuzz(target, FUZZ_SECONDS, log)
        outcomes.append((name, "passed" if status == 0 else "failed"))
        if status != 0:
            print(f"  FAILED {name}: status {status}")
            show_end(path)
    if len(outcomes) == 1:
        print("  FAILED the fuzz build has no target in tests/fuzz")
        outcomes.append(("fuzz targets", "failed"))
    return outcomes


def tools_tested():
    """The tests of the checks themselves; each of unittest's tests is one outcome."""
    name = "tests of the tools"
    command = ["/usr/bin/python3", "-B", "-m", "unittest", "discover", "-v", "-s", "tests/tools"]
    whole = command_outcome(name, command)
    with open(log_path(name), encoding="utf-8") as file:
        ends = re.findall(r"^(\w+ \(\S+\)).* \.\.\. (ok|FAIL|ERROR|skipped)", file.read(), re.MULTILINE)
    outcome_of = {"ok": "passed", "skipped": "skipped"}
    outcomes = [(f"tools: {test}", outcome_of.get(end, "failed")) for test, end in ends]
    # Trust the exit status over the text: a crash, or no test at all, is a failure.
    if not outcomes or (whole[0][1] == "failed" and all(end != "failed" for _, end in outcomes)):
        outcomes.append(whole[0] if whole[0][1] == "failed" else (name + ": none found", "failed"))
    return outcomes


def formatted():
    command = format_c.check_command()
    if not command:
        print(f"  skipped format: clang-format {format_c.VERSION} is not here")
        return [("format", "skipped")]
    return command_outcome("format", command)


def structure():
    outcomes = []
    for name in ("layer-check", "registry-check", "style-check", "doc-check"):
        outcomes += command_outcome(name, ["/usr/bin/python3", "-B", os.path.join("tools", name)])
    outcomes += tools_tested()
    outcomes += formatted()
    for path in sources.man_pages():
        outcomes += command_outcome("man " + os.path.basename(path),
                                    ["mandoc", "-T", "lint", "-W", "warning", path])
    for path in sources.shell_files():
        shell = "sh" if sources.shebang(builds.ROOT, path).endswith("/sh") else "bash"
        outcomes += command_outcome("syntax " + path, [shell, "-n", path])
    return outcomes


SUITES = [
    ("structure, format and documents", structure, "quick"),
    ("gcc: build without warnings, all tests", lambda: built_and_tested("gcc"), "quick"),
    ("AArch64: the preloaded library and the marks compile", crossed, "full"),
    ("clang: build without warnings, all tests", lambda: built_and_tested("clang"), "full"),
    ("address and undefined-behaviour sanitizers", lambda: built_and_tested("asan", 2), "full"),
    ("thread sanitizer", lambda: built_and_tested("tsan", 3), "full"),
    (f"fuzz, {FUZZ_SECONDS} s a target", fuzzed, "full"),
]


def main():
    arguments = sys.argv[1:]
    if arguments not in ([], ["--quick"]):
        print(f"dev: check: unexpected: {' '.join(arguments)}\n     usage: ./dev check [--quick]", file=sys.stderr)
        return 2
    shutil.rmtree(LOGS, ignore_errors=True)
    os.makedirs(LOGS)
    outcomes = []
    for title, suite, size in SUITES:
        if arguments and size == "full":
            continue
        print(f"== {title}", flush=True)
        start = time.monotonic()
        found = suite()
        outcomes += found
        print(f"   {summary(found)} ({time.monotonic() - start:.0f} s)", flush=True)
    for name, outcome in outcomes:
        if outcome == "failed":
            print(f"failed: {name}")
    print(summary(outcomes), flush=True)
    return 1 if any(outcome == "failed" for _, outcome in outcomes) else 0


def summary(outcomes):
    count = {kind: sum(1 for _, outcome in outcomes if outcome == kind)
             for kind in ("passed", "failed", "skipped")}
    text = f"{count['passed']} passed, {count['failed']} failed"
    return text + (f", {count['skipped']} skipped" if count["skipped"] else "")


def reap_as_first_process():
    """As process 1 of a container the orphans of the tests are ours to reap: a child does the work."""
    if os.getpid() != 1:
        return
    worker = os.fork()
    while worker:
        pid, status = os.wait()
        if pid == worker:
            sys.exit(os.waitstatus_to_exitcode(status) & 0xff)


if __name__ == "__main__":
    reap_as_first_process()
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
