# SPDX-License-Identifier: Apache-2.0
"""Reads value change dumps as streams, and writes small ones.

Values are pairs of integers (bits, unknown): a bit that is x or z is 0 in `bits` and 1 in `unknown`.
Times are integers in the unit of the file's $timescale, which is given in femtoseconds.
"""

import re

UNITS = {"s": 10 ** 15, "ms": 10 ** 12, "us": 10 ** 9, "ns": 10 ** 6, "ps": 10 ** 3, "fs": 1}
DESIGN_SCOPES = ("module", "begin", "fork", "struct", "interface")  # not functions and tasks
KNOWN = str.maketrans("xXzZ", "0000")
UNKNOWN = str.maketrans("01xXzZ", "001111")
RANGE = re.compile(r"\[(-?\d+)(?::(-?\d+))?\]$")
MIXED = re.compile(r"[xXzZ]")


class Signal:
    """A variable of a dump: its scopes, its name without a range, and the index of each end."""

    def __init__(self, code, scopes, name, width, left, right):
        self.code, self.scopes, self.name = code, scopes, name
        self.width, self.left, self.right = width, left, right

    def path(self, prefix=0):
        return ".".join([*self.scopes[prefix:], self.name])


def unescaped(name):
    """Icarus writes an escaped name with a backslash in front, and doubles those inside."""
    return name[1:].replace("\\\\", "\\") if name[0] == "\\" else name


def parse_reference(tokens, width):
    """(name, left, right) of what stands between the code of a $var and $end."""
    name = unescaped(tokens[0])
    if len(tokens) > 1:
        match = RANGE.fullmatch("".join(tokens[1:]))
        if match:
            left = int(match[1])
            return name, left, int(match[2]) if match[2] else left
    match = RANGE.search(name)
    if match and match.start() > 0:
        left = int(match[1])
        right = int(match[2]) if match[2] else left
        if abs(left - right) + 1 == width and (width > 1 or not match[2]):
            return name[:match.start()], left, right
    return name, width - 1, 0


def parse_value(text):
    """A string of 0, 1, x and z, of any length, as (bits, unknown)."""
    if MIXED.search(text):
        return int(text.translate(KNOWN), 2), int(text.translate(UNKNOWN), 2)
    return int(text, 2), 0


def extended(text, width):
    """Missing digits are 0, or x or z if the first one is."""
    if len(text) < width and text[0] in "xXzZ":
        return text[0] * (width - len(text)) + text
    return text


class Reader:
    def __init__(self, path):
        self.file = open(path, encoding="latin-1")
        self.signals = []
        self.unit = UNITS["ns"]     # femtoseconds
        self.widths = {}            # of each code
        self.read_header()

    def read_header(self):
        scopes, hidden = [], 0
        words = []
        for line in self.file:
            words += line.split()
            while "$end" in words:
                end = words.index("$end")
                command, words = words[:end], words[end + 1:]
                if command[0] == "$timescale":
                    number, unit = re.fullmatch(r"(\d+)(\w+)", "".join(command[1:])).groups()
                    self.unit = int(number) * UNITS[unit]
                elif command[0] == "$scope":
                    scopes.append(unescaped(command[2]) if len(command) > 2 else "")
                    hidden += command[1] not in DESIGN_SCOPES or hidden > 0
                elif command[0] == "$upscope":
                    scopes.pop()
                    hidden = max(hidden - 1, 0)
                elif command[0] == "$var":
                    if hidden or command[1] in ("real", "realtime", "event", "string"):
                        continue
                    width, code = int(command[2]), command[3]
                    name, left, right = parse_reference(command[4:], width)
                    self.signals.append(Signal(code, tuple(scopes), name, width, left, right))
                    self.widths[code] = width
                elif command[0] == "$enddefinitions":
                    return
        raise ValueError("the dump ends before $enddefinitions")

    def changes(self):
        """(time, {code: (bits, unknown)}) for each time, with the last value of each changed code.

        What stands before the first time belongs to time 0."""
        time, now, widths = 0, {}, self.widths
        for line in self.file:
            first = line[0]
            if first in "01":
                now[line[1:].rstrip()] = (1, 0) if first == "1" else (0, 0)
            elif first in "bB":
                text, code = line[1:].split()
                if code in widths:
                    now[code] = parse_value(extended(text, widths[code]))
            elif first == "#":
                new = int(line[1:])
                if new != time:
                    if now:
                        yield time, now
                        now = {}
                    time = new
            elif first in "xXzZ":
                now[line[1:].rstrip()] = (0, 1)
        if now:
            yield time, now


class Writer:
    """A dump of input ports: ports are (name, width) pairs, values plain integers."""

    def __init__(self, file, top, ports, timescale="1ps"):
        self.file, self.widths = file, dict(ports)
        self.codes = {name: code_of(index) for index, (name, _) in enumerate(ports)}
        self.values = {}
        file.write(f"$timescale {timescale} $end\n$scope module {top} $end\n")
        for name, width in ports:
            span = f" [{width - 1}:0]" if width > 1 else ""
            file.write(f"$var wire {width} {self.codes[name]} {name}{span} $end\n")
        file.write("$upscope $end\n$enddefinitions $end\n")

    def write(self, time, values):
        changed = {name: value for name, value in values.items()
                   if self.values.get(name) != value}
        if not changed:
            return
        self.file.write(f"#{time}\n")
        for name, value in changed.items():
            if self.widths[name] == 1:
                self.file.write(f"{value}{self.codes[name]}\n")
            else:
                self.file.write(f"b{value:b} {self.codes[name]}\n")
        self.values.update(changed)


def code_of(index):
    """The short name of the variable with this index, made of printable characters."""
    code = ""
    while True:
        code += chr(33 + index % 94)
        index = index // 94 - 1
        if index < 0:
            return code
