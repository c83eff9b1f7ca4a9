#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The way in which designs are compared with Icarus Verilog is sound: what run_icarus.py does to the
Verilog so that it cannot race changes nothing on designs that do not, gates give what words give, and
a design that is wrong is found.

usage: test_icarus.py OUT
"""

import json
import pathlib
import random
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
          "clocks": {"reset_n": 0}}
BETWEEN = {"clocks": ["choose", "hold"]}
CONSTANT = {"clocks": {"set": 0}}


def make_stimulus(name, json_path, path):
    modules = netlist.load(json_path)
    between = BETWEEN.get(name, [])
    clocks = [clock for clock in netlist.clocks(modules, name) if clock not in between]
    plan = stimulus.Plan(netlist.ports(modules, name, "input"), clocks,
                         {clock: 20000 + 10000 * i for i, clock in enumerate(clocks)},
                         RESETS[name], between, CONSTANT.get(name, {}), 600)
    with open(path, "w", encoding="ascii") as file:
        stimulus.write(plan, file, name, random.Random(name))


def broken(json_path, out):
    """The netlist with all flip-flops' data turned into ones."""
    with open(json_path, encoding="utf-8") as file:
        data = json.load(file)
    for module in data["modules"].values():
        for cell in module["cells"].values():
            if "D" in cell["connections"]:
                cell["connections"]["D"] = ["1"] * len(cell["connections"]["D"])
    out.write_text(json.dumps(data))


def difference(theirs, ours, outputs):
    """Nothing, or what differs. Inner nets of two netlists may differ where nobody looks."""
    try:
        compare_vcd.compare(theirs, ours, compare_vcd.Options(require=outputs))
    except compare_vcd.Mismatch as mismatch:
        return str(mismatch)
    return None


def check(name, folder):
    gates, words = folder / "gates.json", folder / "words.json"
    stimulus_path = folder / "icarus.stimulus.vcd"
    make_stimulus(name, gates, stimulus_path)
    outputs = [port for port, _ in netlist.ports(netlist.load(gates), name, "output")]
    dumps = {}
    broken(gates, folder / "broken.json")
    for kind, path, as_is in [("gates", gates, False), ("gates as they are", gates, True),
                              ("words", words, False), ("broken", folder / "broken.json", False)]:
        dumps[kind] = folder / f"icarus.{kind.replace(' ', '_')}.vcd"
        run_icarus.run(path, stimulus_path, dumps[kind], top=name, as_is=as_is)
    problems = []
    problem = difference(dumps["gates as they are"], dumps["gates"], outputs)
    if problem:
        problems.append(f"{name}: waiting until all is settled changes {problem}")
    # A JTAG controller's data registers hold what nobody looks at until they are first captured.
    problem = None if name == "jtag" else difference(dumps["words"], dumps["gates"], outputs)
    if problem:
        problems.append(f"{name}: words and gates differ {problem}")
    if not difference(dumps["gates"], dumps["broken"], outputs):
        problems.append(f"{name}: a wrong flip-flop is not seen")
    return problems


def main():
    designs.need("yosys", "iverilog", designs.builder.COMPILER)
    top = pathlib.Path(sys.argv[1]).resolve()
    designs.build(top, RESETS)
    problems = []
    for name in RESETS:
        problems += check(name, top / name)
    print(*problems, f"{len(RESETS)} designs, {len(problems)} problems", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
