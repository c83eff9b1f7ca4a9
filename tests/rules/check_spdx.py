#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every source file names its licence in its first three lines.

usage: check_spdx.py ROOT
"""

import os
import pathlib
import sys

TAG = "SPDX-License-Identifier: Apache-2.0"
SUFFIXES = {".c", ".h", ".def", ".py", ".sh", ".bash"}
NAMES = {"meson.build", "meson_options.txt", "Makefile"}
TOPS = ["src", "include", "tests", "tools", "bench", "examples", ".ci"]


def is_source(path):
    if path.suffix == ".kc": # test corpora hold kernels that are meant to be odd
        return path.parts[0] in ("src", "examples")
    return path.suffix in SUFFIXES or path.name in NAMES or path.parts[0] == ".ci"


def sources(root):
    yield from (pathlib.Path(name) for name in sorted(NAMES) if (root / name).exists())
    for top in TOPS:
        for folder, _, names in os.walk(root / top):
            for name in sorted(names):
                path = (pathlib.Path(folder) / name).relative_to(root)
                if "__pycache__" not in path.parts and is_source(path):
                    yield path


def has_tag(path):
    with open(path, encoding="utf-8") as file:
        return any(TAG in file.readline() for _ in range(3))


def main(root):
    files = list(sources(root))
    missing = [path for path in files if not has_tag(root / path)]
    for path in missing:
        print(f"{path}: no line '{TAG}' at its start")
    print(f"{len(files)} files, {len(missing)} without a licence line")
    return 1 if missing or not files else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
