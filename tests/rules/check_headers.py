#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each public header compiles alone as C11 and as C++17, pedantic, warnings as errors.

usage: check_headers.py ROOT COMPILER
"""

import pathlib
import shutil
import subprocess
import sys

FLAGS = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]


def main(root, compiler):
    if not shutil.which(compiler):
        print(f"SKIP: there is no {compiler}")
        return 77
    language = ["-std=c++17", "-x", "c++"] if compiler.endswith("++") else ["-std=c11", "-x", "c"]
    headers = sorted((root / "include" / "lockstep").glob("*.h"))
    failed = 0
    for header in headers:
        # Twice: the guard must work.
        text = f'#include "lockstep/{header.name}"\n' * 2
        command = [compiler, *language, *FLAGS, f"-I{root / 'include'}", "-"]
        failed += subprocess.run(command, input=text, text=True).returncode != 0
    print(f"{len(headers)} headers, {failed} do not compile")
    return 1 if failed or not headers else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2]))
