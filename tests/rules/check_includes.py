#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layers: which folder of src/ may include which (ARCHITECTURE.md).

usage: check_includes.py ROOT
"""

import pathlib
import re
import sys

# A folder may include itself and what is named here; "public" is include/lockstep. The longest
# matching folder counts. A single header is named with its file.
ALLOWED = {
    "base": ["lockstep/base.h"],
    "ir": ["public", "base"],
    "kernels": ["base"],
    "lang": ["public", "base", "ir"],
    "pass": ["public", "base", "ir"],
    "interp": ["public", "base", "ir"],
    "emit": ["public", "base", "ir"],
    # Code for GPUs is made by the same library, one lane at a time, with the same operations.
    "emit/ptx": ["public", "base", "ir", "emit/llvm"],
    "device": ["public", "base", "core/backend.h"],
    # No devices: device/common is what all devices may share, device/host what devices
    # in host memory share.
    "device/host": ["public", "base", "core/backend.h", "device/common"],
    "device/ref": ["public", "base", "core/backend.h", "device/host", "ir", "interp"],
    # abi.h is how compiled kernels are called, target.h what they are compiled for.
    "device/cpu": ["public", "base", "core/backend.h", "device/host", "emit/llvm/abi.h",
                   "emit/llvm/target.h"],
    "device/vulkan": ["public", "base", "core/backend.h", "device/common", "emit/spirv/abi.h",
                      "emit/spirv/target.h"],
    "device/cuda": ["public", "base", "core/backend.h", "device/common", "emit/ptx/abi.h",
                    "emit/ptx/target.h"],
    # The fault device stands in front of the reference device and makes its calls fail.
    # It rewrites IR to make an operation wrong.
    "device/fault": ["public", "base", "core/backend.h", "device/host", "device/ref", "ir"],
    "core": ["public", "base", "ir", "lang", "pass", "kernels", "device", "emit"],
    "gguf": ["public", "base"],
    "tokenizer": ["public", "base"],
    "chat": ["public", "base"],
    # blocks.h: the layout of blocks, as files have them.
    "llm": ["public", "base", "gguf/blocks.h"],
    "netlist": ["public", "base"],
    "cosim": ["public", "base", "netlist"],
    # What the commands sim and cosim share: configuration, waveforms. Through public headers only.
    "testbench": ["public", "base"],
    "bundle": ["public", "base"],
    "tune": ["public", "base"],
    "conform": ["public", "base"],
    "cli": ["public", "base", "conform", "testbench"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


def layer_of(folder):
    """The longest entry of ALLOWED that the folder lies in."""
    while folder and folder not in ALLOWED:
        folder = folder.rpartition("/")[0]
    return folder


def resolve(root, file, name):
    """The included file below src/ or include/, or None for headers of the system."""
    for base in (file.parent, root / "src", root / "include"):
        target = (base / name).resolve()
        if target.is_file():
            for top in (root / "src", root / "include"):
                if top in target.parents:
                    return target.relative_to(top).as_posix()
    return None


def is_allowed(file, target):
    """file and target are relative to src/ (public headers: "lockstep/...")."""
    layer = layer_of(file.rpartition("/")[0])
    target_folder = target.rpartition("/")[0]
    # Below one folder of device/, everything may be used, but not a sibling device.
    if target_folder == file.rpartition("/")[0] or layer_of(target_folder) == layer != "device":
        return True
    for allowed in ALLOWED.get(layer, []):
        if target == allowed or (target_folder + "/").startswith(allowed + "/"):
            return True
        if allowed == "public" and target_folder == "lockstep":
            return True
    return False


def self_test():
    """The rule itself, so that a mistake in it does not go unseen."""
    good = [("lang/lex.c", "ir/ir.h"), ("device/ref/ref.c", "interp/interp.h"),
            ("device/vulkan/memory.c", "device/vulkan/vulkan.h"), ("base/mem.c", "base/mem.h"),
            ("device/vulkan/memory.c", "core/backend.h"), ("cli/run.c", "lockstep/launch.h"),
            ("base/status.h", "lockstep/base.h"), ("emit/llvm/a.c", "emit/llvm/b.h"),
            ("emit/ptx/a.c", "emit/llvm/b.h"), ("device/cuda/a.c", "emit/ptx/abi.h")]
    bad = [("base/mem.c", "ir/ir.h"), ("base/mem.c", "lockstep/device.h"),
           ("ir/ops.c", "lang/lang.h"), ("lang/lex.c", "interp/interp.h"),
           ("device/vulkan/memory.c", "interp/interp.h"), ("device/vulkan/a.c", "core/core.h"),
           ("device/vulkan/a.c", "device/cuda/b.h"), ("emit/llvm/a.c", "emit/ptx/b.h"), ("llm/model.c", "core/core.h"),
           ("cli/run.c", "core/core.h"), ("core/core.c", "interp/interp.h"),
           ("unknown/a.c", "base/mem.h")]
    return ([f"self test: {a} may include {b}" for a, b in good if not is_allowed(a, b)]
            + [f"self test: {a} must not include {b}" for a, b in bad if is_allowed(a, b)])


def main(root):
    root = root.resolve()
    problems = self_test()
    files = [f for f in sorted((root / "src").rglob("*")) if f.suffix in (".c", ".h", ".def")]
    for file in files:
        name = file.relative_to(root / "src").as_posix()
        for included in INCLUDE.findall(file.read_text()):
            target = resolve(root, file, included)
            if target and not is_allowed(name, target):
                problems.append(f"src/{name} must not include {target}")
    for header in sorted((root / "include").rglob("*.h")):
        for included in INCLUDE.findall(header.read_text()):
            target = resolve(root, header, included)
            # kernel.h brings our math functions along, which are installed beside it.
            if target and not target.startswith(("lockstep/", "kernels/math/")):
                problems.append(f"public header {header.name} must not include {target}")
    print("\n".join(problems) or f"{len(files)} files of src/ keep to the layers")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
