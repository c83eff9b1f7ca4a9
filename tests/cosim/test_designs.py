#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example designs do in Icarus Verilog what their benches expect, as they were written and as gates.

A bench, benches/NAME.v, holds what the simulation must print in lines that start with "// expect: ".

usage: test_designs.py DESIGNS OUT
"""

import pathlib
import subprocess
import sys

import designs


def expected(bench, checksum):
    lines = bench.read_text(encoding="utf-8").splitlines()
    return [line[11:].replace("CHECKSUM", checksum) for line in lines
            if line.startswith("// expect: ")]


def hex_image(image, size, path):
    """`image` as $readmemh reads it, filled up with what an empty flash holds."""
    image = image + b"\xff" * (size - len(image))
    path.write_text("\n".join(f"{byte:02x}" for byte in image) + "\n")


def simulate(name, sources, scratch):
    program = scratch / f"{name}.vvp"
    subprocess.run(["iverilog", "-g2012", "-o", program, "-s", "bench",
                    designs.BENCHES / "models.v", designs.BENCHES / (name + ".v"), *sources],
                   check=True)
    result = subprocess.run(["vvp", "-n", program, f"+flash={scratch / 'flash.hex'}"],
                            capture_output=True, text=True, timeout=120, check=True)
    return [line.rstrip() for line in result.stdout.splitlines()]


def main():
    designs.need("yosys", "iverilog", designs.builder.COMPILER)
    top, scratch = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    designs.build(top)
    scratch.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in designs.NAMES:
        out = top / name
        checksum = ""
        if name == "soc":
            hex_image((out / "flash.bin").read_bytes(), 0x10000, scratch / "flash.hex")
            checksum = f"{designs.builder.checksum((out / 'firmware.bin').read_bytes()):08x}"
        wanted = expected(designs.BENCHES / (name + ".v"), checksum)
        for kind, sources in [("as written", designs.builder.sources(name)),
                              ("as gates", [out / "gates.v"])]:
            got = simulate(name, sources, scratch)
            if got == wanted and wanted:
                print(f"{name} {kind}: as expected")
            else:
                failed += 1
                print(f"{name} {kind}:", *got, "but expected:", *wanted, sep="\n    ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
