#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `lockstep sim` with Icarus Verilog on random cases, and makes small what fails.

usage: compare.py --lockstep PATH [OPTIONS] [FOLDER]

Makes the cases with seeds S to S + N - 1 (see generate.py), runs each in Icarus and by lockstep, and
compares all nets at all times. What fails is reduced: items are left out and the stimulus is cut as
long as it still fails, and the smallest case is kept in FOLDER/SEED. Exit status 1 if any fails.

With --peer the cases run in Icarus twice instead, the second time from the same netlist taken apart by
other passes of Yosys, and outputs are compared: what differs there is a fault of a case (a race, a value
that is x) or of a tool, not of lockstep.
"""

import argparse
import multiprocessing
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "icarus"))
import compare_vcd # noqa: E402
import generate # noqa: E402
import netlist # noqa: E402
import random_cells # noqa: E402
import run_icarus # noqa: E402

APART = ("memory_map", "pmuxtree", "dffunmap", "simplemap", "opt_clean")


class Sides:
    """How the two dumps of a case come about."""

    def __init__(self, lockstep, device, extra, keep):
        self.lockstep, self.device, self.extra, self.keep = lockstep, device, extra, keep

    def theirs(self, case, folder):
        out = folder / "icarus.vcd"
        common = {"top": "top", "clocks": case.design.plan(1).clocks + special_clocks(case)}
        if case.kind == "cells" and case.design.combinational:
            run_icarus.run(folder / "plain.json", folder / "stimulus.vcd", out, as_is=True,
                           four_valued=True, options="-noattr -norename -noexpr", **common)
        else:
            run_icarus.run(folder / "plain.json", folder / "stimulus.vcd", out, **common)
        return out

    def ours(self, case, folder):
        if self.lockstep is None:
            out = folder / "icarus2.vcd"
            commands = APART if case.kind != "gates" else \
                ("memory_map", "opt -full", "simplemap", "abc -g AND,XOR")
            run_icarus.run(folder / "plain.json", folder / "stimulus.vcd", out, top="top",
                           commands=commands,
                           clocks=case.design.plan(1).clocks + special_clocks(case))
            return out
        out = folder / "lockstep.vcd"
        command = [self.lockstep, "sim", folder / "netlist.json", folder / "stimulus.vcd", out,
                   "--top", "top", "--trace", "all", "--device", self.device, *self.extra]
        run_icarus.call(command, 300)
        return out


def special_clocks(case):
    """Inputs that latches open by and clocks are chosen by: they move before all others, too."""
    if case.kind == "cells":
        return [f"c{index}_{pin}" for index, cell in enumerate(case.design.cells)
                for pin, role in cell.roles.items()
                if role == "between" and pin in ("E", "EN")]
    return [name for name in ("open", "choose") if name in case.design.kinds]


def check(case, folder, sides, without=(), length=None):
    """Makes and runs a case; what is wrong, or None, and what was compared."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        case.write(folder, without, length)
        theirs = sides.theirs(case, folder)
    except run_icarus.Failed as failure:
        return None, f"not made: {failure}"
    try:
        ours = sides.ours(case, folder)
    except run_icarus.Failed as failure:
        return (None, f"not made: {failure}") if sides.lockstep is None else \
            (f"does not run: {failure}", "")
    outputs = [name for name, _ in netlist.ports(netlist.load(folder / "netlist.json"), "top",
                                                 "output")]
    is_peer = sides.lockstep is None
    options = compare_vcd.Options(
        require=outputs, max_skipped=100 if case.kind == "cells" else 5, allow_unknown=is_peer,
        unknown_is_zero=case.kind == "cells" and not is_peer and zero_rule(case),
        only=outputs if is_peer else None)
    try:
        return None, compare_vcd.compare(theirs, ours, options)
    except compare_vcd.Mismatch as mismatch:
        return str(mismatch), ""


def zero_rule(case):
    """x of a cell means 0, but for powers of zero and registers that were never set."""
    return all(cell.kind != "$pow" for cell in case.design.cells) and case.design.combinational


