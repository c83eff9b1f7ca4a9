#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PicoRV32 running a program gives in lockstep what it gives in Icarus Verilog: all nets, at all times,
as words and as gates. PicoRV32 comes from ENVIRONMENT, which tools/python-packages.sh makes.

usage: test_picorv32.py LOCKSTEP ENVIRONMENT OUT [DEVICE]
"""

import pathlib
import random
import sys

import designs

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "icarus"), str(HERE / "picorv32")]
import make_picorv32 as build # noqa: E402
import compare_vcd # noqa: E402
import run_icarus # noqa: E402
import stimulus # noqa: E402

STEPS = {"words": 6000, "gates": 1200}  # half cycles; by gates Icarus is slow


def write_stimulus(path, steps):
    plan = stimulus.Plan([("clk", 1), ("resetn", 1)], ["clk"], resets={"resetn": 0}, length=steps)
    with open(path, "w", encoding="ascii") as file:
        stimulus.write(plan, file, "system", random.Random(1), release=0.0)


def main():
    designs.need("yosys", "iverilog", designs.builder.COMPILER)
    command, out = sys.argv[1], pathlib.Path(sys.argv[3]).resolve()
    device = sys.argv[4] if len(sys.argv) > 4 else "cpu"
    source = build.installed(pathlib.Path(sys.argv[2]))
    if source is None:
        print(f"SKIP: there is no {build.PACKAGE} in {sys.argv[2]}; see tools/python-packages.sh")
        return 77
    build.build(out, source)
    for kind, steps in STEPS.items():
        path = out / f"{kind}.stimulus.vcd"
        theirs, ours = out / f"{kind}.icarus.vcd", out / f"{kind}.lockstep.vcd"
        write_stimulus(path, steps)
        run_icarus.run(out / f"{kind}.json", path, theirs, top="system")
        run_icarus.call([command, "sim", out / f"{kind}.json", path, ours, "--top", "system",
                         "--trace", "all", "--device", device])
        outputs = ["result", "count", "done", "trap", "mem_valid", "mem_addr", "mem_wdata"]
        try:
            print(kind, compare_vcd.compare(theirs, ours, compare_vcd.Options(require=outputs)))
        except compare_vcd.Mismatch as mismatch:
            print(kind, mismatch)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
