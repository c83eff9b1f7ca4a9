#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""By `meson compile ptx-engines`: the modules that the engines make, as PTX; of language models of
several families and types of tensors, and of designs in every form. What they are is seen by running
them (collect.c); the lint and, where there is one, NVIDIA's assembler judge.

usage: engines.py LOCKSTEP COLLECT PROGRAMS FOLDER DESIGNS
"""

import os
import pathlib
import shutil
import subprocess
import sys

import assemble

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cosim"))
MODELS = {"llama": ["--types", "Q4_K,Q6_K,Q5_0,BF16,Q5_1,Q5_K,Q3_K,Q2_K,IQ4_NL,IQ4_XS,Q8_0,Q4_0,Q4_1",
                    "--width", "256", "--inner", "256"],
          "gemma3": [], "qwen2": ["--types", "F32"]}
DESIGNS = ["dual_uart", "flash", "jtag", "apb", "clocks", "memory"]
FORMS = ["compiled", "table", "sliced"]


def run(command, folder, **variables):
    environment = {**os.environ, **variables}
    done = subprocess.run([str(word) for word in command], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                          errors="replace", env=environment, timeout=500, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")


def collect_models(lockstep, folder, modules):
    for name, options in MODELS.items():
        run([sys.executable, ROOT / "tools" / "make_gguf.py", name, f"{name}.gguf", *options], folder)
        run([lockstep, "generate", "-m", f"{name}.gguf", "-p", "Hello", "-n", "1", "--device",
             "reference", "--no-cache"], folder, **modules)


def collect_designs(lockstep, designs, folder, modules):
    """False: there is no Yosys to build them with."""
    if not shutil.which("yosys"):
        return False
    import designs as builder # pylint: disable=import-outside-toplevel
    builder.build(designs, DESIGNS)
    for name in DESIGNS:
        here = folder / name
        shutil.rmtree(here, ignore_errors=True)
        shutil.copytree(designs / name, here)
        for form in FORMS:
            run([lockstep, "cosim", "gates.json" if form == "sliced" else "words.json", "--config",
                 "config.json", "--quiet", "--max-clock-edges", "2", "--form", form, "--instances",
                 "64" if form == "sliced" else "1", "--device", "reference", "--no-cache"], here,
                **modules)
    return True


def main():
    lockstep, collect, programs, folder, designs = (pathlib.Path(path).resolve()
                                                    for path in sys.argv[1:6])
    modules = folder / "modules"
    watched = {"LD_PRELOAD": str(collect), "LS_TEST_MODULES": str(modules)}
    shutil.rmtree(modules, ignore_errors=True)
    modules.mkdir(parents=True)
    collect_models(lockstep, folder, watched)
    if not collect_designs(lockstep, designs, folder, watched):
        print("without designs: there is no Yosys")
    found = sorted(modules.glob("*.ir"))
    done = subprocess.run([programs, *found], check=False)
    if done.returncode or not assemble.find_ptxas():
        return done.returncode
    return assemble.assemble_all(programs, folder, found)


if __name__ == "__main__":
    sys.exit(main())
