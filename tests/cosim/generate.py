#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes random test cases for the netlist simulator.

usage: generate.py --seed S [--kind words|gates|cells] OUT
       generate.py --coverage --seed S --count N OUT

A case is a folder with a netlist (netlist.json), a stimulus (stimulus.vcd) and case.json, which says how
the two were made and what is special about comparing them. (plain.json is the same netlist without
parameters as integers, which Yosys itself cannot read back.) Three kinds: `words` is random Verilog as
Yosys reads it, with operators and memories whole; `gates` is random Verilog that passes of Yosys, chosen
by the seed, have broken into small cells; `cells` holds cells one by one, each with ports of its own
and random parameters, so that every type there is comes up.

--coverage makes N cases and says which of the cell types that Yosys documents are in them, how often,
and which are not.
"""

import argparse
import collections
import json
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "icarus"))
import netlist # noqa: E402
import random_cells # noqa: E402
import random_rtl # noqa: E402
import run_icarus # noqa: E402
import stimulus # noqa: E402

KINDS = ["words", "gates", "cells"]
# What Yosys may do with flip-flops, so that every kind it has comes up.
FLOPS = [[], ["opt_dff -nosdff"], ["opt_dff -nodffe"], ["opt_dff -nosdff -nodffe"],
         ["opt_dff -simple-dffe"], ["dffunmap -ce-only"], ["dffunmap -srst-only"], ["dffunmap"],
         ["opt_dff -keepdc"]]
LEGAL = [
    [],
    ["dfflegalize -cell $_DFF_P_ 01 -cell $_DFF_P??_ 01 -cell $_ALDFF_P?_ 01 "
     "-cell $_DFFSR_P??_ 01 -cell $_DLATCH_?_ 01 -cell $_DLATCH_???_ 01 -cell $_DLATCHSR_???_ 01"],
    ["dfflegalize -cell $_DFFE_??_ 01 -cell $_DFFE_????_ 01 -cell $_ALDFFE_???_ 01 "
     "-cell $_DFFSRE_????_ 01 -cell $_DLATCH_?_ 01 -cell $_DLATCH_???_ 01 -cell $_DLATCHSR_???_ 01"],
    ["dfflegalize -cell $_SDFF_???_ 01 -cell $_DFF_???_ 01 -cell $_ALDFF_??_ 01 "
     "-cell $_DFFSR_???_ 01 -cell $_DLATCH_N_ 01 -cell $_DLATCH_???_ 01 -cell $_DLATCHSR_???_ 01"],
    ["dfflegalize -cell $_SDFFE_????_ 01 -cell $_SDFFCE_????_ 01 -cell $_DFFE_????_ 01 "
     "-cell $_ALDFFE_???_ 01 -cell $_DFFSRE_????_ 01 -cell $_DLATCH_?_ 01 -cell $_DLATCH_???_ 01 "
     "-cell $_DLATCHSR_???_ 01"],
]
MAPPED = [
    ["simplemap"],
    ["abc"],
    ["abc -fast"],
    ["abc -g all"],
    ["abc -g cmos"],
    ["abc -g AND,XOR,MUX"],
    ["abc -g AND,NAND,OR,NOR,XOR,XNOR,ANDNOT,ORNOT,MUX,NMUX,AOI3,OAI3,AOI4,OAI4"],
    ["abc -g AND"],
    ["abc -lut 4"],
    ["abc -lut 2:6"],
    ["muxcover -mux4 -mux8 -mux16", "simplemap"],
    ["muxcover -mux16 -nodecode", "opt_clean"],
]


def word_passes(rng):
    passes = ["proc" if rng.random() < 0.8 else "proc -norom", "tribuf"]
    if rng.random() < 0.4:
        passes.append("flatten")
    passes += rng.choice([["opt_clean"], ["opt"], ["opt -full"], ["opt -nodffe -nosdff"],
                          ["opt_expr", "opt_clean"]])
    for candidate in (["wreduce"], ["peepopt", "opt_clean"], ["share", "opt_clean"],
                      ["alumacc", "opt_clean"], ["opt_muxtree", "opt_reduce -full"],
                      ["pmuxtree"], ["bmuxmap"], ["demuxmap"], ["opt_share"], ["splitnets"],
                     ["fsm -expand", "opt_clean"],
                      ["opt_demorgan"], rng.choice(FLOPS)):
        if rng.random() < 0.25:
            passes += candidate
    passes += rng.choice([["memory_dff", "opt_clean"], ["memory -nomap"], ["memory -nomap", "opt -full"],
                          ["memory_collect"], ["memory_dff", "memory_collect"],
                          ["memory -nomap -nordff"]])
    return passes + ["opt_clean"]


def gate_passes(rng):
    passes = ["proc", "tribuf", "flatten", rng.choice(["opt", "opt -full", "opt_clean"])]
    if rng.random() < 0.5:
        passes += ["wreduce", "alumacc"]
    passes += rng.choice(FLOPS)
    memories = rng.random()
    passes += ["memory -nomap"] if memories < 0.3 else ["memory"]
    passes.append("opt -full")
    style = rng.random()
    if style < 0.1:
        return passes + ["simplemap", "opt_clean"]     # half words, half gates
    if style < 0.2:
        return passes + ["alumacc", "maccmap", "techmap -max_iter 1 t:$alu t:$macc",
                         "opt_clean"]
    passes += ["techmap", "opt"]
    passes += rng.choice(MAPPED) + ["opt_clean"]
    if rng.random() < 0.6:
        passes += ["simplemap"] + rng.choice(LEGAL) + ["opt_clean"]
    if rng.random() < 0.2:
        passes.append("splitnets")
    return passes


def write_case(folder, meta, source, commands, plan, rng):
    """Runs Yosys on `source` (Verilog or RTLIL), then writes stimulus and case.json."""
    folder.mkdir(parents=True, exist_ok=True)
    is_verilog = meta["kind"] != "cells"
    path = folder / ("source.v" if is_verilog else "source.il")
    path.write_text(source, encoding="utf-8")
    read = f"read_verilog -sv {path}" if is_verilog else f"read_rtlil {path}"
    integers = " -compat-int" if meta["compat_int"] else ""
    script = [read, *commands, f"write_json{integers} {folder / 'netlist.json'}",
              f"write_json {folder / 'plain.json'}"]
    (folder / "passes.ys").write_text("\n".join(script) + "\n", encoding="utf-8")
    run_icarus.call(["yosys", "-q", "-s", folder / "passes.ys"], 300)
    with open(folder / "stimulus.vcd", "w", encoding="ascii") as file:
        stimulus.write(plan, file, "top", rng)
    meta["clocks"] = plan.clocks
    (folder / "case.json").write_text(json.dumps(meta, indent=1) + "\n", encoding="utf-8")


class Case:
    """A case that can be made again in part: without some items, with a shorter stimulus."""

    def __init__(self, seed, kind=None):
        rng = random.Random(f"case {seed}")
        self.seed = seed
        self.kind = kind or rng.choices(KINDS, [40, 40, 20])[0]
        self.compat_int = rng.random() < 0.2
        self.length = rng.choice([60, 120, 200])
        if self.kind == "cells":
            self.design = random_cells.Design(seed)
            self.commands = sorted(self.design.commands)
        else:
            self.design = random_rtl.Design(seed, self.kind == "gates")
            passes = word_passes(rng) if self.kind == "words" else gate_passes(rng)
            self.commands = ["hierarchy -check -top top", *passes]

    def write(self, folder, without=(), length=None):
        plan = self.design.plan(self.length if length is None else length)
        meta = {"seed": self.seed, "kind": self.kind, "compat_int": self.compat_int,
                "without": sorted(without), "passes": self.commands,
                "unknown_is_zero": self.kind == "cells"}
        source = self.design.rtlil(without) if self.kind == "cells" else \
            self.design.verilog(without)
        write_case(pathlib.Path(folder), meta, source, self.commands, plan,
                   random.Random(f"stimulus {self.seed}"))


def cell_types(path):
    return collections.Counter(cell["type"] for module in netlist.load(path).values()
                               for cell in module["cells"].values())


def coverage(first, count, folder, kind):
    found = collections.Counter()
    for seed in range(first, first + count):
        Case(seed, kind).write(folder)
        found += cell_types(folder / "netlist.json")
    wanted = random_cells.documented()
    for name in sorted(wanted):
        print(f"{found.get(name, 0):8} {name}")
    missing = sorted(name for name in wanted if not found.get(name))
    print(f"{len(wanted) - len(missing)} of {len(wanted)} types; missing: "
          f"{' '.join(missing) or 'none'}")
    return 1 if missing else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--coverage", action="store_true")
    arguments = parser.parse_args()
    if arguments.coverage:
        return coverage(arguments.seed, arguments.count, arguments.out, arguments.kind)
    Case(arguments.seed, arguments.kind).write(arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
