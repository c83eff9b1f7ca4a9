#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example designs, as words and as gates, give what Icarus Verilog gives, in every net at every
edge: on the host evaluator (host_sim.c), by index and by level, and in `lockstep sim` on the reference.

usage: test_netlists.py HOST_SIM LOCKSTEP DESIGNS OUT [NAME ...]
"""

import pathlib
import subprocess
import sys

import designs

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "icarus"))
import compare_vcd # noqa: E402
import netlist # noqa: E402
import run_icarus # noqa: E402

def check(host_sim, lockstep, name, design, folder):
    problems = []
    outputs = [port for port, _ in netlist.ports(netlist.load(design / "gates.json"), name, "output")]
    options = compare_vcd.Options(require=outputs)
    folder.mkdir(parents=True, exist_ok=True)
    plan = folder / "stimulus.vcd"
    designs.write_stimulus(name, design / "gates.json", plan, 300)
    for kind in ("words", "gates"):
        source = design / f"{kind}.json"
        theirs, ours = folder / f"{kind}.icarus.vcd", folder / f"{kind}.vcd"
        run_icarus.run(source, plan, theirs, top=name)
        for who, command in (("by index", [host_sim, source, plan, ours]),
                             ("by level", [host_sim, source, plan, ours, "--by-level"]),
                             ("lockstep", [lockstep, "sim", source, plan, ours, "--top", name,
                                           "--trace", "all", "--device", "reference"])):
            subprocess.run(command, check=True)
            try:
                print(name, kind, who, compare_vcd.compare(theirs, ours, options))
            except compare_vcd.Mismatch as mismatch:
                problems.append(f"{name}, {kind}, {who}: {mismatch}")
    return problems


def main():
    designs.need("yosys", "iverilog", designs.builder.COMPILER)
    host_sim, lockstep, top, scratch = (pathlib.Path(path).resolve() for path in sys.argv[1:5])
    names = sys.argv[5:] or designs.NAMES
    designs.build(top, names)
    problems = []
    for name in names:
        problems += check(host_sim, lockstep, name, top / name, scratch / name)
    print(*problems, f"{len(names)} designs, {len(problems)} problems", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
