#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sums up the last test run of one or more meson build directories.

Prints each skipped test with its reason (the test's line that starts with "SKIP:") and each failed
one; the last line reads "N passed, N failed, N skipped". A test that is defined but not in the log
counts as failed. The exit status is 0 only if nothing failed and something passed.
"""

import json
import pathlib
import subprocess
import sys

PASSED = ("OK", "EXPECTEDFAIL")


def defined_tests(build):
    out = subprocess.run(["meson", "introspect", "--tests", str(build)], check=True,
                         stdout=subprocess.PIPE).stdout
    # The log names a test "suite / name" or just "name", so tests are told apart by command.
    return {tuple(test["cmd"]): test["name"] for test in json.loads(out)}


def skip_reason(entry):
    for stream in ("stdout", "stderr"):
        for line in (entry.get(stream) or "").splitlines():
            if "SKIP:" in line:
                return line.split("SKIP:", 1)[1].strip()
    return "no reason given"


def read_log(build):
    log = build / "meson-logs" / "testlog.json"
    if not log.exists():
        return []
    return [json.loads(line) for line in log.read_text().splitlines() if line.strip()]


def main(builds):
    passed = failed = skipped = 0
    for build in map(pathlib.Path, builds):
        missing = defined_tests(build)
        for entry in read_log(build):
            missing.pop(tuple(entry["command"]), None)
            name = f"{build}: {entry['name']}"
            if entry["result"] in PASSED:
                passed += 1
            elif entry["result"] == "SKIP":
                skipped += 1
                print(f"skipped: {name}: {skip_reason(entry)}")
            else:
                failed += 1
                print(f"failed: {name}: {entry['result']}")
        for name in missing.values():
            failed += 1
            print(f"failed: {build}: {name}: did not run")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: tools/summary.py BUILD_DIRECTORY...")
    sys.exit(main(sys.argv[1:]))
