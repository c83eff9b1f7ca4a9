#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `lockstep sim` with Icarus Verilog on random cases, and makes small what fails.

usage: compare.py --lockstep PATH [OPTIONS] [FOLDER]

Makes the cases with seeds S to S + N - 1 (see generate.py), runs each in Icarus and by lockstep, and
compares all nets at all times. What fails is reduced: items are left out and the stimulus is cut as
long as it still fails, and the smallest case is kept in FOLDER/SEED. Exit status 1 if any fails.

FOLDER/record.txt keeps what was done, a line a case. With --resume a run that was stopped (Ctrl-C will do)
goes on behind what it says, and one that was complete begins anew; so many cases can be run in pieces.

With --peer the cases run in Icarus twice instead, the second time from the same netlist taken apart by
other passes of Yosys, and outputs are compared: what differs there is a fault of a case (a race, a value
that is x) or of a tool, not of lockstep.
"""

import argparse
import collections
import multiprocessing
import pathlib
import shutil
import signal
import sys
import time

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
        bare = netlist.pads_without_buffers(netlist.load(folder / "netlist.json"), "top")
        if bare:
            return None, f"not made: Yosys took the buffers of {', '.join(bare)} away"
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


def is_unknown(problem):
    return "% of the bits were unknown" in (problem or "")


def still_fails(case, folder, sides, without, length, problem):
    """Whether it fails in the way of `problem`: a small case easily has too many bits that are x."""
    found = check(case, folder, sides, without, length)[0]
    return found is not None and is_unknown(found) == is_unknown(problem)


def shorten(case, folder, sides, without, length, problem):
    while length > 4:
        shorter = length * 3 // 4
        if not still_fails(case, folder, sides, without, shorter, problem):
            break
        length = shorter
    return length


def reduce(case, folder, sides, problem, tries=120):
    """Leaves out all items that it can, halves first, then single ones."""
    count = len(case.design.cells if case.kind == "cells" else case.design.items)
    without, length = set(), case.length
    length = shorten(case, folder, sides, without, length, problem)
    size = max(1, count // 2)
    while size >= 1 and tries > 0:
        changed = False
        for start in range(0, count, size):
            more = without | set(range(start, min(count, start + size)))
            if more == without or tries <= 0:
                continue
            tries -= 1
            if still_fails(case, folder, sides, more, length, problem):
                without, changed = more, True
        if size == 1 and not changed:
            break
        size = size // 2 if size > 1 else (1 if changed else 0)
    length = shorten(case, folder, sides, without, length, problem)
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
        small, without, length = reduce(case, folder, sides, problem)
        if small is None:   # does not happen unless a run is not repeatable
            return seed, case.kind, f"seed {seed}: {problem}\n  not seen again", ""
        problem = small
    return seed, case.kind, report(case, folder, problem, without, length), ""


class Record:
    """What was done of a run, in a file: a line a case. The first line says which run it is."""

    def __init__(self, path, title, resume):
        self.path, self.cases = path, {}     # seed: (kind, verdict)
        lines = path.read_text(encoding="utf-8").splitlines() if resume and path.exists() else []
        if lines[:1] == [title]:
            for line in lines[1:]:
                seed, kind, verdict = line.split()
                self.cases[int(seed)] = (kind, verdict)
        path.parent.mkdir(parents=True, exist_ok=True)
        self.title = title
        self.start(self.cases)

    def start(self, cases):
        self.cases = dict(cases)
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(self.title + "\n")
            for seed, (kind, verdict) in self.cases.items():
                file.write(f"{seed} {kind} {verdict}\n")

    def add(self, seed, kind, verdict):
        self.cases[seed] = (kind, verdict)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(f"{seed} {kind} {verdict}\n")

    def seeds(self, verdict):
        return sorted(seed for seed, (_, found) in self.cases.items() if found == verdict)

    def summary(self, total):
        kinds = collections.Counter(kind for kind, _ in self.cases.values())
        lines = [f"{len(self.cases)} of {total} cases "
                 f"({', '.join(f'{n} {kind}' for kind, n in sorted(kinds.items()))}): "
                 f"{len(self.seeds('differs'))} differ, {len(self.seeds('unmade'))} could not be made"]
        for verdict, text in (("unmade", "could not be made"), ("differs", "differ")):
            if self.seeds(verdict):
                lines.append(f"seeds that {text}: {' '.join(map(str, self.seeds(verdict)))}")
        return "\n".join(lines)


class Progress:
    """A line every minute: how far, and how long it will take."""

    def __init__(self, record, total, to_do):
        self.record, self.total, self.to_do = record, total, to_do
        self.begun = self.last = time.monotonic()
        self.done = 0

    def step(self):
        self.done += 1
        now = time.monotonic()
        if now - self.last < 60:
            return
        self.last = now
        left = (self.to_do - self.done) * (now - self.begun) / self.done / 60
        print(f"{len(self.record.cases)} of {self.total}, {len(self.record.seeds('differs'))} differ, "
              f"{left:.0f} minutes left", flush=True)


def run_all(arguments, sides, record):
    """True when it came to the end."""
    seeds = range(arguments.seed, arguments.seed + arguments.count)
    if all(seed in record.cases for seed in seeds):
        record.start({})
    jobs = [(seed, arguments.kind, arguments.folder.resolve() / str(seed), sides,
             not arguments.no_reduce) for seed in seeds if seed not in record.cases]
    progress = Progress(record, len(seeds), len(jobs))
    with multiprocessing.Pool(arguments.jobs, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        try:
            for seed, kind, problem, summary in pool.imap(run_one, jobs):
                unmade = not problem and summary.startswith("not made")
                record.add(seed, kind, "differs" if problem else "unmade" if unmade else "equal")
                if problem:
                    print(problem, flush=True)
                elif unmade or arguments.verbose:
                    print(f"seed {seed}, {kind}: {summary}", flush=True)
                progress.step()
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            pool.terminate()
            return False
    return True


def parse():
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
    parser.add_argument("--resume", action="store_true", help="go on where the last run stopped")
    parser.add_argument("--no-reduce", action="store_true")
    parser.add_argument("--keep", action="store_true", help="keep the files of cases that pass, too")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    if (arguments.lockstep is None) == (not arguments.peer):
        parser.error("one of --lockstep and --peer")
    return arguments


def main():
    arguments = parse()
    sides = Sides(arguments.lockstep, arguments.device, arguments.option, arguments.keep)
    title = " ".join(map(str, ["seed", arguments.seed, "count", arguments.count, "kind", arguments.kind,
                               "device", arguments.device, *arguments.option]))
    record = Record(arguments.folder / "record.txt", title, arguments.resume)
    complete = run_all(arguments, sides, record)
    print(record.summary(arguments.count), flush=True)
    if not complete:
        print("stopped; --resume goes on")
        return 130
    return 1 if record.seeds("differs") or len(record.seeds("unmade")) > arguments.count // 20 else 0


if __name__ == "__main__":
    sys.exit(main())
