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
    """How each input behaves. Times are in ps, and all are multiples of `STEP`."""

    STEP = 5000

    def __init__(self, ports, clocks, periods=None, resets=None, between=(), constant=None,
                 length=400, reset_length=8):
        self.ports, self.clocks = ports, list(clocks)
        self.periods = periods or {}
        self.resets = resets or {}          # name: the value that asserts it
        self.between = set(between)
        self.constant = constant or {}
        self.length, self.reset_length = length, reset_length   # in half periods of 2 STEP

    def period(self, name):
        return self.periods.get(name, 4 * self.STEP)


def write(plan, file, top, rng, release=0.02):
    """Edges fall on even multiples of STEP, what is to change between them on odd ones."""
    writer = vcd.Writer(file, top, plan.ports)
    widths = dict(plan.ports)
    values = {name: 0 for name in widths}
    for name, value in plan.resets.items():
        values[name] = value
    values.update(plan.constant)
    fixed = set(plan.clocks) | set(plan.constant)
    at_edges = [name for name in widths if name not in fixed and name not in plan.between
                and name not in plan.resets]
    writer.write(0, values)
    in_reset = True
    for step in range(1, 2 * plan.length):
        time = step * plan.STEP
        if step % 2 == 0:
            for name in plan.clocks:
                half = plan.period(name) // 2
                if time % half == 0:
                    values[name] ^= 1
            for name in at_edges:
                if rng.random() < 0.4:
                    values[name] = change(values[name], widths[name], rng)
            for name, asserted in plan.resets.items():
                if in_reset and step // 2 >= plan.reset_length:
                    values[name] = 1 - asserted
                elif not in_reset and rng.random() < release:
                    values[name] ^= 1
            in_reset = in_reset and step // 2 < plan.reset_length
        else:
            for name in sorted(plan.between - fixed):
                if rng.random() < 0.25:
                    values[name] = change(values[name], widths[name], rng)
        writer.write(time, values)


def change(value, width, rng):
    """Mostly random bits, at times one bit, all ones, or a value near another."""
    mask = (1 << width) - 1
    kind = rng.random()
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
    parser.add_argument("--length", type=int, default=400, help="in half periods")
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
