#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cases of cases/*.txt: what they say comes out of our renderer, and out of Jinja2.

usage: test_cases.py RENDER_LINES FOLDER     our renderer against the files
       test_cases.py --jinja2 FOLDER         the files against Jinja2; skipped when it is not there
       test_cases.py --write FOLDER [FILE]   writes into the files what Jinja2 gives, but for cases
                                             that say what we do not support or limit
"""

import json
import pathlib
import sys

import chat


def agrees(case, kind, text):
    return case.kind == kind and (case.expected == text if kind == "text" else
                                  case.expected in text)


def complain(path, case, kind, text, where=""):
    print(f"{path.name}: {case.name}: expected {case.kind}:\n{case.expected!r}\n"
          f"but it is {kind}:\n{text!r} {where}")


def ours(program, folder):
    count = failed = 0
    for path in sorted(folder.glob("*.txt")):
        cases = chat.read_cases(path)
        answers = chat.render_all(program, [(c.template, json.loads(c.variables)) for c in cases])
        for case, (kind, text, where) in zip(cases, answers):
            count += 1
            if not agrees(case, kind, text):
                failed += 1
                complain(path, case, kind, text, where)
    print(f"{count} cases, {failed} failed")
    return 1 if failed or not count else 0


def jinja2(folder, only=None, write=False):
    render = chat.reference()
    if not render:
        print("SKIP: there is no jinja2 for this python3 (tools/python-packages.sh)")
        return 77
    count = failed = 0
    for path in sorted(folder.glob(only or "*.txt")):
        cases = chat.read_cases(path)
        for case in cases:
            if case.kind.endswith(chat.OURS):
                continue
            kind, text = render(case.template, json.loads(case.variables))
            count += 1
            same = agrees(case, kind, text) or (kind == case.kind and not text)
            if write and not (same and case.expected):
                case.kind, case.expected = kind, text
            if not write and not same:
                failed += 1
                complain(path, case, kind, text)
        if write:
            chat.write_cases(path, cases)
    print(f"{count} cases, {failed} differ from Jinja2")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    if sys.argv[1] == "--write":
        sys.exit(jinja2(pathlib.Path(sys.argv[2]), *sys.argv[3:4], write=True))
    if sys.argv[1] == "--jinja2":
        sys.exit(jinja2(pathlib.Path(sys.argv[2])))
    sys.exit(ours(sys.argv[1], pathlib.Path(sys.argv[2])))
