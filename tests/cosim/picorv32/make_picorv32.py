#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds PicoRV32 with a program in its RAM, as netlists for all simulators.

usage: make_picorv32.py OUT [PICORV32.v]

OUT gets rtl.json (processes resolved, hierarchy kept), words.json (optimised words), gates.json (cells
AND, NOT, XOR, MUX and plain flip-flops; the RAM stays a memory) and, as Verilog, rtl.v and gates.v. The
source of PicoRV32 comes from the Python package pythondata-cpu-picorv32, which is fetched into OUT by pip
unless a file is named; it is never part of this repository.
"""

import fcntl
import pathlib
import struct
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = "pythondata-cpu-picorv32"
FLAGS = ["-march=rv32imc", "-mabi=ilp32", "-O2", "-std=c11", "-Wall", "-Wextra", "-Werror",
         "-ffreestanding", "-nostdlib", "-fno-tree-loop-distribute-patterns", "-Wl,--build-id=none"]
GATES = ["flatten", "opt", "wreduce", "peepopt", "alumacc", "opt", "memory -nomap", "opt -full",
         "memory_map -attr !keep_memory", "opt -full", "techmap", "opt -full", "dffunmap",
         "abc -g AND,XOR,MUX", "opt -full", "clean -purge"]


class Failed(Exception):
    pass


def run(command, folder=None):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            cwd=folder, check=False)
    if result.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}\n{result.stdout[-2000:]}"
                     f"{result.stderr[-2000:]}")


def installed(environment):
    """The path of picorv32.v in a Python environment that has the package; None if it has not."""
    return next(environment.glob(f"lib/*/site-packages/{PACKAGE.replace('-', '_')}/verilog/picorv32.v"), None)


def fetch(out):
    """The path of picorv32.v, from the package."""
    path = out / "picorv32.v"
    if not path.exists():
        run([sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "-d", out, PACKAGE])
        wheel = next(out.glob("*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            name = next(n for n in archive.namelist() if n.endswith("/verilog/picorv32.v"))
            path.write_bytes(archive.read(name))
    return path


def build_program(out):
    elf, image = out / "program.elf", out / "program.bin"
    source = HERE / "firmware"
    run(["riscv64-unknown-elf-gcc", *FLAGS, "-T", source / "link.ld", "-o", elf, source / "start.S",
         source / "main.c", "-lgcc"])
    run(["riscv64-unknown-elf-objcopy", "-O", "binary", elf, image])
    code = image.read_bytes()
    code += b"\0" * (-len(code) % 4)
    words = [f"{word:08x}" for (word,) in struct.iter_unpack("<I", code)]
    (out / "program.hex").write_text("\n".join(words + ["00000000"] * (4096 - len(words))) + "\n")


def build(out, source=None):
    """Builds into `out` what is not there. Of several at the same time one builds, the others wait."""
    out.mkdir(parents=True, exist_ok=True)
    with open(out / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        build_missing(out, source)


def build_missing(out, source):
    last = out / "gates.v"
    inputs = [path for path in HERE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    if last.exists() and last.stat().st_mtime > max(path.stat().st_mtime for path in inputs):
        return
    source = source or fetch(out)
    build_program(out)
    read = ["read_verilog", str(source), str(HERE / "system.v")]
    script = [" ".join(read), "hierarchy -check -top system", "proc", "opt_clean",
              "write_json rtl.json", "write_verilog -noattr rtl.v",
              "opt", "wreduce", "peepopt", "opt_clean", "memory -nomap", "opt -full",
              "write_json words.json", *GATES, "write_json gates.json",
              "write_verilog -noattr gates.v"]
    run(["yosys", "-q", "-p", "; ".join(script)], out)


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    try:
        build(pathlib.Path(sys.argv[1]).resolve(),
              pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) == 3 else None)
    except Failed as failure:
        sys.exit(str(failure))


if __name__ == "__main__":
    main()
