#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real models (tools/fetch-model.sh) on real text: the digest of all logits is the one that is on record, for any
number of threads and any chunk, and so is the text.

usage: test_real_models.py LOCKSTEP FOLDER RECORD [--write]

A line of RECORD: FILE SHA-256 TEXT (as in JSON). Exits with 77 where no model is there, or no cpu device.
"""

import json
import pathlib
import subprocess
import sys

PROMPT = "The capital of France is"
TOKENS = 8
SETTINGS = [["--threads", "1"], ["--threads", "2", "--chunk", "3"]]


def answer(lockstep, model, options):
    """The digest of the logits, and the text."""
    run = subprocess.run([lockstep, "generate", "-m", model, "-p", PROMPT, "-n", str(TOKENS), "--device", "cpu",
                          "--digest", *options], capture_output=True, text=True, timeout=600)
    if run.returncode:
        sys.exit(f"{model.name} {options}: {run.stderr}")
    digest = next(line.split()[-1] for line in run.stderr.splitlines() if "logits" in line)
    return f"{digest} {json.dumps(run.stdout)}"


def main():
    lockstep, folder, record = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    if "\ncpu " not in "\n" + subprocess.run([lockstep, "devices"], capture_output=True, text=True).stdout:
        print("SKIP: this build has no cpu device")
        return 77
    known = dict(line.split(" ", 1) for line in record.read_text().splitlines())
    there = [folder / name for name in known if (folder / name).exists()]
    if not there:
        print(f"SKIP: no model is in {folder}: tools/fetch-model.sh {folder} smollm2 gemma3 fetches some")
        return 77
    wrong = 0
    for model in there:
        for options in SETTINGS:
            now = answer(lockstep, model, options)
            print(model.name, " ".join(options), now)
            if "--write" in sys.argv:
                known[model.name] = now
            wrong += now != known[model.name]
    if "--write" in sys.argv:
        record.write_text("".join(f"{name} {text}\n" for name, text in known.items()))
    if wrong:
        print("on record is", known)
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
