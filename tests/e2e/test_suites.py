# SPDX-License-Identifier: Apache-2.0
"""Other people's test-suites come out the same with and without Lightmeter, test by test.

    test_suites.py [--long] [--list] [SUITE...]

Without words the short form, which is part of the tests here; `./dev hosts` runs the long one. What differs
is tried twice more on both sides. A test whose outcome with Lightmeter is never one that it has without
is a difference and fails; one that changes from run to run without Lightmeter too is shown as unsteady.
Suites that this machine lacks are skipped, with the reason; all skipped is status 77.
"""
import argparse
import os
import shutil
import sys
import tempfile
import time

import suites
from lightmeter_run import LIGHTMETER

TRIES = 3
SHOWN = 40


def flat(outcomes):
    """{(test, case): outcome}: a test may be one outcome, or a dict of its cases."""
    all_of_them = {}
    for test, outcome in outcomes.items():
        cases = outcome if isinstance(outcome, dict) else {"": outcome}
        all_of_them.update({(test, case): value for case, value in cases.items()})
    return all_of_them


def outcomes_of(suite, is_measured, tests, holder):
    # The same path on both sides, for messages that contain it.
    work = os.path.join(holder, "work")
    shutil.rmtree(work, ignore_errors=True)
    os.mkdir(work)
    trace = os.path.join(holder, "run.lmt")
    before = [LIGHTMETER, "run", "-q", "-o", trace, "--"] if is_measured else []
    return flat(suite.run(before, work, tests))


def compare(suite, holder):
    """(how many outcomes, {key: (without, with)} that differ, {key: ...} that are unsteady)."""
    seen = {False: {}, True: {}}
    tests = suite.tests
    keys = set()
    for attempt in range(TRIES):
        for is_measured in (False, True):
            for key, outcome in outcomes_of(suite, is_measured, tests, holder).items():
                seen[is_measured].setdefault(key, []).append(outcome)
                keys.add(key)
        odd = [key for key in keys if set(seen[False].get(key, ())) != set(seen[True].get(key, ()))]
        if not odd:
            break
        if attempt == 0:
            tests = [test for test in suite.tests if test in {test for test, _ in odd}]
    pairs = {key: (seen[False].get(key, ["not there"]), seen[True].get(key, ["not there"]))
             for key in sorted(odd)}
    different = {key: pair for key, pair in pairs.items() if not set(pair[0]) & set(pair[1])}
    unsteady = {key: pair for key, pair in pairs.items() if key not in different}
    return len(keys), different, unsteady


def show(kind, found):
    for (test, case), (without, measured) in list(found.items())[:SHOWN]:
        print(f"  {kind}: {test} {case}")
        for which, outcomes in (("without", without), ("with", measured)):
            for outcome in sorted(set(outcomes)):
                print(f"    {which} ({outcomes.count(outcome)} of {len(outcomes)}): {outcome}")
    if len(found) > SHOWN:
        print(f"  ... and {len(found) - SHOWN} more")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--list", action="store_true", help="name the suites only")
    parser.add_argument("suite", nargs="*", help="words of the names of those to run")
    arguments = parser.parse_args()
    wanted = [suite for suite in (suites.LONG if arguments.long else suites.SHORT)
              if not arguments.suite or any(word in suite.name for word in arguments.suite)]
    total = failed = 0
    for suite in wanted:
        reason = suite.missing()
        if reason or arguments.list:
            print(f"{suite.name}: {'skipped: ' + reason if reason else 'there'}")
            continue
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="lightmeter-suite-") as holder:
            count, different, unsteady = compare(suite, holder)
        total += count
        failed += len(different)
        print(f"{suite.name}: {count} outcomes, {len(different)} differ, {len(unsteady)} unsteady "
              f"({time.monotonic() - start:.0f} s)", flush=True)
        show("DIFFERS", different)
        show("unsteady", unsteady)
    if not total:
        return 0 if arguments.list else 77
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