def shorten(case, folder, sides, without, length):
    while length > 4:
        shorter = length * 3 // 4
        if not check(case, folder, sides, without, shorter)[0]:
            break
        length = shorter
    return length


def reduce(case, folder, sides, tries=120):
    """Leaves out all items that it can, halves first, then single ones."""
    count = len(case.design.cells if case.kind == "cells" else case.design.items)
    without, length = set(), case.length
    length = shorten(case, folder, sides, without, length)
    size = max(1, count // 2)
    while size >= 1 and tries > 0:
        changed = False
        for start in range(0, count, size):
            more = without | set(range(start, min(count, start + size)))
            if more == without or tries <= 0:
                continue
            tries -= 1
            if check(case, folder, sides, more, length)[0]:
                without, changed = more, True
        if size == 1 and not changed:
            break
        size = size // 2 if size > 1 else (1 if changed else 0)
    length = shorten(case, folder, sides, without, length)
    return check(case, folder, sides, without, length)[0], without, length


def report(case, folder, problem, without, length):
    source = folder / ("source.il" if case.kind == "cells" else "source.v")
    lines = source.read_text(encoding="utf-8").splitlines()
    shown = lines if len(lines) <= 80 else lines[:80] + [f"... {len(lines) - 80} lines more"]
    return "\n".join([
        f"seed {case.seed}, {case.kind}: {problem}",
        f"  without {len(without)} items, {length} steps; passes: {'; '.join(case.commands)}",
        f"  kept in {folder}", *("    " + line for line in shown)])


def run_one(job):
    seed, kind, folder, sides, reducing = job
    case = generate.Case(seed, kind)
    problem, summary = check(case, folder, sides)
    if problem is None:
        if not sides.keep:
            shutil.rmtree(folder, ignore_errors=True)
        return seed, case.kind, None, summary
    without, length = set(), case.length
    if reducing:
        small, without, length = reduce(case, folder, sides)
        if small is None:   # does not happen unless a run is not repeatable
            return seed, case.kind, f"seed {seed}: {problem}\n  not seen again", ""
        problem = small
    return seed, case.kind, report(case, folder, problem, without, length), ""


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default="compare", type=pathlib.Path)
    parser.add_argument("--lockstep", help="the command")
    parser.add_argument("--peer", action="store_true", help="Icarus twice, without lockstep")
    parser.add_argument("--device", default="reference")
    parser.add_argument("--option", action="append", default=[], help="an option for lockstep sim")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--kind", choices=generate.KINDS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--no-reduce", action="store_true")
    parser.add_argument("--keep", action="store_true", help="keep the files of cases that pass, too")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    if (arguments.lockstep is None) == (not arguments.peer):
        parser.error("one of --lockstep and --peer")
    sides = Sides(arguments.lockstep, arguments.device, arguments.option, arguments.keep)
    seeds = range(arguments.seed, arguments.seed + arguments.count)
    jobs = [(seed, arguments.kind, arguments.folder.resolve() / str(seed), sides,
             not arguments.no_reduce) for seed in seeds]
    failed, unmade, counts = 0, 0, {}
    with multiprocessing.Pool(arguments.jobs) as pool:
        for seed, kind, problem, summary in pool.imap(run_one, jobs):
            counts[kind] = counts.get(kind, 0) + 1
            if problem:
                failed += 1
                print(problem, flush=True)
            elif summary.startswith("not made"):
                unmade += 1
                print(f"seed {seed}, {kind}: {summary}", flush=True)
            elif arguments.verbose:
                print(f"seed {seed}, {kind}: {summary}", flush=True)
    print(f"{len(jobs)} cases ({', '.join(f'{n} {kind}' for kind, n in sorted(counts.items()))}): "
          f"{failed} differ, {unmade} could not be made")
    return 1 if failed or unmade > len(jobs) // 20 else 0


if __name__ == "__main__":
    sys.exit(main())
