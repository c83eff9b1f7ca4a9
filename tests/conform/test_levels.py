#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cpu device gives the reference's digest whatever its code is made for: each feature level that this machine
has, vectors or one lane at a time, either tier, 1, 2 and 7 threads.

usage: test_levels.py LOCKSTEP [--all]

Every pair of settings meets in at least one run. Quick code, which costs little to make, is taken through all rows
of a quick certificate, optimised code through a part of them, another one each time. With --all there is a run of
all rows of a full certificate for each combination: that takes many minutes.
"""

import itertools
import json
import os
import subprocess
import sys
import tempfile
import time

LEVELS = ["sse2", "avx2", "avx2+avxvnni", "avx512", "avx512+avx512vnni", "neon"]
MODES, TIERS, THREADS = ["vector", "scalar"], ["quick", "optimized"], ["1", "2", "7"]
PARTS = ["op/*", "[amis]*", "kernel/*"]


def conform(*arguments):
    # As libllvm_env of tests/meson.build.
    options = filter(None, [os.environ.get("ASAN_OPTIONS"), "detect_leaks=0"])
    return subprocess.run([LOCKSTEP, "conform", *arguments], capture_output=True, text=True,
                          env=dict(os.environ, ASAN_OPTIONS=":".join(options)))


def levels():
    """Those of this machine; the others are named with the reason."""
    here = []
    for level in LEVELS:
        result = conform("--device", "cpu", "--against", "none", "--target", level, "--filter", "id/lane/0")
        if result.returncode == 0:
            here.append(level)
        elif "cannot run code for" in result.stderr:
            print("not run:", level, "-", result.stderr.strip())
        else:
            sys.exit(result.stderr)
    return here


def pairwise(choices):
    """Few combinations in which every two values of two settings meet."""
    def pairs(combination):
        return set(itertools.combinations(enumerate(combination), 2))

    every = list(itertools.product(*choices))
    missing = set().union(*map(pairs, every))
    while missing:
        best = max(every, key=lambda combination: len(pairs(combination) & missing))
        missing -= pairs(best)
        yield best


def digest(folder, name, *arguments):
    path = os.path.join(folder, name)
    result = conform("--against", "none", "--report", path, *arguments)
    if result.returncode != 0:
        sys.exit(f"{arguments}: {result.stdout[-2000:]}{result.stderr}")
    with open(path, encoding="utf-8") as file:
        made = json.load(file)
    if made["not_run"] or not made["rows"]:
        sys.exit(f"{arguments}: not all rows were run: {made['not_run'][:3]}")
    return made["digest"], {row["name"]: row["digest"] for row in made["rows"]}


def main(everything):
    devices = subprocess.run([LOCKSTEP, "devices"], capture_output=True, text=True, check=True).stdout.splitlines()
    at = [i for i, line in enumerate(devices) if line.startswith("cpu ")]
    if not at or "not usable" in "".join(devices[at[0] + 1:at[0] + 2]):
        print("SKIP: no cpu device in this build")
        return 77
    here = levels()
    choices = [here, MODES, TIERS, THREADS]
    runs = list(itertools.product(*choices) if everything else pairwise(choices))
    expected, parts, different = {}, itertools.cycle(PARTS), 0
    with tempfile.TemporaryDirectory() as folder:
        for level, mode, tier, threads in runs:
            rows = [] if everything else ["--quick"]
            if not everything and tier == "optimized":
                rows += ["--filter", next(parts)]
            if tuple(rows) not in expected:
                expected[tuple(rows)] = digest(folder, "reference.json", "--device", "reference", *rows)
            begun = time.monotonic()
            # Another number of threads is no other code.
            cache = ["--cache", os.path.join(folder, "code")] if everything else []
            code = ["--target", f"{level}+{mode}", "--tier", tier, "--threads", threads]
            total, got = digest(folder, "cpu.json", "--device", "cpu", *code, *cache, *rows)
            total_expected, want = expected[tuple(rows)]
            wrong = [name for name in want if got[name] != want[name]]
            different += total != total_expected
            print(f"{' '.join(code + rows)}: {len(got)} rows, {len(wrong)} different {wrong[:3] or ''} "
                  f"digest {total[:16]}, {time.monotonic() - begun:.1f} s", flush=True)
    print(f"{len(runs)} runs, {different} different")
    return different != 0


if __name__ == "__main__":
    LOCKSTEP = sys.argv[1]
    sys.exit(main("--all" in sys.argv[2:]))
