#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PTX that NVIDIA's compiler makes of driver_compiled.cu runs on the emulated driver as it should.

usage: test_driver_compiled.py SOURCE PROGRAM
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

# Products and sums must stay apart, as they are in the reference.
VARIANTS = {
    "sm_75": ["-arch=sm_75"],
    "sm_90": ["-arch=sm_90", "-lineinfo"],
    "unoptimised": ["-arch=sm_80", "-Xcicc", "-O0"],
    "debug": ["-arch=sm_75", "-G"],
}


def main(source, program):
    nvcc = shutil.which("nvcc", path=os.environ["PATH"] + ":/usr/local/cuda/bin")
    if not nvcc:
        print("SKIP: there is no nvcc")
        return 77
    with tempfile.TemporaryDirectory(dir=".") as folder:
        files = []
        for name, options in VARIANTS.items():
            files.append(pathlib.Path(folder) / f"{name}.ptx")
            made = subprocess.run([nvcc, "-ptx", "-fmad=false", *options, source, "-o", files[-1]],
                                  capture_output=True, text=True)
            if made.returncode:
                print(f"SKIP: nvcc cannot compile here: {made.stderr[-500:]}")
                return 77
        return subprocess.run([program, *files]).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
