#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/summary.py counts what ran, and what did not run as failed.

usage: check_summary.py ROOT
"""

import contextlib
import importlib.util
import io
import json
import pathlib
import sys
import tempfile


def load_summary(root):
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location("summary", root / "tools" / "summary.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def entry(name, result, stdout=""):
    return {"name": name, "result": result, "command": ["run", name], "stdout": stdout}


def outcome(summary, entries, defined):
    """(exit status, output lines) for a build directory with this log."""
    summary.defined_tests = lambda build: {("run", name): name for name in defined}
    with tempfile.TemporaryDirectory() as build:
        logs = pathlib.Path(build) / "meson-logs"
        logs.mkdir()
        if entries is not None:
            text = "".join(json.dumps(e) + "\n" for e in entries)
            (logs / "testlog.json").write_text(text)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = summary.main([build])
        return status, out.getvalue().splitlines()


def main(root):
    summary = load_summary(root)
    good = [entry("a", "OK"), entry("b", "SKIP", "x\nSKIP: no device\n")]
    status, lines = outcome(summary, good, ["a", "b"])
    assert status == 0 and lines[-1] == "1 passed, 0 failed, 1 skipped", lines
    assert "no device" in lines[0], lines

    for result in ("FAIL", "TIMEOUT", "ERROR", "INTERRUPT", "UNEXPECTEDPASS"):
        status, lines = outcome(summary, good + [entry("c", result)], ["a", "b", "c"])
        assert status == 1 and lines[-1] == "1 passed, 1 failed, 1 skipped", lines

    status, lines = outcome(summary, good, ["a", "b", "c"])
    assert status == 1 and lines[-1] == "1 passed, 1 failed, 1 skipped", lines
    assert "c: did not run" in lines[-2], lines

    status, lines = outcome(summary, None, ["a", "b"])
    assert status == 1 and lines[-1] == "0 passed, 2 failed, 0 skipped", lines

    status, lines = outcome(summary, [], [])
    assert status == 1 and lines[-1] == "0 passed, 0 failed, 0 skipped", lines
    print("the summary counts right")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
