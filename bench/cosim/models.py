# SPDX-License-Identifier: Apache-2.0
"""Builds PicoRV32 once, and as programs of Verilator and CXXRTL, in a folder that is kept."""

import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tests" / "cosim" / "picorv32"))
import make_picorv32 # noqa: E402

VERILATOR = ["-O3", "--x-assign", "fast", "--x-initial", "fast", "-Wno-fatal", "-Wno-lint",
             "-Wno-style", "-Wno-MULTIDRIVEN", "-Wno-UNOPTFLAT"]
FIXED = "-fno-const-bit-op-tree"  # without it 5.006 is wrong on some netlists
# Of a traced model only the setup is in slow files.
CXX = ["OPT_FAST=-O3 -march=native", "OPT_GLOBAL=-O3 -march=native", "OPT_SLOW=-O0"]
# name: files (of the folder), flags of Verilator
MODELS = {
    "rtl": (["picorv32.v", "system.v"], [FIXED]),
    "rtl_trace": (["rtl.v"], [FIXED, "--trace", "--trace-max-array", "16"]),
    "gates": (["gates.v"], [FIXED]),
    "gates_trace": (["gates.v"], [FIXED, "--trace", "--trace-underscore"]),
}


def call(command, folder):
    result = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True,
                            text=True, check=False, timeout=3600)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{(result.stdout + result.stderr)[-3000:]}")


def build_verilator(folder, name):
    """The program of a model, or None where Verilator is missing."""
    program = folder / name / "Vsystem"
    if not program.exists():
        if shutil.which("verilator") is None:
            return None
        files, flags = MODELS[name]
        is_traced = "--trace" in flags
        call(["verilator", "--cc", "--exe", *VERILATOR, *flags, "--top-module", "system", "-Mdir",
              folder / name, *files, HERE / "verilator_main.cpp",
              *(["-CFLAGS", "-DDUMP"] if is_traced else [])], folder)
        launcher = ["OBJCACHE=ccache"] if shutil.which("ccache") else []
        call(["make", "-C", name, "-f", "Vsystem.mk", "-j", os.environ.get("JOBS", "2"), *CXX,
              *launcher, "Vsystem"], folder)
    return program


def build_cxxrtl(folder):
    """The program made by CXXRTL, or None where what it needs is missing. Its header, of the package
    yosys-dev, may also be a link CACHE/include."""
    program = folder / "cxxrtl" / "run"
    if not program.exists():
        compiler, header = shutil.which("clang++"), "backends/cxxrtl/cxxrtl.h"
        prefix = pathlib.Path(shutil.which("yosys")).resolve().parent.parent
        include = [path for path in (prefix / "share" / "yosys" / "include", folder / "include")
                   if (path / header).exists()]
        if compiler is None or not include:
            return None
        program.parent.mkdir(exist_ok=True)
        call(["yosys", "-q", "-p", "read_verilog picorv32.v system.v; hierarchy -check -top "
              "system; write_cxxrtl cxxrtl/model.cc"], folder)
        call([compiler, "-std=c++14", "-O3", "-march=native", "-fbracket-depth=4096", "-w", "-I",
              include[0], "-I", "cxxrtl", HERE / "cxxrtl_main.cpp", "-o", program], folder)
    return program


def build_netlists(folder):
    folder.mkdir(parents=True, exist_ok=True)
    make_picorv32.build(folder)
    shutil.copyfile(make_picorv32.HERE / "system.v", folder / "system.v")
