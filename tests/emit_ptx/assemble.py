#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels as PTX through NVIDIA's assembler, for every generation: no error, no warning.

usage: assemble.py PROGRAMS FOLDER ARGUMENT...

PROGRAMS is run with the arguments and writes modules to FOLDER. Without ptxas, in the path or in
/usr/local/cuda/bin, the test is skipped."""

import pathlib
import shutil
import subprocess
import sys
from concurrent import futures

# What is assembled for what; a module of one target runs on all later devices.
RUNS = [("sm_75", "sm_75"), ("sm_80", "sm_80"), ("sm_90", "sm_90"), ("sm_90+grid", "sm_100")]


def find_ptxas():
    return shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")


def assemble(ptxas, file, arch):
    """What it has to say, or nothing."""
    done = subprocess.run([ptxas, "-O1", f"-arch={arch}", "-o", file.with_suffix(f".{arch}.cubin"),
                           file], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=500, check=False)
    said = done.stdout.strip()
    return f"{file} for {arch}: {done.returncode}: {said}" if done.returncode or said else ""


def assemble_all(programs, folder, arguments):
    """What there is to say of the arguments' kernels, as one module, or nothing."""
    made = subprocess.run([programs, "--out", folder, *arguments], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False)
    if made.returncode:
        return f"{made.returncode}: {made.stderr}"
    ptxas = find_ptxas()
    with futures.ThreadPoolExecutor(2) as pool:
        said = pool.map(lambda run: assemble(ptxas, folder / f"{run[0]}.ptx", run[1]), RUNS)
        return "\n".join(text for text in said if text)


def main():
    folder = pathlib.Path(sys.argv[2])
    if not find_ptxas():
        print("SKIP: there is no ptxas (it comes with the CUDA toolkit)")
        return 77
    folder.mkdir(parents=True, exist_ok=True)
    said = assemble_all(sys.argv[1], folder, sys.argv[3:])
    print(said or f"assembles for {', '.join(arch for _, arch in RUNS)}")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
