# SPDX-License-Identifier: Apache-2.0
"""Runs the worked example of docs/runtime.md, on the reference and on the device that is taken when none is
named, and checks every line it prints."""
import subprocess
import sys

rows = ["upload", "dispatch saxpy", "download"]
expected = [f"round {r}: {row}" for r in range(2) for row in rows] + ["y[999] = 4995"]
for arguments in ["reference"], []:
    out = subprocess.run([sys.argv[1], *arguments], capture_output=True, text=True)
    got = [line.rstrip() for line in out.stdout.splitlines()]
    if not arguments and "no device may be chosen unasked" in out.stderr:
        continue  # a build without the CPU device
    if out.returncode or got != expected:
        sys.exit(f"{arguments}: status {out.returncode}\nexpected {expected}\ngot      {got}\n{out.stderr}")
