#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Simulates a netlist in Verilator with a stimulus, and keeps the dump of its nets.

usage: run_verilator.py [OPTIONS] NETLIST STIMULUS OUT.vcd

As run_icarus.py: NETLIST is a Yosys JSON netlist, or Verilog together with --json. Clocks change first,
then all other inputs of the same time, so an edge sees those as they were before. The program is built
once beside OUT.vcd, in a folder named after it, and built again only when the Verilog is newer.

-fno-const-bit-op-tree is needed: without it Verilator 5.006 is wrong on some netlists.

Names that Verilog must escape are not in the dump as they were: see netlist.rename_automatic.
"""

import argparse
import pathlib
import shutil
import sys

import netlist
import run_icarus
from run_icarus import call

# The part of a program that all models share, which takes longer to compile than a small model.
SHARED = ["verilated.o", "verilated_vcd_c.o", "verilated_threads.o"]
FLAGS = ["-O3", "--x-assign", "fast", "--x-initial", "fast", "-fno-const-bit-op-tree", "-Wno-fatal",
         "-Wno-lint", "-Wno-style", "-Wno-MULTIDRIVEN", "-Wno-UNOPTFLAT"]


def wrapper(top, inputs, outputs, clocks):
    """A module around the design with two inputs: all clocks, and all that is no clock. The design's
    own names might mean something in C++."""
    pins, widths = [], {"first": 0, "then": 0}
    for name, width in reversed(inputs):
        port = "first" if name in clocks else "then"
        low = widths[port]
        widths[port] += width
        pins.append(f".\\{name} ({port}[{low + width - 1}:{low}])")
    pins += [f".\\{name} ()" for name, _ in outputs]
    ports = [f"input [{max(width, 1) - 1}:0] {port}" for port, width in widths.items()]
    return (f"module replay ({', '.join(ports)});\n  \\{top} dut ({', '.join(pins)});\n"
            "endmodule\n"), widths


def take(port, width):
    """C++ that sets an input of the wrapper from `text`, its bits in order."""
    if width > 64:
        return "\n".join(f"        top->{port}[{word}] = (uint32_t)bits(text + "
                         f"{max(0, width - 32 * word - 32)}, {min(32, width - 32 * word)});"
                         for word in range((width + 31) // 32))
    return f"        top->{port} = bits(text, {width});"


def driver(inputs, clocks, widths, steps, dump):
    """The C++ program around the model. It picks the clocks' bits of a line, then the others'."""
    total = sum(width for _, width in inputs)
    kinds = "".join(("c" if name in clocks else "d") * width for name, width in inputs)
    include = '#include "verilated_vcd_c.h"\n' if dump else ""
    opened = (f"    Verilated::traceEverOn(true);\n    VerilatedVcdC trace;\n"
              f'    top->trace(&trace, 99);\n    trace.open("{dump}");\n') if dump else ""
    return f"""#include <cstdint>
#include <cstdio>
#include "Vreplay.h"
#include "verilated.h"
{include}
static const char kinds[] = "{kinds}";
static char line[{total + 2}], text[{total + 2}];

static uint64_t bits(const char *digits, int count)
{{
    uint64_t value = 0;
    while (count-- > 0)
        value = value << 1 | (uint64_t)(*digits++ == '1');
    return value;
}}

static void pick(char kind)
{{
    int count = 0;
    for (int i = 0; i < {total}; i++)
        if (kinds[i] == kind)
            text[count++] = line[i];
}}

