#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No document names a file or a symbol that is gone.

Looks at README.md, ARCHITECTURE.md and docs/*.md: at text between backticks outside code blocks,
and at the targets of links. What looks like a path of this repository must exist ("*" as in the
shell), and what looks like a symbol of ours (`ls_...`) must stand in include/ or src/.

usage: check_docs.py ROOT
"""

import pathlib
import re
import sys

BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")
TOPS = r"src|include|tests|tools|bench|examples|docs|\.ci"
PATH = re.compile(rf"(?:{TOPS})/[\w./*-]*")
HEADER = re.compile(r"lockstep/\w+\.h")
SYMBOL = re.compile(r"\b(ls__?[a-z0-9]\w*|LS_[A-Z]\w*)")


def references(text):
    """(kind, name) pairs: "path" from the root, "link" from the document, "symbol"."""
    text = BLOCK.sub("", text)
    for quoted in QUOTED.findall(text):
        if PATH.fullmatch(quoted):
            yield "path", quoted
        elif HEADER.fullmatch(quoted):
            yield "path", "include/" + quoted
        else:
            for match in SYMBOL.finditer(quoted):
                # `ls_foo_*` and `ls_<module>_<verb>` are patterns.
                pattern = quoted[match.end():].startswith(("*", "<")) or match[1].endswith("_")
                if not pattern:
                    yield "symbol", match[1]
    for target in LINK.findall(text):
        if "://" not in target and not target.startswith("mailto:"):
            yield "link", target


def exists(folder, name):
    if "*" in name:
        return any(folder.glob(name))
    return (folder / name).exists()


def self_test():
    found = list(references("`src/a.c`, `lockstep/b.h`, `int x`, `ls_c(d)`, `ls_<module>`,\n"
                            "`ls_e_*`\n```\n`src/in_block.c`\n```\n"
                            "[x](f.md#part) [y](https://g/h)\n"))
    return found == [("path", "src/a.c"), ("path", "include/lockstep/b.h"), ("symbol", "ls_c"),
                     ("link", "f.md")]


def main(root):
    if not self_test():
        print("self test failed: references are not found as they should be")
        return 1
    sources = [p for top in ("include", "src") for p in (root / top).rglob("*")
               if p.suffix in (".c", ".h", ".def", ".kc", ".build", ".py")]
    symbols = set()
    for path in sources:
        symbols.update(re.findall(r"\w+", path.read_text()))
        symbols.update("LS_" + name for name in re.findall(r"\bX\((\w+)", path.read_text()))
    problems = checked = 0
    documents = [root / "README.md", root / "ARCHITECTURE.md",
                 *sorted((root / "docs").glob("*.md"))]
    for document in filter(pathlib.Path.exists, documents):
        for kind, name in references(document.read_text()):
            checked += 1
            if kind == "symbol":
                good = name in symbols
            else:
                good = exists(root if kind == "path" else document.parent, name)
            if not good:
                problems += 1
                print(f"{document.relative_to(root)}: {kind} {name} does not exist")
    print(f"{checked} references, {problems} to what is gone")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
