#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a program under Vulkan's validation layer, with its checks of synchronisation, and fails when the
layer says anything. Skips where the layer is not installed.

usage: validate.py PROGRAM [ARGUMENT...]
"""

import os
import re
import subprocess
import sys

LAYER = "VK_LAYER_KHRONOS_validation"
SYNC = "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT"
FINDING = re.compile(r"VUID-|SYNC-HAZARD|UNASSIGNED-|Validation (Error|Warning)")


def installed():
    """The loader looks for explicit layers in these folders, among others."""
    folders = ["/usr/share", "/usr/local/share", "/etc", os.path.expanduser("~/.local/share")]
    for folder in folders:
        path = os.path.join(folder, "vulkan", "explicit_layer.d")
        if os.path.isdir(path):
            for name in os.listdir(path):
                with open(os.path.join(path, name), encoding="utf-8") as file:
                    if LAYER in file.read():
                        return True
    return False


def main(command):
    if not installed():
        print(f"SKIP: {LAYER} is not installed")
        return 77
    environment = dict(os.environ, VK_INSTANCE_LAYERS=LAYER, VK_LAYER_ENABLES=SYNC)
    run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, errors="replace", check=False)
    lines = run.stdout.splitlines()
    findings = [line for line in lines if FINDING.search(line)]
    if findings:
        print("\n".join(findings[:20]))
        print(f"{len(findings)} findings")
    if findings or run.returncode not in (0, 77):
        print("\n".join(lines[-40:]))
    if run.returncode == 77:
        print("\n".join(line for line in lines if line.startswith("SKIP:")))
    return 1 if findings else run.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
