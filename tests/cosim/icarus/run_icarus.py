#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Simulates a netlist in Icarus Verilog with a stimulus, and keeps the dump of all its nets.

usage: run_icarus.py [OPTIONS] NETLIST STIMULUS OUT.vcd

NETLIST is a Yosys JSON netlist, which Yosys turns into Verilog, or (*.v) Verilog together with --json,
the netlist that tells its ports. STIMULUS is a dump of the inputs.

The bench changes clocks at once and all other inputs by non-blocking assignment, so an edge sees the
other inputs as they were before, also those that change at its time. Inputs that clock pins or latch
enables hang on are clocks.

Verilog leaves open in which order things happen after a flip-flop changed a clock: a flip-flop that the
new clock drives may see its data before or after they settled. By default the flip-flops of the
generated Verilog therefore wait until everything of a time step has settled (`#0`), and take no edge at
time 0, where nets change from x to what they are. With --as-is the Verilog stays as it is.

Constants that are x or z, nets nobody drives, state without an initial value and what is divided by 0
are 0, as they are in a two-valued simulation. With --four-valued they are x.
"""

import argparse
import pathlib
import re
import subprocess
import sys

import netlist
import two_valued
import vcd

EDGE = re.compile(r"^(\s*always(?:_ff)? @\((?:pos|neg)edge [^\n]*?\))(.*)$")
DIVISION = re.compile(r"^(  assign .* = )(\S.*?) ([/%]) (\S.*);$", re.MULTILINE)
SCALES = {1: "1fs", 10 ** 3: "1ps", 10 ** 6: "1ns", 10 ** 9: "1us", 10 ** 12: "1ms"}
MODELS = pathlib.Path("/usr/share/yosys")   # of cells that have no expression


class Failed(Exception):
    pass


def call(command, timeout=120):
    try:
        result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                                timeout=timeout, check=False)
    except subprocess.TimeoutExpired as expired:
        raise Failed(f"{command[0]}: no end after {timeout} s") from expired
    if result.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}: exit status {result.returncode}\n"
                     f"{result.stdout[-4000:]}{result.stderr[-4000:]}")
    return result.stdout


def is_statement_end(line):
    return line.rstrip().endswith(";") or line.strip() == "end"


def wait_until_settled(text):
    """The flip-flops of what Yosys wrote sample after all of their time step has settled.

    Yosys writes one statement a line: `always @(edges)`, then `if (..) q <= ..;`, `else if ..`, and so
    on; the last branch is the one that the clock takes."""
    # Latches look at what they are made of also at time 0, when nothing has changed yet.
    lines = text.replace("  always @*\n", "  always_latch\n").split("\n")
    out, index = [], 0
    while index < len(lines):
        match = EDGE.match(lines[index])
        if not match:
            out.append(lines[index])
            index += 1
            continue
        edges, rest = match.groups()
        asynchronous = "," in re.sub(r"\\\S+ ", "", edges) or " or " in edges
        block = [rest] if rest.strip() else []
        index += 1
        depth = rest.split().count("begin")
        while index < len(lines):
            words = lines[index].split()
            is_first = not block
            continues = "else" in words[:2]
            if not is_first and depth == 0 and not continues and is_statement_end(block[-1]):
                break
            block.append(lines[index])
            depth += words.count("begin") - words.count("end")
            index += 1
        out.append(edges + " #0")
        if asynchronous:
            out += guard_last(block)
        else:
            out.append("    if ($time != 0)")
            out += block
    return "\n".join(out)


def quotient(a, b):
    """a / b, as Icarus 11 computes it right: it takes 0 for what is wider than 64 bits divided by 1."""
    negative = f"{b} == -1 ? -{a} : " if "$signed" in b else ""
    return f"{b} == 1 ? {a} : {negative}{a} / {b}"


def define_division(text):
    """What is divided by 0 is 0."""
    def define(match):
        head, a, operator, b = match.groups()
        return f"{head}({b}) == 0 ? 0 : {quotient(a, b) if operator == '/' else f'{a} % {b}'};"

    return DIVISION.sub(define, text)


def define_pmux(text):
    """A $pmux with several selects gives 0; Yosys would write that the lowest wins."""
    def define(match):
        name, body = match[1], match[0]
        size = re.search(r"input \[(\d+):0\] s;", body)
        none = f"{int(size[1]) + 1 if size else 1}'b0"
        body = re.sub(r"'b[?01]+:", lambda label: label[0].replace("?", "0"), body)
        return body.replace("default:", f"{none}: {name} = a;\n      default:").replace(
            f"default:\n        {name} = a;", f"default:\n        {name} = 0;")

    return re.sub(r"function \[[^\]]*\] \\?(pmux_\d+) ?;.*?endfunction", define, text,
                  flags=re.DOTALL)


def guard_last(block):
    """The last `else` of a chain is not taken at time 0."""
    for index in reversed(range(len(block))):
        if "else" in block[index].split()[:2]:
            block = list(block)
            block[index] = block[index].replace("else", "else if ($time != 0)", 1)
            return block
    return block


def write_verilog(json_path, verilog_path, commands=(), options="-noattr -norename"):
    """By Yosys; `commands` are passes that run first. It names a function after each $pmux, which
    must then be a name that Verilog can call."""
    script = [f"read_json {json_path}", *commands, "rename -enumerate -pattern pmux_% t:$pmux",
              f"write_verilog {options} {verilog_path}"]
    call(["yosys", "-q", "-p", "; ".join(script)])


def write_steps(stimulus, inputs, path):
    """One line a time: time since the last, then all inputs as one binary number, the first one left.

    Inputs that the stimulus does not have, and bits that are x or z, are 0. Gives the unit of time in
    femtoseconds."""
    reader = vcd.Reader(stimulus)
    widths = dict(inputs)
    targets = {}
    length = min((len(signal.scopes) for signal in reader.signals), default=0)
    for signal in reader.signals:
        if len(signal.scopes) == length and signal.name in widths:
            low = min(signal.left, signal.right) if signal.width < widths[signal.name] else 0
            targets.setdefault(signal.code, []).append((signal.name, low, signal.width))
    values = {name: 0 for name, _ in inputs}
    last = 0
    with open(path, "w", encoding="ascii") as file:
        for time, changes in reader.changes():
            for code, (bits, _) in changes.items():
                for name, low, width in targets.get(code, ()):
                    mask = ((1 << width) - 1) << low
                    values[name] = (values[name] & ~mask) | bits << low
            text = "".join(f"{values[name]:0{width}b}" for name, width in inputs)
            file.write(f"{time - last} {text}\n")
            last = time
    return reader.unit


def weak(name, width, value):
    """A net of the bench for a port that tri-state buffers drive: where they are off it has `value`."""
    return [f"  wire [{width - 1}:0] \\pin_{name} ;", f"  assign (weak0, weak1) \\pin_{name} = {value};"]


def bench(top, inputs, outputs, clocks, unit, steps, dump, inouts=(), buffers=False):
    """The test bench as text. `dut` is the design's instance. An inout p has the input p__in. Outputs of a
    design with tri-state `buffers` are 0 where these are off."""
    total = sum(width for _, width in inputs)
    lines = [f"`timescale {SCALES[unit]}/{SCALES[unit]}", "module bench;"]
    for name, width in inputs:
        lines.append(f"  reg [{width - 1}:0] \\in_{name} ;")
    held = [*inouts, *(outputs if buffers else ())]
    for name, width in held:
        lines += weak(name, width, f"\\in_{name}__in " if (name, width) in inouts else f"{width}'b0")
    driven = {f"{name}__in" for name, _ in inouts}
    pins = [f".\\{name} (\\in_{name} )" for name, _ in inputs if name not in driven]
    pins += [f".\\{name} (\\pin_{name} )" for name, _ in held]
    pins += [f".\\{name} ()" for name, _ in outputs if not buffers]
    lines.append(f"  \\{top} dut ({', '.join(pins)});")
    lines += ["  integer file, count, delta;", f"  reg [{max(total, 1) - 1}:0] step;",
              "  initial begin",
              f'    file = $fopen("{steps}", "r");',
              f'    $dumpfile("{dump}");',
              "    $dumpvars(0, dut);",
              '    count = $fscanf(file, "%d %b", delta, step);',
              "    while (count == 2) begin",
              "      #(delta);"]
    place = total
    for now in (True, False):
        place = total
        for name, width in inputs:
            place -= width
            if (name in clocks) == now:
                lines.append(f"      \\in_{name} {'=' if now else '<='} "
                             f"step[{place + width - 1}:{place}];")
    lines += ['      count = $fscanf(file, "%d %b", delta, step);',
              "    end", "    #1 $finish;", "  end", "endmodule", ""]
    return "\n".join(lines)


def write_models(path):
    """The models of Yosys' cells, where what is made of constants only is computed, too: a process that
    waits for a change of what never changes does not run."""
    text = "".join((MODELS / name).read_text(encoding="utf-8") for name in ("simlib.v", "simcells.v"))
    text = re.sub(r"\balways @\*", "always_latch", text)
    text = re.sub(r"(assign Y = )(\S+) / (\S+);", lambda match: f"{match[1]}{quotient(*match.groups()[1:])};",
                  text)
    path.write_text(text, encoding="utf-8")


def run(json_path, stimulus, out, *, top=None, verilog=None, clocks=None, as_is=False,
        commands=(), four_valued=False, options="-noattr -norename", timeout=120):
    """Simulates; `out` gets the dump. Files made on the way lie beside it."""
    out = pathlib.Path(out)
    modules = netlist.load(json_path)
    top = netlist.find_top(modules, top)
    inputs, outputs, inouts = (netlist.ports(modules, top, way) for way in ("input", "output", "inout"))
    inputs += [(f"{name}__in", width) for name, width in inouts]
    clocks = netlist.clocks(modules, top) if clocks is None else clocks
    source = out.with_suffix(".v")
    if verilog is None:
        if not four_valued:
            two_valued.convert(json_path, out.with_suffix(".json"))
            json_path = out.with_suffix(".json")
        write_verilog(json_path, source, commands, options)
        text = source.read_text(encoding="utf-8")
        if not four_valued:
            text = define_pmux(define_division(text))
        source.write_text(text if as_is else wait_until_settled(text), encoding="utf-8")
        verilog = [source]
    steps, program = out.with_suffix(".steps"), out.with_suffix(".vvp")
    unit = write_steps(stimulus, inputs, steps)
    if unit not in SCALES:
        raise Failed(f"{stimulus}: a time unit of {unit} fs")
    bench_path = out.with_suffix(".bench.v")
    bench_path.write_text(bench(top, inputs, outputs, clocks, unit, steps, out, inouts,
                                netlist.has_buffers(modules)), encoding="utf-8")
    models = out.with_suffix(".models.v")
    write_models(models)
    call(["iverilog", "-g2012", "-o", program, "-s", "bench", bench_path, *verilog, models], timeout)
    return call(["vvp", "-n", program], timeout)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("netlist")
    parser.add_argument("stimulus")
    parser.add_argument("out")
    parser.add_argument("--json", help="the netlist whose ports the Verilog file has")
    parser.add_argument("--top")
    parser.add_argument("--clock", action="append", help="an input that is a clock; else found")
    parser.add_argument("--as-is", action="store_true", help="leave the generated Verilog alone")
    parser.add_argument("--four-valued", action="store_true", help="leave what is x as it is")
    arguments = parser.parse_args()
    is_json = arguments.netlist.endswith(".json")
    if not is_json and arguments.json is None:
        parser.error("a Verilog netlist needs --json")
    try:
        text = run(arguments.netlist if is_json else arguments.json, arguments.stimulus,
                   arguments.out, top=arguments.top, clocks=arguments.clock,
                   verilog=None if is_json else [arguments.netlist], as_is=arguments.as_is,
                   four_valued=arguments.four_valued)
    except (Failed, ValueError) as error:
        sys.exit(str(error))
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
