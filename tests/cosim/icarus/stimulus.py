#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a random stimulus for a netlist.

usage: stimulus.py [OPTIONS] NETLIST OUT.vcd

Clocks tick with periods of their own; resets are asserted at first; other inputs change now and then,
together with an edge. Inputs named with --between change only where no clock has an edge.
"""

import argparse
import random
import sys

import netlist
import vcd


class Plan:
    """How each input behaves. Times are in ps, and all are multiples of `STEP`: edges fall on even
    multiples, what is to change between edges on odd ones."""

    STEP = 5000

    def __init__(self, ports, clocks, periods=None, resets=None, between=(), constant=None,
                 length=400, reset_length=8):
        self.ports, self.clocks = ports, list(clocks)
        self.periods = periods or {}
        self.phases = {}        # of a clock, in ps: how much later it changes
        self.resets = resets or {}          # name: the value that asserts it
        self.between = set(between)
        self.constant = constant or {}
        self.only_while = {}    # name: [(other, value)] that must hold for it to change
        # Lists of (name, value when inactive): at most one of them is active, but for the start, and
        # only one changes at a time.
        self.exclusive = []
        self.length, self.reset_length = length, reset_length   # in multiples of 2 STEP

    def period(self, name):
        return self.periods.get(name, 4 * self.STEP)


class Player:
    """Plays a plan: the values of all inputs, step by step."""

    def __init__(self, plan, rng, release=0.02):
        self.plan, self.rng, self.release = plan, rng, release
        self.widths = dict(plan.ports)
        self.values = {name: 0 for name in self.widths}
        self.values.update(plan.resets)
        self.values.update(plan.constant)
        fixed = set(plan.clocks) | set(plan.constant)
        self.inactive = {name: value for group in plan.exclusive for name, value in group}
        self.free = [name for name in self.widths if name not in fixed]

    def step(self, number):
        """Changes the values as they change at this multiple of STEP."""
        plan, rng, values = self.plan, self.rng, self.values
        before = dict(values)
        if number % 2 == 0:
            for name in plan.clocks:
                if (number * plan.STEP - plan.phases.get(name, 0)) % (plan.period(name) // 2) == 0:
                    values[name] ^= 1
        touched = set()
        in_reset = number // 2 < plan.reset_length
        for name in self.free:
            if (name in plan.between) == (number % 2 == 0):
                continue
            new = values[name]
            if name in plan.resets:
                if in_reset:
                    continue
                new = self.reset_value(name, number)
            elif rng.random() < (0.4 if number % 2 == 0 else 0.25):
                new = change(values[name], self.widths[name], rng)
                if name in self.inactive and rng.random() < 0.5:
                    new = self.inactive[name]
            if new != values[name] and self.allowed(name, new, before, touched):
                values[name] = new
                touched.add(name)

    def reset_value(self, name, number):
        if number // 2 <= self.plan.reset_length + 1:
            return 1 - self.plan.resets[name]
        return self.values[name] ^ (self.rng.random() < self.release)

    def allowed(self, name, new, before, touched):
        for other, value in self.plan.only_while.get(name, ()):
            if self.values[other] != value or before[other] != value:
                return False
        for guarded, conditions in self.plan.only_while.items():
            if guarded in touched and any(name == other for other, _ in conditions):
                return False
        for group in self.plan.exclusive:
            inactive = dict(group)
            if name not in inactive:
                continue
            if touched & set(inactive):
                return False
            active = [other for other, value in group if self.values[other] != value]
            if new == inactive[name]:
                if len(active) > 1 and name != active[-1]:
                    return False    # at first all may be active: the last is let go first
            elif active and active != [name]:
                return False
        return True


def write(plan, file, top, rng, release=0.02):
    writer = vcd.Writer(file, top, plan.ports)
    player = Player(plan, rng, release)
    writer.write(0, player.values)
    for number in range(1, 2 * plan.length):
        player.step(number)
        writer.write(number * plan.STEP, player.values)


def change(value, width, rng):
    """Mostly random bits, at times one bit, all ones, or a value near another."""
    mask = (1 << width) - 1
    kind = rng.random()
    if width == 1:
        return value ^ 1
    if kind < 0.5:
        return rng.getrandbits(width)
    if kind < 0.7:
        return value ^ 1 << rng.randrange(width)
    if kind < 0.8:
        return rng.choice([0, mask, 1, mask >> 1, 1 << width - 1])
    if kind < 0.9:
        return (value + rng.choice([-1, 1])) & mask
    return rng.getrandbits(min(width, 4))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("netlist")
    parser.add_argument("out")
    parser.add_argument("--top")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--length", type=int, default=400, help="in units of 10 ns")
    parser.add_argument("--clock", action="append", default=[], metavar="NAME[=PS]",
                        help="a clock and its period; else those that the netlist shows, 20000 ps")
    parser.add_argument("--reset", action="append", default=[], metavar="NAME=VALUE",
                        help="an input, and the value that it has at first")
    parser.add_argument("--between", action="append", default=[], metavar="NAME")
    parser.add_argument("--constant", action="append", default=[], metavar="NAME=VALUE")
    arguments = parser.parse_args()
    modules = netlist.load(arguments.netlist)
    top = netlist.find_top(modules, arguments.top)
    named = dict((text.split("=") + [""])[:2] for text in arguments.clock)
    clocks = list(named) or netlist.clocks(modules, top)
    plan = Plan(netlist.ports(modules, top, "input"),
                [name for name in clocks if name not in arguments.between],
                {name: int(period) for name, period in named.items() if period},
                {name: int(value) for name, value in (t.split("=") for t in arguments.reset)},
                arguments.between,
                {name: int(value) for name, value in (t.split("=") for t in arguments.constant)},
                arguments.length)
    with open(arguments.out, "w", encoding="ascii") as file:
        write(plan, file, top, random.Random(arguments.seed))


if __name__ == "__main__":
    sys.exit(main())
