#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares two value change dumps of one design, net by net, at every time.

usage: compare_vcd.py [OPTIONS] THEIRS OURS

What counts are the values after everything of one time has settled. Nets are matched by their path
below the design's scope, and bit by bit, so a dump that has `a.b` as one name agrees with one that has
`b` in a scope `a`, and a bus agrees with its bits. A bit that is x or z in THEIRS is skipped. The first
difference is printed and gives exit status 1, as do too many skipped bits, an x in OURS, and dumps that
share no net.
"""

import argparse
import sys

import vcd


class Mismatch(Exception):
    pass


class Options:
    """What is tolerated, and how nets are found. `settled` is in femtoseconds."""

    def __init__(self, theirs_scope=None, ours_scope=None, settled=0, max_skipped=5.0, require=(),
                 allow_unknown=False, unknown_is_zero=False, only=None):
        self.theirs_scope, self.ours_scope = theirs_scope, ours_scope
        self.settled, self.max_skipped = settled, max_skipped
        self.require, self.allow_unknown = require, allow_unknown
        self.unknown_is_zero = unknown_is_zero      # what is x in theirs must be 0 in ours
        self.only = None if only is None else set(only)     # paths to compare; else all


def scope_length(reader, scope):
    """How many scopes stand above the design. Without a name, all that have only one scope inside."""
    if scope is not None:
        wanted = tuple(scope.replace("/", ".").split("."))
        if not any(signal.scopes[:len(wanted)] == wanted for signal in reader.signals):
            raise Mismatch(f"no scope {scope}")
        return len(wanted)
    return 0 if not reader.signals else min(len(signal.scopes) for signal in reader.signals)


def bits_of(reader, scope):
    """{path: [(code, lowest index, width, reversed)]} of all nets below the scope."""
    length = scope_length(reader, scope)
    prefix = None if scope is None else tuple(scope.replace("/", ".").split("."))
    nets = {}
    for signal in reader.signals:
        if len(signal.scopes) < length or (prefix and signal.scopes[:length] != prefix):
            continue
        nets.setdefault(signal.path(length), []).append(signal)
    return nets


def overlaps(theirs, ours):
    """(their code, shift, our code, shift, width) for the bits that two nets of one path share."""
    for a in theirs:
        for b in ours:
            same_direction = (a.left >= a.right) == (b.left >= b.right)
            if same_direction or a.width == 1 or b.width == 1:
                up = a.left < a.right if a.width > 1 else b.left < b.right
                low = max(min(a.left, a.right), min(b.left, b.right))
                high = min(max(a.left, a.right), max(b.left, b.right))
                if low > high:
                    continue
                if up:
                    yield (a.code, max(a.left, a.right) - high, b.code,
                           max(b.left, b.right) - high, high - low + 1, low)
                else:
                    yield (a.code, low - min(a.left, a.right), b.code,
                           low - min(b.left, b.right), high - low + 1, low)
            elif a.width == b.width:
                # One counts up and one down: bit by position.
                yield a.code, 0, b.code, 0, a.width, 0


class Link:
    def __init__(self, path, low, a, a_shift, b, b_shift, width):
        self.path, self.low, self.width = path, low, width
        self.a, self.a_shift, self.b, self.b_shift = a, a_shift, b, b_shift
        self.mask = (1 << width) - 1
        self.skipped = width    # bits of theirs that are unknown now
        self.times = 0


def link(theirs, ours, options):
    a_nets = bits_of(theirs, options.theirs_scope)
    b_nets = bits_of(ours, options.ours_scope)
    links = []
    for path, signals in a_nets.items():
        if options.only is not None and path not in options.only:
            continue
        seen = set()
        for found in overlaps(signals, b_nets.get(path, [])):
            if found not in seen:
                seen.add(found)
                a, a_shift, b, b_shift, width, low = found
                links.append(Link(path, low, a, a_shift, b, b_shift, width))
    missing = [path for path in options.require if path not in a_nets or path not in b_nets]
    if missing:
        raise Mismatch("not in both dumps: " + ", ".join(missing[:20]))
    if not links:
        raise Mismatch("the dumps share no net")
    return links, len(a_nets), len(b_nets)


def merged(a, a_unit, b, b_unit):
    """(time in femtoseconds, changes of a, changes of b)."""
    none = (None, None)
    a_next, b_next = next(a, none), next(b, none)
    while a_next[0] is not None or b_next[0] is not None:
        times = []
        if a_next[0] is not None:
            times.append(a_next[0] * a_unit)
        if b_next[0] is not None:
            times.append(b_next[0] * b_unit)
        now = min(times)
        a_now, b_now = {}, {}
        if a_next[0] is not None and a_next[0] * a_unit == now:
            a_now, a_next = a_next[1], next(a, none)
        if b_next[0] is not None and b_next[0] * b_unit == now:
            b_now, b_next = b_next[1], next(b, none)
        yield now, a_now, b_now


class Comparison:
    def __init__(self, theirs, ours, options):
        self.options = options
        self.a, self.b = vcd.Reader(theirs), vcd.Reader(ours)
        self.links, self.a_nets, self.b_nets = link(self.a, self.b, options)
        self.by_a, self.by_b = {}, {}
        for each in self.links:
            self.by_a.setdefault(each.a, []).append(each)
            self.by_b.setdefault(each.b, []).append(each)
        self.bits = sum(each.width for each in self.links)
        self.skipped_now = self.bits
        self.compared, self.skipped, self.times = 0, 0, 0

    def check(self, each, a_values, b_values):
        bits, unknown = a_values.get(each.a, (0, -1))
        ours, ours_unknown = b_values.get(each.b, (0, -1))
        a_bits, a_unknown = bits >> each.a_shift & each.mask, unknown >> each.a_shift & each.mask
        b_bits = ours >> each.b_shift & each.mask
        b_unknown = ours_unknown >> each.b_shift & each.mask
        skipped = a_unknown.bit_count() if a_unknown else 0
        self.skipped_now += skipped - each.skipped
        each.skipped = skipped
        known = each.mask if self.options.unknown_is_zero else each.mask & ~a_unknown
        if self.options.allow_unknown:
            known &= ~b_unknown
        if ((a_bits ^ b_bits) | b_unknown) & known:
            wrong = ((a_bits ^ b_bits) | b_unknown) & known
            return (f"{each.path} bits {each.low + each.width - 1}..{each.low} are "
                    f"{text(a_bits, a_unknown, each.width)} in theirs, "
                    f"{text(b_bits, b_unknown, each.width)} in ours, differing in "
                    f"{text(wrong, 0, each.width)}")
        return None

    def run(self):
        a_values, b_values = {}, {}
        options = self.options
        for time, a_now, b_now in merged(self.a.changes(), self.a.unit, self.b.changes(),
                                         self.b.unit):
            a_values.update(a_now)
            b_values.update(b_now)
            touched = {}
            for code in a_now:
                for each in self.by_a.get(code, ()):
                    touched[id(each)] = each
            for code in b_now:
                for each in self.by_b.get(code, ()):
                    touched[id(each)] = each
            wrong = [self.check(each, a_values, b_values) for each in touched.values()]
            wrong = [line for line in wrong if line]
            if wrong:
                more = [f"... and {len(wrong) - 8} more nets"] if len(wrong) > 8 else []
                raise Mismatch(f"at {time} fs: " + "\n  ".join(wrong[:8] + more))
            self.times += 1
            if time >= options.settled:
                self.compared += self.bits
                self.skipped += self.skipped_now
        share = 100.0 * self.skipped / self.compared if self.compared else 0.0
        if share > options.max_skipped:
            worst = sorted(self.links, key=lambda each: -each.skipped)[:5]
            raise Mismatch(f"{share:.2f} % of the bits were unknown in theirs; at the end "
                           + ", ".join(each.path for each in worst if each.skipped))
        return share

    def summary(self, share):
        return (f"{len(self.links)} nets, {self.bits} bits, {self.times} times equal; "
                f"{share:.2f} % skipped; {self.a_nets} nets in theirs, {self.b_nets} in ours")


def text(bits, unknown, width):
    return "".join("x" if unknown >> i & 1 else str(bits >> i & 1) for i in reversed(range(width)))


def compare(theirs, ours, options=None):
    """A line that says what was compared; raises Mismatch."""
    comparison = Comparison(theirs, ours, options or Options())
    return comparison.summary(comparison.run())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("theirs")
    parser.add_argument("ours")
    parser.add_argument("--theirs-scope", help="scope of the design in THEIRS, such as bench.dut")
    parser.add_argument("--ours-scope", help="the same in OURS; else the outermost that has nets")
    parser.add_argument("--settled", type=int, default=0,
                        help="skipped bits count from this time on, in femtoseconds")
    parser.add_argument("--max-skipped", type=float, default=5.0, help="per cent")
    parser.add_argument("--require", action="append", default=[], help="a net that must be in both")
    parser.add_argument("--allow-unknown", action="store_true", help="skip what is x in OURS too")
    arguments = parser.parse_args()
    options = Options(arguments.theirs_scope, arguments.ours_scope, arguments.settled,
                      arguments.max_skipped, arguments.require, arguments.allow_unknown)
    try:
        print(compare(arguments.theirs, arguments.ours, options))
    except Mismatch as mismatch:
        print(mismatch)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
