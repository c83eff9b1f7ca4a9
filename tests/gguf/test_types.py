#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every tensor type, dequantised: against a digest, and against the Python package gguf where it is installed.

  test_types.py DUMP_TENSORS PYTHON      PYTHON: one that has the package, or an empty word

GOLDEN is the SHA-256 of what gguf 0.19.0 (PyPI; gguf.quants.dequantize) makes of the file of seed 1, which this
script checks again when it can.
"""

import hashlib
import pathlib
import subprocess
import sys

GOLDEN = "79b841da0e327705048866d7914e64e8d9e823040f4ba13d8637b9eb57d3992a"
ROOT = pathlib.Path(__file__).resolve().parents[2]
OTHER = """
import sys
import numpy
from gguf import GGUFReader
from gguf.quants import dequantize
for tensor in GGUFReader(sys.argv[1]).tensors:
    sys.stdout.buffer.write(dequantize(tensor.data, tensor.tensor_type).astype(numpy.float32).tobytes())
"""


def make(path, *options):
    subprocess.run([sys.executable, ROOT / "tools/make_gguf.py", "blocks", path, *options], check=True)


def main():
    dump, other = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    make("types.gguf")
    ours = subprocess.run([dump, "types.gguf"], check=True, stdout=subprocess.PIPE).stdout
    digest = hashlib.sha256(ours).hexdigest()
    if digest != GOLDEN:
        sys.exit(f"FAIL: the values of seed 1 have the digest {digest}")
    make("split.gguf", "--split", "3")
    parts = subprocess.run([dump, "split-00001-of-00003.gguf"], check=True, stdout=subprocess.PIPE).stdout
    if parts != ours:
        sys.exit("FAIL: the tensors of a split file differ from those of one file")
    if not other or subprocess.run([other, "-c", "import gguf"], stderr=subprocess.DEVNULL).returncode:
        print("the golden digest alone: the Python package gguf is not installed")
        return
    for seed in range(1, 6):
        make("types.gguf", "--seed", str(seed), "--rows", "7")
        ours = subprocess.run([dump, "types.gguf"], check=True, stdout=subprocess.PIPE).stdout
        theirs = subprocess.run([other, "-c", OTHER, "types.gguf"], check=True, stdout=subprocess.PIPE).stdout
        if ours != theirs:
            at = next(i for i in range(min(len(ours), len(theirs))) if ours[i] != theirs[i])
            sys.exit(f"FAIL: seed {seed}: value {at // 4} differs from that of the package gguf")
    print(f"5 files, {len(ours) // 4} values in the last: the same as of the Python package gguf")


if __name__ == "__main__":
    main()
