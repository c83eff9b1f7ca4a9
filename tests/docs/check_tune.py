# SPDX-License-Identifier: Apache-2.0
"""Runs the example of docs/tuning.md twice on the device that keeps what it finds, and on the reference,
which does not: the second run measures nothing and has the same workgroup."""
import pathlib
import re
import subprocess
import sys
import tempfile


def run(*arguments):
    out = subprocess.run([pathlib.Path(sys.argv[1]).resolve(), *arguments], capture_output=True, text=True)
    if out.returncode and arguments[0] == "cpu" and "LS_E_UNSUPPORTED" in out.stderr:
        return None  # a build without the CPU device
    if out.returncode or out.stderr:
        sys.exit(f"{arguments}: status {out.returncode}\n{out.stdout}{out.stderr}")
    return out.stdout


measured = "".join(f"GROUP={group}: measured\n" for group in (64, 32, 128, 256))
with tempfile.TemporaryDirectory(dir=".") as folder:
    for device in "reference", "cpu":
        first = run(device, folder)
        if first is None:
            continue
        last = first.splitlines(keepends=True)[-1]
        keeps = device == "cpu"
        said = "kept\n" if keeps else "the device has no cache folder to keep it in\n"
        pattern = (r"1 of 1 constants tuned, a workgroup has (64|32|128|256) lanes\n" if keeps
                   else r"0 of 1 constants tuned, a workgroup has 64 lanes\n")
        if first != measured + said + last or not re.fullmatch(pattern, last):
            sys.exit(f"{device}: first run:\n{first}")
        if keeps and run(device, folder) != last:
            sys.exit(f"{device}: the second run does not find what the first kept")