int main()
{{
    Vreplay *top = new Vreplay;
    FILE *file = fopen("{steps}", "r");
    unsigned long long delta;
    uint64_t time = 0;
    bool is_first = true;
{opened}    while (fscanf(file, "%llu %s", &delta, line) == 2) {{
        time += delta;
        pick('c');
{take("first", widths["first"])}
        top->eval();
        pick('d');
{take("then", widths["then"])}
        top->eval();
        {"if (!is_first) trace.dump(time);" if dump else ""}
        is_first = false;
    }}
    {"trace.close();" if dump else ""}
    top->final();
    return 0;
}}
"""


def build(folder, sources, scale, dump, underscore, cflags, shared, timeout):
    """Makes the program in `folder`; what all models share is taken from and kept in `shared`."""
    extra = ["--trace", *(["--trace-underscore"] if underscore else [])] if dump else []
    call(["verilator", "--cc", "--exe", *FLAGS, *extra, "--timescale", f"{scale}/{scale}", "--top-module",
          "replay", "-Mdir", folder, *sources, "-CFLAGS", cflags], timeout)
    if shared:
        for name in SHARED:
            if (shared / name).exists():
                shutil.copy(shared / name, folder)  # newer than Vreplay.mk, which make looks at
    call(["make", "-C", folder, "-f", "Vreplay.mk", "-j", "2", f"OPT_FAST={cflags}", f"OPT_SLOW={cflags}",
          f"OPT_GLOBAL={cflags}", "Vreplay"], timeout)
    if shared:
        shared.mkdir(parents=True, exist_ok=True)
        for name in SHARED:
            if (folder / name).exists() and not (shared / name).exists():
                shutil.copy(folder / name, shared)


def put_before(steps, inputs, resets):
    """A first line in which resets that are asserted at first are not: here they act at an edge only."""
    lines = steps.read_text(encoding="ascii").splitlines(keepends=True)
    digits, place = list(lines[0].split()[1]), 0
    for name, width in inputs:
        if name in resets and digits[place] == str(resets[name]):
            digits[place] = str(1 - resets[name])
        place += width
    steps.write_text(f"0 {''.join(digits)}\n" + "".join(lines), encoding="ascii")


def run(json_path, stimulus, out, *, top=None, verilog=None, clocks=None, resets=None, underscore=True,
        dump=True, cflags="-O1", shared=None, timeout=1800):
    """Simulates; `out` gets the dump, in which the design is TOP.replay.dut. `resets` are inputs with the
    value that asserts them. Folder `shared`, with the same flags, spares others to compile what all
    programs have in common."""
    out = pathlib.Path(out).resolve()
    modules = netlist.load(json_path)
    top = netlist.find_top(modules, top)
    inputs, outputs = (netlist.ports(modules, top, way) for way in ("input", "output"))
    clocks = netlist.clocks(modules, top) if clocks is None else clocks
    if verilog is None:
        verilog = out.with_suffix(".v")
        run_icarus.write_verilog(json_path, verilog, options="-noattr -norename")
        text = verilog.read_text(encoding="utf-8")
        verilog.write_text(run_icarus.define_pmux(run_icarus.define_division(text)), encoding="utf-8")
    steps = out.with_suffix(".steps")
    unit = run_icarus.write_steps(stimulus, inputs, steps)
    put_before(steps, inputs, resets or {})
    folder = out.with_suffix("")
    main_path, wrapper_path = out.with_suffix(".cpp"), out.with_suffix(".replay.v")
    text, widths = wrapper(top, inputs, outputs, clocks)
    wrapper_path.write_text(text, encoding="utf-8")
    text = driver(inputs, clocks, widths, steps, out if dump else None)
    program = folder / "Vreplay"
    is_new = not main_path.exists() or main_path.read_text(encoding="utf-8") != text
    if is_new or not program.exists() or program.stat().st_mtime < verilog.stat().st_mtime:
        main_path.write_text(text, encoding="utf-8")
        build(folder, [wrapper_path, verilog, main_path], run_icarus.SCALES[unit], dump, underscore, cflags,
              shared, timeout)
    return call([program], timeout)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("netlist")
    parser.add_argument("stimulus")
    parser.add_argument("out")
    parser.add_argument("--json", help="the netlist whose ports the Verilog file has")
    parser.add_argument("--top")
    parser.add_argument("--no-dump", action="store_true", help="only run, for its speed")
    arguments = parser.parse_args()
    is_json = arguments.netlist.endswith(".json")
    if not is_json and arguments.json is None:
        parser.error("a Verilog netlist needs --json")
    try:
        run(arguments.netlist if is_json else arguments.json, arguments.stimulus, arguments.out,
            top=arguments.top, dump=not arguments.no_dump,
            verilog=None if is_json else pathlib.Path(arguments.netlist))
    except (run_icarus.Failed, ValueError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
