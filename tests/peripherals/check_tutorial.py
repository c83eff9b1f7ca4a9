#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows docs/tutorial-peripheral.md: writes its files, runs its commands, compares what they print.

usage: check_tutorial.py TUTORIAL EXAMPLES LOCKSTEP FOLDER

A block "```c name.kc" is the file name.kc, one after the other where there are several; of the last one
of each name, EXAMPLES must have the same text. A block "```console" is a session: lines that begin
with "$ " are run, the others are what all of them print; "..." stands for anything.
"""

import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys


def blocks(text):
    """(line number, language, file name or None, text) of each fenced block."""
    found, inside, start = [], None, 0
    for number, line in enumerate(text.split("\n"), 1):
        if inside is None and line.startswith("```"):
            inside, start = [line[3:]], number
        elif inside is not None and line == "```":
            language, _, name = inside[0].partition(" ")
            found.append((start, language, name or None, "".join(l + "\n" for l in inside[1:])))
            inside = None
        elif inside is not None:
            inside.append(line)
    return found


def matches(expected, actual):
    """Whether the text is as expected, "..." in it standing for anything."""
    pattern = ".*".join(re.escape(part) for part in expected.split("..."))
    return re.fullmatch(pattern, actual, re.DOTALL) is not None


def run_session(line, text, folder, environment):
    commands, expected = [], []
    for each in text.split("\n")[:-1]:
        if each.startswith("$ "):
            commands.append(each[2:])
        else:
            expected.append(each)
    script = "set -e\n" + "\n".join(commands)
    result = subprocess.run(["sh", "-c", script], cwd=folder, env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=200)
    if result.returncode != 0:
        sys.exit(f"line {line}: exit status {result.returncode}\n{result.stdout}")
    actual = result.stdout.splitlines()
    if not matches("\n".join(expected), "\n".join(actual)):
        print("\n".join(difflib.unified_diff(expected, actual, "tutorial", "printed", lineterm="")))
        sys.exit(f"line {line}: the session prints something else")


def main():
    tutorial, examples, lockstep, folder = map(pathlib.Path, sys.argv[1:])
    if not shutil.which("yosys"):
        print("SKIP: yosys is not installed")
        sys.exit(77)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environment = dict(os.environ, PATH=f"{lockstep.resolve().parent}:{os.environ['PATH']}",
                       XDG_CACHE_HOME=str(folder.resolve() / "cache"))
    found = blocks(tutorial.read_text())
    if not any(language == "console" for _, language, _, _ in found):
        sys.exit("the tutorial has no sessions")
    last = {}
    for line, language, name, text in found:
        if language == "console":
            run_session(line, text, folder, environment)
        elif name:
            (folder / name).write_text(text)
            last[name] = text
    for name, text in last.items():
        if (examples / name).read_text() != text:
            sys.exit(f"{examples / name} is not what the tutorial ends with")


if __name__ == "__main__":
    main()
