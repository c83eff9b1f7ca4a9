#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random netlists give in lockstep what they give in Icarus Verilog; and a simulator that is wrong is
found, and its case made smaller.

usage: test_compare.py LOCKSTEP OUT KIND COUNT [SEED]      KIND is words, gates or cells (see generate.py)
       test_compare.py LOCKSTEP OUT wrong
"""

import pathlib
import subprocess
import sys

import designs

COMPARE = pathlib.Path(__file__).resolve().parent / "compare.py"
# Runs the command it stands for, then turns the last change of one bit around.
WRONG = """#!/usr/bin/env python3
import subprocess, sys
status = subprocess.run(["{command}", *sys.argv[1:]]).returncode
lines = open(sys.argv[4]).read().split("\\n")
last = max(i for i, line in enumerate(lines) if line[:1] in ("0", "1"))
lines[last] = ("1" if lines[last][0] == "0" else "0") + lines[last][1:]
open(sys.argv[4], "w").write("\\n".join(lines))
sys.exit(status)
"""


def compare(command, folder, *options):
    return subprocess.run([sys.executable, COMPARE, "--lockstep", command, *options, folder],
                          capture_output=True, text=True, check=False)


def find_wrong(command, folder):
    wrong = folder / "wrong.py"
    wrong.write_text(WRONG.format(command=command), encoding="utf-8")
    wrong.chmod(0o755)
    found = compare(wrong, folder, "--kind", "cells", "--count", "1")
    if found.returncode == 0 or "1 differ" not in found.stdout or "kept in" not in found.stdout:
        print("a wrong simulator is not found:", found.stdout, found.stderr, sep="\n")
        return 1
    return 0


def main():
    designs.need("yosys", "iverilog")
    command, folder, kind = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
    folder.mkdir(parents=True, exist_ok=True)
    if kind == "wrong":
        return find_wrong(command, folder)
    count, seed = sys.argv[4], sys.argv[5] if len(sys.argv) > 5 else "1"
    result = compare(command, folder, "--kind", kind, "--count", count, "--seed", seed)
    print(result.stdout, result.stderr, sep="")
    return result.returncode


if __name__ == "__main__":
    sys.exit(main())
