#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/chat/unicode_tables.h: what Python's str knows of characters, as ranges.

usage: tools/unicode_tables.py > src/chat/unicode_tables.h

The tables are those of the Python that runs this; the version of Unicode stands in the file. A new
version changes results, so the file is made by hand and kept, not made by the build.
"""

import unicodedata

ALL = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def ignorable(c):
    """Case_Ignorable, which Python shows only in how the final sigma is chosen."""
    return ("A" + c + "\u03a3").lower()[-1] == "\u03c2" and ("1" + c + "\u03a3").lower()[-1] == "\u03c3"


def runs(pairs):
    """(code, value) pairs in order to (first, last, step, value): step is 1 or 2."""
    out = []
    for code, value in pairs:
        if out:
            first, last, step, old = out[-1]
            if old == value and (code - last == step or (first == last and code - last == 2)):
                out[-1] = (first, code, code - last, value)
                continue
        out.append((code, code, 1, value))
    return out


def table(kind, name, comment, rows):
    print(f"\n/* {comment} */\nstatic const {kind} {name}[] = {{")
    line = "   "
    for row in rows:
        item = " {" + ", ".join(row) + "},"
        if len(line) + len(item) > 100:
            print(line)
            line = "   "
        line += item
    print(line + "\n};")


def set_table(name, comment, contains):
    rows = runs((ord(c), 0) for c in ALL if contains(c))
    table("chat_run", name, comment, [(hex(a), hex(b), str(s)) for a, b, s, _ in rows])


def case_table(name, comment, convert, other=str):
    """What `other`, which is looked at after it, would convert differently."""
    pairs = [(ord(c), ord(convert(c)) - ord(c)) for c in ALL
             if len(convert(c)) == 1 and convert(c) != other(c)]
    table("chat_case_run", name, comment, [(hex(a), hex(b), str(s), str(d)) for a, b, s, d in runs(pairs)])


def special_table(name, comment, convert):
    rows = [(hex(ord(c)), "{" + ", ".join(hex(ord(x)) for x in convert(c)) + "}")
            for c in ALL if len(convert(c)) > 1]
    table("chat_case_special", name, comment, rows)


print(f"""/* SPDX-License-Identifier: Apache-2.0 */
/* Made by tools/unicode_tables.py: Unicode {unicodedata.unidata_version}, as Python has it. Included by unicode.c alone. */
#ifndef LS_CHAT_UNICODE_TABLES_H
#define LS_CHAT_UNICODE_TABLES_H

/* clang-format off */""")
set_table("SPACE", "str.isspace", str.isspace)
set_table("PRINTABLE", "str.isprintable", str.isprintable)
set_table("UPPERCASE", "str.isupper", str.isupper)
set_table("LOWERCASE", "str.islower", str.islower)
set_table("TITLECASE", "str.istitle, but not str.isupper", lambda c: c.istitle() and not c.isupper())
set_table("IGNORABLE", "not seen when the final sigma is looked for", ignorable)
set_table("ALPHABETIC", "str.isalpha", str.isalpha)
set_table("DIGIT", "str.isdigit", str.isdigit)
set_table("NUMERIC", "str.isnumeric", str.isnumeric)
case_table("UPPER", "str.upper, where it is one character", str.upper)
case_table("LOWER", "str.lower, where it is one character", str.lower)
case_table("TITLE", "str.title, where it is one character and not that of str.upper", str.title,
           str.upper)
special_table("UPPER_SPECIAL", "str.upper, where it is several", str.upper)
special_table("LOWER_SPECIAL", "str.lower, where it is several", str.lower)
special_table("TITLE_SPECIAL", "str.title, where it is several", str.title)
print("""/* clang-format on */

#endif""")
