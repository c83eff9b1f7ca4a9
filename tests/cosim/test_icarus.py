#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The way in which designs are compared with Icarus Verilog is sound: what run_icarus.py does to the
Verilog so that it cannot race changes nothing on designs that do not, gates give what words give, and
a design that is wrong is found.

usage: test_icarus.py DESIGNS OUT
"""

import json
import pathlib
import sys

import designs

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "icarus"))
import compare_vcd # noqa: E402
import netlist # noqa: E402
import run_icarus # noqa: E402

NAMES = [name for name in designs.NAMES if name not in ("memory", "soc")] # which are slow


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


def check(name, design, folder):
    gates, words = design / "gates.json", design / "words.json"
    folder.mkdir(parents=True, exist_ok=True)
    stimulus_path = folder / "stimulus.vcd"
    designs.write_stimulus(name, gates, stimulus_path, 600)
    outputs = [port for port, _ in netlist.ports(netlist.load(gates), name, "output")]
    dumps = {}
    broken(gates, folder / "broken.json")
    for kind, path, as_is in [("gates", gates, False), ("gates as they are", gates, True),
                              ("words", words, False), ("broken", folder / "broken.json", False)]:
        dumps[kind] = folder / f"{kind.replace(' ', '_')}.vcd"
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
    top, scratch = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    designs.build(top, NAMES)
    problems = []
    for name in NAMES:
        problems += check(name, top / name, scratch / name)
    print(*problems, f"{len(NAMES)} designs, {len(problems)} problems", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
