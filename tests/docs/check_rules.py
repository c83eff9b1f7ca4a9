# SPDX-License-Identifier: Apache-2.0
"""Every test of the contract suite is a rule of docs/runtime.md and the other way round (the fault tests are one rule)."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
tests = set()
for source in (root / "tests/contract").glob("*.c"):
    if source.name not in ("contract.c", "fault.c"):
        tests |= set(re.findall(r"TEST\((\w+)\)", source.read_text()))
page = (root / "docs/runtime.md").read_text()
named = set(re.findall(r"`([a-z]+(?:_[a-z0-9]+){2,})`", page))
if not tests:
    sys.exit("no contract tests found")
missing, gone = tests - named, {n for n in named - tests if not n.startswith("ls_")}
if missing or gone:
    sys.exit(f"tests without a rule in docs/runtime.md: {sorted(missing)}\nrules without a test: {sorted(gone)}")
