#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the example designs: netlists by Yosys, firmware by the RISC-V compiler, flash images.

usage: build.py OUT [NAME ...]

For each design NAME (all, if none is named) the folder OUT/NAME gets

    words.json     the netlist of words: operators, registers and memories as they were written
    gates.json     the netlist of gates: flat, cells of one bit; large memories stay memories
    gates.v        the same gates as Verilog, for other simulators
    config.json    what `lockstep cosim` needs to run it
    *.bin, *.elf   firmware and flash images, where the design has some

What is newer than its sources is left as it is.
"""

import pathlib
import shutil
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOC_SOURCES = ["soc.v", "rv32i.v", "uart.v", "boot.v"]
NAMES = ["counter", "dual_uart", "apb", "flash", "jtag", "unreset", "clocks", "memory", "soc"]
COMPILER = "riscv64-unknown-elf-gcc"
COMPILER_FLAGS = ["-march=rv32i", "-mabi=ilp32", "-Os", "-std=c11", "-Wall", "-Wextra", "-Werror",
                  "-ffreestanding", "-nostdlib", "-ffunction-sections", "-Wl,--gc-sections",
                  "-Wl,--build-id=none"]


def sources(name):
    return [HERE / name / file for file in (SOC_SOURCES if name == "soc" else [name + ".v"])]


def run(command):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")


def yosys(commands):
    """Lines of commands, each without a semicolon in a name."""
    run(["yosys", "-q", "-p", "; ".join(commands)])


# What `synth` does, except that memories marked keep_memory are not broken into flip-flops.
def gate_commands(top):
    return [f"synth -flatten -top {top} -run begin:fine",
            "opt -fast -full",
            "memory_map -attr !keep_memory",
            "opt -undriven -fine",
            "techmap",
            "opt -fast",
            "abc -fast",
            "opt -fast",
            "check -assert"]


def build_netlists(top, files, out):
    read = [f"read_verilog {file}" for file in files]
    yosys(read + [f"hierarchy -check -top {top}", "proc", "opt", "memory -nomap", "opt_clean",
                  f"write_json {out / 'words.json'}"])
    yosys(read + gate_commands(top) + [f"write_json {out / 'gates.json'}",
                                       f"write_verilog -noattr {out / 'gates.v'}"])


def checksum(image):
    """What the SoC's firmware prints of its own image."""
    total = 0
    for (word,) in struct.iter_unpack("<I", image):
        total = ((total << 5 | total >> 27) + word) & 0xffffffff
    return total


def build_firmware(out):
    """firmware.elf, and flash.bin: the image's length in words, then the image."""
    source = HERE / "soc" / "firmware"
    elf, image = out / "firmware.elf", out / "firmware.bin"
    run([COMPILER, *COMPILER_FLAGS, "-T", source / "link.ld", "-o", elf, source / "start.S",
         source / "main.c"])
    run([COMPILER.replace("gcc", "objcopy"), "-O", "binary", elf, image])
    code = image.read_bytes()
    if len(code) % 4 != 0:
        sys.exit(f"{image}: the image is not a whole number of words")
    (out / "flash.bin").write_bytes(struct.pack("<I", len(code) // 4) + code)
    return code


def build_flash(out):
    """One image a flash, each with its byte where the reader looks for it."""
    for index, (address, value) in enumerate([(0, 0xa1), (0x1234, 0xb2), (0xffff, 0xc3)]):
        image = bytearray(b"\xff" * 0x10000)
        image[address] = value
        (out / f"flash{index}.bin").write_bytes(image)


def is_built(name, out):
    """config.json is written last."""
    inputs = [path for path in (HERE / name).rglob("*") if path.is_file()]
    newest = max(path.stat().st_mtime for path in inputs + [pathlib.Path(__file__)])
    last = out / "config.json"
    return last.exists() and last.stat().st_mtime >= newest


def build(name, out):
    if is_built(name, out):
        return
    out.mkdir(parents=True, exist_ok=True)
    (out / "config.json").unlink(missing_ok=True)
    build_netlists(name, sources(name), out)
    if name == "soc":
        build_firmware(out)
    elif name == "flash":
        build_flash(out)
    shutil.copyfile(HERE / name / "config.json", out / "config.json")


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    names = sys.argv[2:] or NAMES
    for name in names:
        if name not in NAMES:
            sys.exit(f"{name}: no such design; there are {', '.join(NAMES)}")
    for name in names:
        build(name, pathlib.Path(sys.argv[1]).resolve() / name)


if __name__ == "__main__":
    main()
