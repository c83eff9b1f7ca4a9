#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""By `meson compile ptx-engines`: the modules that the engines make, as PTX; of language models of
several families and types of tensors, and of designs in every form. What they are is seen by running
them (collect.c), on the reference and, where the form depends on the device, on the emulated CUDA
device; the lint and, where there is one, NVIDIA's assembler judge, module by module: one module of
everything is more than the assembler gets done.

usage: engines.py LOCKSTEP COLLECT PROGRAMS FOLDER DESIGNS DRIVER
"""

import os
import pathlib
import shutil
import subprocess
import sys
import time
from concurrent import futures

import assemble

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cosim"))
MODELS = {"llama": ["--types", "Q4_K,Q6_K,Q5_0,BF16,Q5_1,Q5_K,Q3_K,Q2_K,IQ4_NL,IQ4_XS,Q8_0,Q4_0,Q4_1",
                    "--width", "256", "--inner", "256"],
          "gemma3": [], "qwen2": ["--types", "F32"]}
DESIGNS = ["dual_uart", "flash", "jtag", "apb", "clocks", "memory"]
FORMS = [ # what is run, and how
    ("words", "--form compiled --device reference"),
    ("words", "--form table --device reference"),
    ("gates", "--form sliced --instances 64 --device reference"),
    ("words", "--form table --device cuda:0 --workgroups 1"),
    ("words", "--form table --device cuda:0 --workgroups 2"),
]


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
        for netlist, options in FORMS:
            run([lockstep, "cosim", f"{netlist}.json", "--config", "config.json", "--quiet",
                 "--max-clock-edges", "2", "--no-cache", *options.split()], here, **modules)
    return True


def judge(programs, folder, module):
    """What there is to say of a module, or nothing, and how long it took."""
    begin = time.monotonic()
    done = subprocess.run([programs, module], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, check=False)
    said = f"{module}: {done.returncode}: {done.stderr}" if done.returncode else ""
    if not said and assemble.find_ptxas():
        here = folder / "ptx" / module.stem
        here.mkdir(parents=True)
        said = assemble.assemble_all(programs, here, [module])
    return said, time.monotonic() - begin


def judge_all(programs, folder, modules):
    """How many of the modules, largest first, two at a time, are bad."""
    bad = 0
    with futures.ThreadPoolExecutor(2) as pool:
        judged = pool.map(lambda module: judge(programs, folder, module), modules)
        for number, (module, (said, seconds)) in enumerate(zip(modules, judged), 1):
            print(f"{number} of {len(modules)}: {module.name}, {module.stat().st_size} bytes of IR, "
                  f"{seconds:.1f} s{': ' if said else ''}{said}", flush=True)
            bad += bool(said)
    return bad


def main():
    begin = time.monotonic()
    lockstep, collect, programs, folder, designs, driver = (pathlib.Path(path).resolve()
                                                            for path in sys.argv[1:7])
    modules = folder / "modules"
    watched = {"LD_PRELOAD": str(collect), "LS_TEST_MODULES": str(modules),
               "LD_LIBRARY_PATH": str(driver)}
    for old in (modules, folder / "ptx"):
        shutil.rmtree(old, ignore_errors=True)
    modules.mkdir(parents=True)
    collect_models(lockstep, folder, watched)
    if not collect_designs(lockstep, designs, folder, watched):
        print("without designs: there is no Yosys")
    found = sorted(modules.glob("*.ir"), key=lambda file: (-file.stat().st_size, file.name))
    print(f"{len(found)} modules collected after {time.monotonic() - begin:.0f} s", flush=True)
    bad = judge_all(programs, folder, found)
    assembled = (f"assembled for {', '.join(arch for _, arch in assemble.RUNS)}"
                 if assemble.find_ptxas() else "not assembled: there is no ptxas")
    print(f"{bad} of {len(found)} modules are bad; {assembled}; {time.monotonic() - begin:.0f} s")
    return 1 if bad or not found else 0


if __name__ == "__main__":
    sys.exit(main())
