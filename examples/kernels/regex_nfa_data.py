#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what regex_nfa.kc needs: the table of a regular expression (table.bin), and random strings
made of the expression's characters (text.bin, starts.bin).

The expression may use literals, '.', classes like [a-f_], ( ), |, *, + and ?, and at most 32
characters or classes. It is compiled to Glushkov's automaton: one state a character; for each part
of the expression, whether it matches the empty string, and the states it can begin and end with.
"""

import argparse
import random
import struct
from collections import namedtuple

Part = namedtuple("Part", "empty first last")  # first, last: sets of states as bits


class Automaton:
    def __init__(self, expression):
        self.rest = list(expression)
        self.classes = []  # by state: the bytes that enter it
        self.follow = []   # by state: the states that can come next
        self.whole = self.alternatives()
        if self.rest:
            raise ValueError("unbalanced ')'")
        if self.whole.empty:
            raise ValueError("the expression matches the empty string, so everywhere")

    def next_is(self, characters):
        return bool(self.rest) and self.rest[0] in characters

    def connect(self, last, first):
        for state in range(len(self.follow)):
            if last >> state & 1:
                self.follow[state] |= first

    def alternatives(self):
        part = self.sequence()
        while self.next_is("|"):
            self.rest.pop(0)
            other = self.sequence()
            part = Part(part.empty or other.empty, part.first | other.first,
                        part.last | other.last)
        return part

    def sequence(self):
        part = Part(True, 0, 0)
        while self.rest and not self.next_is("|)"):
            after = self.repeated()
            self.connect(part.last, after.first)
            part = Part(part.empty and after.empty,
                        part.first | (after.first if part.empty else 0),
                        after.last | (part.last if after.empty else 0))
        return part

    def repeated(self):
        part = self.atom()
        while self.next_is("*+?"):
            sign = self.rest.pop(0)
            if sign != "?":
                self.connect(part.last, part.first)
            part = Part(part.empty or sign != "+", part.first, part.last)
        return part

    def atom(self):
        character = self.rest.pop(0)
        if character == "(":
            part = self.alternatives()
            if not self.next_is(")"):
                raise ValueError("'(' without ')'")
            self.rest.pop(0)
            return part
        if character in "*+?":
            raise ValueError(f"nothing to repeat before '{character}'")
        if character == "[":
            allowed = self.character_class()
        else:
            allowed = set(range(256)) - {10} if character == "." else {ord(character)}
        state = 1 << len(self.classes)
        if len(self.classes) == 32:
            raise ValueError("more than 32 characters")
        self.classes.append(allowed)
        self.follow.append(0)
        return Part(False, state, state)

    def character_class(self):
        allowed = set()
        while not self.next_is("]"):
            if not self.rest:
                raise ValueError("'[' without ']'")
            low = high = self.rest.pop(0)
            if self.next_is("-") and len(self.rest) > 1 and self.rest[1] != "]":
                self.rest.pop(0)
                high = self.rest.pop(0)
            allowed |= set(range(ord(low), ord(high) + 1))
        self.rest.pop(0)
        return allowed

    def table(self):
        """The words that regex_nfa.kc describes."""
        enter = [sum(1 << state for state, allowed in enumerate(self.classes) if byte in allowed)
                 for byte in range(256)]
        follow = []
        for first in range(0, 32, 8):
            group = self.follow[first:first + 8]
            for chosen in range(256):
                reached = 0
                for bit, states in enumerate(group):
                    reached |= states if chosen >> bit & 1 else 0
                follow.append(reached)
        return enter + follow + [self.whole.first, self.whole.last]


def make_strings(automaton, count, longest, seed):
    """Strings of the characters that the expression knows, and '_'."""
    choose = random.Random(seed)
    known = sorted({byte for allowed in automaton.classes if len(allowed) < 128
                    for byte in allowed} | {ord("_")})
    return [bytes(choose.choice(known) for _ in range(choose.randint(0, longest)))
            for _ in range(count)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("expression")
    parser.add_argument("--count", type=int, default=500, help="number of strings")
    parser.add_argument("--longest", type=int, default=60, help="length of the longest string")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    try:
        automaton = Automaton(options.expression)
    except ValueError as error:
        parser.error(str(error))
    strings = make_strings(automaton, options.count, options.longest, options.seed)
    starts = [0]
    for string in strings:
        starts.append(starts[-1] + len(string))
    for name, words in (("table.bin", automaton.table()), ("starts.bin", starts)):
        with open(name, "wb") as file:
            file.write(struct.pack(f"<{len(words)}I", *words))
    with open("text.bin", "wb") as file:
        file.write(b"".join(strings))


if __name__ == "__main__":
    main()
