# SPDX-License-Identifier: Apache-2.0
"""What the tests of the example designs share: where they are, which tools they need, how they are
built."""

import pathlib
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "cosim"
BENCHES = ROOT / "tests" / "cosim" / "benches"

sys.path.insert(0, str(EXAMPLES))
import build as builder # noqa: E402

NAMES = builder.NAMES


def need(*tools):
    """Skips the test when one of these programs is missing."""
    for tool in tools:
        if shutil.which(tool) is None:
            print(f"SKIP: {tool} is not installed")
            sys.exit(77)


def build(out, names=NAMES):
    """Builds these designs into a folder each under `out`."""
    for name in names:
        builder.build(name, pathlib.Path(out).resolve() / name)
