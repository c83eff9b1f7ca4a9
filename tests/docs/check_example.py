# SPDX-License-Identifier: Apache-2.0
"""Runs the worked example of docs/runtime.md and checks every line it prints."""
import subprocess
import sys

out = subprocess.run([sys.argv[1]], capture_output=True, text=True)
rows = ["upload", "dispatch saxpy", "download"]
expected = [f"round {r}: {row}" for r in range(2) for row in rows] + ["y[999] = 4995"]
got = [line.rstrip() for line in out.stdout.splitlines()]
if out.returncode or got != expected:
    sys.exit(f"status {out.returncode}\nexpected {expected}\ngot      {got}\n{out.stderr}")
