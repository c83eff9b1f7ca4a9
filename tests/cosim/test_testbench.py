#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example testbench in C (examples/c/testbench.c) on the counter, as gates and as words, on the
reference and on the device that is taken when none is named; and that it notices another design.

usage: test_testbench.py TESTBENCH DESIGNS
"""

import pathlib
import subprocess
import sys

import designs


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True)


def main():
    designs.need("yosys")
    bench, built = sys.argv[1], pathlib.Path(sys.argv[2])
    designs.build(built, ["counter"])
    folder = built / "counter"
    problems = []
    for netlist in "gates.json", "words.json":
        for device in ["reference"], []:
            ran = run(bench, folder / netlist, *device)
            if not device and "no device may be chosen unasked" in ran.stderr:
                continue  # a build without the CPU device
            if ran.returncode or not ran.stdout.startswith("777 cycles as the model has them"):
                problems.append(f"{netlist} {device}: {ran.returncode} {ran.stdout}{ran.stderr}")
    ran = run(bench, folder / "config.json", "reference")
    if ran.returncode != 2 or "LS_E_FORMAT" not in ran.stderr:
        problems.append(f"no netlist: {ran.returncode} {ran.stderr}")
    sys.exit("\n".join(problems) or None)


main()
