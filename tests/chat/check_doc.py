#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/chat-templates.md lists what the tables of src/chat hold, supported or not.

usage: check_doc.py ROOT
"""

import pathlib
import re
import sys

# Table in the source, paragraph of the document.
LISTS = [("filters", "Filters"), ("list_filters", "Filters"), ("tests", "Tests"),
         ("functions", "Functions"), ("string_methods", "Methods of texts"),
         ("dict_methods", "Methods of dicts"), ("list_methods", "Methods of lists"),
         ("tuple_methods", "Methods of tuples")]
TABLE = re.compile(r"const chat_callable ls__chat_(\w+)\[\] = \{(.*?)\n\};", re.DOTALL)
ENTRY = re.compile(r'\{"([^"]+)", (\w+),')


def main(root):
    tables = {}
    for path in sorted((root / "src" / "chat").glob("*.c")):
        for name, body in TABLE.findall(path.read_text()):
            tables[name] = ENTRY.findall(body)
    wanted = {}
    for table, title in LISTS:
        for name, function in tables[table]:
            if function != "ls__chat_unsafe":  # undefined, as in Jinja2
                suffix = " that are not supported" if function == "NULL" else ""
                wanted.setdefault(title + suffix, set()).add(name)
    text = (root / "docs" / "chat-templates.md").read_text()
    failed = 0
    for title, names in sorted(wanted.items()):
        found = re.search(rf"^{title}: (.*?)(?:;|\n\n)", text, re.MULTILINE | re.DOTALL)
        listed = set(re.findall(r"`([^`]+)`", found[1])) if found else set()
        for name in sorted(names ^ listed):
            failed += 1
            print(f"{title}: {name} is {'not in the document' if name in names else 'not there'}")
    print(f"{len(wanted)} lists, {sum(map(len, wanted.values()))} names, {failed} differ")
    return 1 if failed or len(wanted) < 9 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
