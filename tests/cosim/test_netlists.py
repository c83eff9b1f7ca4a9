#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example designs, as words and as gates, give on the host evaluator (host_sim.c) what Icarus
Verilog gives, in every net at every edge, evaluated by index and by level.

usage: test_netlists.py HOST_SIM OUT
"""

import pathlib
import random
import subprocess
import sys

import designs

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "icarus"))
import compare_vcd # noqa: E402
import netlist # noqa: E402
import run_icarus # noqa: E402
import stimulus # noqa: E402

# Which value asserts the reset, and inputs that are not to change together with an edge or at all.
RESETS = {"counter": {"reset": 1}, "dual_uart": {"reset_n": 0}, "apb": {"reset_n": 0},
          "flash": {"reset_n": 0}, "jtag": {"trst_n": 0}, "unreset": {"reset": 1},
          "clocks": {"reset_n": 0}, "memory": {"reset": 1}, "soc": {"reset": 1}}
BETWEEN = {"clocks": ["choose", "hold"]}
CONSTANT = {"clocks": {"set": 0}}


def make_stimulus(name, json_path, path):
    modules = netlist.load(json_path)
    between = BETWEEN.get(name, [])
    clocks = [clock for clock in netlist.clocks(modules, name) if clock not in between]
    plan = stimulus.Plan(netlist.ports(modules, name, "input"), clocks,
                         {clock: 20000 + 10000 * i for i, clock in enumerate(clocks)},
                         RESETS[name], between, CONSTANT.get(name, {}), 300)
    with open(path, "w", encoding="ascii") as file:
        stimulus.write(plan, file, name, random.Random(name))


def check(host_sim, name, folder):
    problems = []
    outputs = [port for port, _ in netlist.ports(netlist.load(folder / "gates.json"), name, "output")]
    options = compare_vcd.Options(require=outputs)
    plan = folder / "host.stimulus.vcd"
    make_stimulus(name, folder / "gates.json", plan)
    for kind in ("words", "gates"):
        theirs, ours = folder / f"host.icarus.{kind}.vcd", folder / f"host.{kind}.vcd"
        run_icarus.run(folder / f"{kind}.json", plan, theirs, top=name)
        for how in ([], ["--by-level"]):
            subprocess.run([host_sim, folder / f"{kind}.json", plan, ours, *how], check=True)
            try:
                print(name, kind, *how, compare_vcd.compare(theirs, ours, options))
            except compare_vcd.Mismatch as mismatch:
                problems.append(f"{name}, {kind} {' '.join(how)}: {mismatch}")
    return problems


def main():
    designs.need("yosys", "iverilog", designs.builder.COMPILER)
    host_sim, top = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    designs.build(top, RESETS)
    problems = []
    for name in RESETS:
        problems += check(host_sim, name, top / name)
    print(*problems, f"{len(RESETS)} designs, {len(problems)} problems", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
