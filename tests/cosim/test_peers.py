#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every example, and PicoRV32 with a program, in Icarus Verilog and in Verilator: with the same inputs
they give the same values of all nets, at all edges.

usage: test_peers.py LOCKSTEP DESIGNS ENVIRONMENT PICORV32 OUT [--kind words|gates] [NAME ...]

Designs with peripherals run in `lockstep cosim`, which records what their inputs were; others get a random
stimulus. What is x in Icarus is skipped, and no more than 5 % may be skipped after reset. PicoRV32 is of
ENVIRONMENT (see tools/python-packages.sh) and is built in the folder PICORV32.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import time

import designs

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "icarus"), str(HERE / "picorv32")]
import compare_vcd # noqa: E402
import make_picorv32 # noqa: E402
import netlist # noqa: E402
import run_icarus # noqa: E402
import run_verilator # noqa: E402
import test_picorv32 # noqa: E402

# Edges of designs that run with their peripherals: until these have done something.
EDGES = {"soc": {"words": 16500, "gates": 3000}, "dual_uart": {"words": 10000, "gates": 10000},
         "flash": {"words": 1500, "gates": 1500}, "jtag": {"words": 1200, "gates": 1200},
         "fan": {"words": 12000, "gates": 6000}}
STEPS = {"words": 6000, "gates": 600}   # of PicoRV32
RESETS = {**designs.RESETS, "fan": {"reset": 1}, "picorv32": {"resetn": 0}}
RESET_FS = 10 ** 9     # all resets but those of random stimuli have ended by then, at the latest


class Bench:
    def __init__(self, arguments):
        self.command, self.out = arguments.lockstep, arguments.out.resolve()
        self.designs, self.kind = arguments.designs.resolve(), arguments.kind
        self.environment, self.picorv32 = arguments.environment.resolve(), arguments.picorv32.resolve()

    def netlist_of(self, name):
        """(netlist, folder of its configuration, top), or a reason why there is none."""
        if name == "picorv32":
            source = make_picorv32.installed(self.environment)
            if source is None:
                return f"there is no {make_picorv32.PACKAGE} in {self.environment}"
            make_picorv32.build(self.picorv32, source)
            return self.picorv32 / f"{self.kind}.json", None, "system"
        if name == "fan":
            folder = designs.EXAMPLES / "peripheral"
            path = self.out / f"fan.{self.kind}.json"
            designs.builder.yosys([f"read_verilog {folder / 'fan.v'}", "hierarchy -check -top fan", "proc",
                                   "opt", "memory -nomap" if self.kind == "words" else
                                   "techmap; abc -fast", "opt_clean", f"write_json {path}"])
            return path, folder, "fan"
        designs.build(self.designs, [name])
        return self.designs / name / f"{self.kind}.json", self.designs / name, name

    def ours(self, name, path, configured, top, folder):
        """Runs lockstep; afterwards there are stimulus.vcd and ours.vcd."""
        common = ["--trace", "all", "--top", top, "--quiet"]
        if name in EDGES:
            shutil.copytree(configured, folder, dirs_exist_ok=True)
            config = json.loads((folder / "config.json").read_text())
            if name == "jtag":
                config["jtag"].update({"replay": "session", "hold_edges": 2})
                (folder / "session").write_text(designs.jtag_session(0xcafebabe))
            (folder / "run.json").write_text(json.dumps(config))
            command = [self.command, "cosim", path, "--config", "run.json", "--stimulus-vcd",
                       "stimulus.vcd", "--output-vcd", "ours.vcd", "--console", "none",
                       "--max-clock-edges", EDGES[name][self.kind], *common]
        else:
            if name == "picorv32":
                test_picorv32.write_stimulus(folder / "stimulus.vcd", STEPS[self.kind])
            else:
                designs.write_stimulus(name, path, folder / "stimulus.vcd", 300)
            command = [self.command, "sim", path, "stimulus.vcd", "ours.vcd", *common]
        subprocess.run([str(word) for word in command], cwd=folder, check=True, stdin=subprocess.DEVNULL)

    def run(self, name):
        """(what differs, as lines; why it was left out, or None)."""
        found = self.netlist_of(name)
        if isinstance(found, str):
            return [], f"{name}: {found}"
        built, configured, top = found
        folder = self.out / name / self.kind
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "netlist.json"
        netlist.rename_automatic(built, path)
        self.ours(name, path, configured, top, folder)
        outputs = [port for port, _ in netlist.ports(netlist.load(path), top, "output")]
        problems = []
        for who, scope in ("icarus", "bench.dut"), ("verilator", "TOP.replay.dut"):
            theirs, begun = folder / f"{who}.vcd", time.monotonic()
            if who == "icarus":
                run_icarus.run(path, folder / "stimulus.vcd", theirs, top=top, timeout=600)
            else:   # what is x is 0 there as well: the netlist that Icarus had
                run_verilator.run(folder / "icarus.json", folder / "stimulus.vcd", theirs, top=top,
                                  resets=RESETS[name], cflags="-O0", shared=self.out / "shared")
            options = compare_vcd.Options(theirs_scope=scope, require=outputs, settled=RESET_FS)
            try:
                print(f"{name}, {who}: {compare_vcd.compare(theirs, folder / 'ours.vcd', options)} "
                      f"({time.monotonic() - begun:.1f} s)", flush=True)
            except compare_vcd.Mismatch as mismatch:
                problems.append(f"{name}, {who}: {mismatch}")
        return problems, None


def main():
    names = [*designs.NAMES, "fan", "picorv32"]
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in "lockstep", "designs", "environment", "picorv32", "out":
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--kind", choices=["words", "gates"], default="words")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    arguments = parser.parse_args()
    designs.need("yosys", "iverilog", "verilator", "g++", designs.builder.COMPILER)
    arguments.lockstep = arguments.lockstep.resolve()
    bench = Bench(arguments)
    problems, skipped = [], []
    for name in arguments.names or names:
        found, reason = bench.run(name)
        problems += found
        skipped += [reason] if reason else []
    print(*problems, sep="\n")
    print(f"{len(arguments.names or names)} designs, {len(problems)} problems")
    if skipped and not problems:
        print(f"SKIP: {'; '.join(skipped)}")
        return 77
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
