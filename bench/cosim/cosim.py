#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast netlists run, against Verilator and CXXRTL, in one run: the tables of docs/benchmarks.md.

usage: cosim.py LOCKSTEP CACHE [PART ...] [--turns N]

PART is gates, words, vcd, vcd_gates, instances, start, compile or soc; all, if none is named. What the others need (PicoRV32
with a program, models in C++; minutes) is built once, in the folder CACHE. Every contender is first held
to the outputs of the others, then they take turns; a number is the median of the turns.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import models
from measure import Contender, Run, spread, take_turns
from picorv32 import Lockstep, read_outputs

HERE = pathlib.Path(__file__).resolve().parent
COMPARED = 4000  # cycles


class Bench:
    def __init__(self, command, folder, turns):
        self.folder, self.turns = folder, turns
        self.lockstep = Lockstep(pathlib.Path(command).resolve(), folder)
        self.programs = {}

    def peer(self, name):
        """The program of a peer, held to our outputs; None where it cannot be built."""
        if name not in self.programs:
            build = models.build_cxxrtl if name == "cxxrtl" else models.build_verilator
            program = build(self.folder, *([] if name == "cxxrtl" else [name]))
            if program is None:
                print(f"{name}: skipped, {'clang++ or yosys-dev' if name == 'cxxrtl' else 'verilator'} is missing")
            self.programs[name] = program
            if program and "trace" not in name:
                self.compare(name, program)
        return self.programs[name]

    def outputs(self, netlist):
        path = self.folder / "outputs.vcd"
        Run(self.lockstep.cosim(netlist, COMPARED, "--output-vcd", path, "--trace", "outputs"),
            self.folder)
        return read_outputs(path)

    def compare(self, name, program):
        theirs = Run([program, COMPARED, "compare"], self.folder).text.strip()
        ours = self.outputs("gates.json" if name.startswith("gates") else "words.json")
        if theirs != ours:
            sys.exit(f"{name} and lockstep differ in their outputs: {theirs}, {ours}")
        print(f"{name}: the same outputs as lockstep, {COMPARED} cycles")

    def contest(self, title, contenders, target, *kinds):
        """The first is ours; `target` is the ratio to the second."""
        contenders = [contender for contender in contenders if contender]
        take_turns(contenders, self.turns)
        for kind in kinds or ("processor",):
            ours = contenders[0].rate(kind)
            print(f"\n{title} (by {kind} time)")
            for contender in contenders:
                print(f"  {contender.name:<36} {contender.rate(kind):>12,.0f} cycles/s  "
                      f"{ours / contender.rate(kind):7.2f}x  turns "
                      f"{spread(getattr(contender, kind))}")
            if len(contenders) > 1:
                ratio = ours / contenders[1].rate(kind)
                print(f"  target {target}x: {'met' if ratio >= target else 'NOT met'} ({ratio:.2f}x)")

    def ours(self, name, netlist, cycles, *options, scale=1, **more):
        return Contender(name, lambda n: self.lockstep.cosim(netlist, n, *options, **more), cycles,
                         self.folder, scale)

    def theirs(self, name, program, cycles, *options):
        peer = self.peer(program)
        return peer and Contender(name, lambda n: [peer, n, *options], cycles, self.folder)

    def gates(self):
        self.contest("PicoRV32 as gates, one instance, one thread, no waveform", [
            self.ours("lockstep", "gates.json", 100000),
            self.theirs("Verilator", "gates", 40000)], 3)
        self.share("gates.json", 100000)

    def words(self):
        self.contest("PicoRV32 as words, one instance, one thread, no waveform", [
            self.ours("lockstep", "words.json", 400000),
            self.theirs("CXXRTL on the RTL", "cxxrtl", 800000),
            self.theirs("Verilator on the RTL", "rtl", 2000000)], 1.5)
        self.share("words.json", 100000)

    def share(self, netlist, cycles):
        path = self.folder / "performance.json"
        Run(self.lockstep.cosim(netlist, cycles, "--cosim-perf-json", path), self.folder)
        result = json.loads(path.read_text())
        print(f"  blocks evaluated at an edge: {100 * result['evaluated']:.1f} %; "
              f"optimised code: {'yes' if result['optimized'] else 'no'}")

    def vcd(self):
        self.waveform("all signals of PicoRV32's RTL", "rtl.json", "rtl_trace", [], 60000, 1)

    def vcd_gates(self):
        self.waveform("all nets of PicoRV32's gates", "gates.json", "gates_trace",
                      ["--trace", "all"], 20000, 5)

    def waveform(self, title, netlist, peer, options, cycles, target):
        memory = pathlib.Path("/dev/shm")
        where = memory if memory.is_dir() and os.access(memory, os.W_OK) else self.folder
        with tempfile.TemporaryDirectory(dir=where) as scratch:
            path = pathlib.Path(scratch) / "out.vcd"
            contenders = [self.ours("lockstep", netlist, cycles, "--output-vcd", path, *options),
                          self.theirs("Verilator", peer, cycles, "dump", path)]
            self.contest(f"VCD to {where}, {title}", contenders, target, "processor", "wall")
            for contender in filter(None, contenders):
                Run(contender.command(1000), self.folder)
                text = path.read_bytes()
                print(f"  {contender.name}: {text.count(b'$var')} variables, "
                      f"{len(text) / 1000:.0f} bytes a cycle (of 1,000, with the header)")

    def instances(self):
        count = 512
        options = ["--instances", count]
        one, two = (self.ours(f"lockstep, {threads} thread(s)", "gates.json", 20000, *options,
                              scale=count, form="sliced", threads=threads) for threads in (1, 2))
        alone, among = self.digests(), self.digests(*options, form="sliced")
        if among != alone * count:
            sys.exit("the instances' digests are not that of one alone")
        self.contest(f"{count} instances of the gates", [
            one, self.theirs("Verilator, one instance", "gates", 40000), two], 50)
        ratio = two.rate("wall") / one.rate("wall")
        print(f"  two threads by wall time: {ratio:.2f}x of one; target 1.7x: "
              f"{'met' if ratio >= 1.7 else 'NOT met'}")

    def digests(self, *options, **more):
        path = self.folder / "report.json"
        Run(self.lockstep.cosim("gates.json", 300, "--report", path, *options, **more), self.folder)
        return [entry["digest"] for entry in json.loads(path.read_text())["instances"]]

    def start_of(self, title, netlist, config, form, target=None):
        """Wall time of a command that runs one edge, with an empty cache and with a warm one."""
        with tempfile.TemporaryDirectory(dir=self.folder) as cache:
            command = [self.lockstep.command, "cosim", netlist, "--config", config, "--quiet",
                       "--form", form, "--cache", cache, "--max-clock-edges", 1]
            cold = Run(command, self.folder)
            warm = sorted((Run(command, self.folder) for _ in range(self.turns)),
                          key=lambda run: run.wall)[self.turns // 2]
        size = pathlib.Path(self.folder / netlist).stat().st_size
        print(f"  {title:<36} cold {cold.wall:6.3f} s (processor {cold.processor:.3f}), warm "
              f"{warm.wall:.3f} s ({warm.processor:.3f}); peak {warm.peak / 2**20:.0f} MiB, "
              f"{warm.peak / size:.1f}x the file")
        if target:
            print(f"  {'':<36} target {target} s: {'met' if warm.wall < target else 'NOT met'}")
        return cold, size

    def start(self):
        self.starts("auto")
        self.start_of_large()

    def compile(self):
        self.starts("compiled")

    def starts(self, form):
        print(f"\nfrom the command to the end of its first edge, --form {form} (wall)")
        for name in ("gates", "words"):
            self.start_of(f"PicoRV32, {name}", f"{name}.json", "config.json", form, 0.2)
        soc = self.designs()
        if soc:
            self.start_of("soc, words", soc / "words.json", soc / "config.json", form, 0.2)

    def start_of_large(self):
        large = self.folder / "large.json"
        if not large.exists():
            subprocess.run([sys.executable, HERE.parent / "netlist" / "make_gates.py", "200000", large],
                           check=True)
        config = {"clock": "clk", "clock_period_ps": 10000, "num_cycles": 1000}
        (self.folder / "large_config.json").write_text(json.dumps(config))
        cold, size = self.start_of("200,000 cells, --form auto", large, "large_config.json", "auto")
        met = cold.wall < 2 and cold.peak <= 3 * size
        print(f"  {'':<36} target 2 s, 3x the file ({size / 2**20:.0f} MiB) with an empty cache: "
              f"{'met' if met else 'NOT met'} ({cold.wall:.2f} s, {cold.peak / size:.2f}x)")

    def designs(self):
        if shutil.which("riscv64-unknown-elf-gcc") is None:
            print("soc: skipped, riscv64-unknown-elf-gcc is missing")
            return None
        build = HERE.parent.parent / "examples" / "cosim" / "build.py"
        subprocess.run([sys.executable, build, self.folder / "designs", "soc", "counter"], check=True)
        return self.folder / "designs" / "soc"

    def soc(self):
        folder = self.designs()
        if folder is None:
            return
        prompt = HERE.parent.parent / "examples" / "cosim" / "soc" / "to_prompt.json"
        path = self.folder / "performance.json"
        print("\nthe SoC of examples/cosim from flash to its prompt, one thread, warm cache")
        for kind in ("words", "gates"):
            command = [self.lockstep.command, "cosim", folder / f"{kind}.json", "--config",
                       folder / "config.json", "--quiet", "--form", "compiled", "--threads", 1,
                       "--cache", "cache", "--input-commands", prompt, "--cosim-perf-json", path]
            runs = []
            for _ in range(self.turns + 1):
                run = Run(command, self.folder)
                runs.append((json.loads(path.read_text()), run))
            result, run = sorted(runs[1:], key=lambda pair: pair[0]["wall_seconds"])[self.turns // 2]
            print(f"  {kind}: {result['edges']} edges in {result['wall_seconds']:.3f} s, "
                  f"{result['edges'] / result['wall_seconds']:,.0f} edges/s; the command "
                  f"{run.wall:.3f} s; blocks evaluated {100 * result['evaluated']:.1f} %")
        self.peripherals()

    def peripherals(self):
        """What an edge of a counter takes with and without UARTs that listen to an output."""
        count, cycles, costs = 8, 400000, []
        base = {"clock": "clk", "clock_period_ps": 10000, "num_cycles": 10**12}
        contenders = []
        for number in (0, count):
            uart = {"tx": "last", "baud_rate": 115200}
            config = dict(base, uarts=[dict(uart, name=f"u{i}") for i in range(number)])
            path = self.folder / f"uarts{number}.json"
            path.write_text(json.dumps(config))
            contenders.append(Contender(
                f"{number} UARTs", lambda n, path=path: [
                    self.lockstep.command, "cosim", "designs/counter/words.json", "--config", path,
                    "--quiet", "--console", "none", "--form", "compiled", "--threads", 1, "--cache",
                    "cache", "--max-clock-edges", 2 * n], cycles, self.folder))
        take_turns(contenders, self.turns)
        costs = [1e9 / contender.rate() / 2 for contender in contenders]
        print(f"  an edge of the counter: {costs[0]:.0f} ns; a step of a UART: "
              f"{(costs[1] - costs[0]) / count:.1f} ns")


PARTS = ["gates", "words", "vcd", "vcd_gates", "instances", "start", "compile", "soc"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lockstep")
    parser.add_argument("cache", type=pathlib.Path)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--turns", type=int, default=5)
    arguments = parser.parse_args()
    if set(arguments.parts) - set(PARTS):
        parser.error(f"parts are {', '.join(PARTS)}")
    if shutil.which("yosys") is None or shutil.which("verilator") is None:
        print("cosim: skipped, it needs yosys and verilator (Debian: apt install yosys verilator)")
        return
    sys.stdout.reconfigure(line_buffering=True)
    try:
        models.build_netlists(arguments.cache.resolve())
    except (models.make_picorv32.Failed, FileNotFoundError) as failure:
        print(f"cosim: skipped, PicoRV32 cannot be built: {failure}")
        return
    bench = Bench(arguments.lockstep, arguments.cache.resolve(), arguments.turns)
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores; median of {arguments.turns} turns")
    for part in arguments.parts or PARTS:
        getattr(bench, part)()


if __name__ == "__main__":
    main()
