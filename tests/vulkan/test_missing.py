#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the command says where Vulkan's loader or drivers are missing.

usage: test_missing.py LOCKSTEP
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.path.abspath(sys.argv[1])
KERNEL = "kernel void one(u32 *y)\n{\n    y[0] = 1;\n}\n"


def run(environment, *arguments):
    """Exit status and all output."""
    result = subprocess.run([COMMAND, *arguments], env=dict(os.environ, **environment), text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return result.returncode, result.stdout


class Missing(unittest.TestCase):
    """Each machine is made by variables that the loader and the dynamic linker read."""

    def check(self, environment, reason):
        """Listed with the reason; refused with it; other devices are not concerned."""
        with tempfile.TemporaryDirectory() as folder:
            kernel = pathlib.Path(folder, "one.kc")
            kernel.write_text(KERNEL, encoding="utf-8")
            command = ["run", "--no-cache", "--global", "1", str(kernel), "y=zeros:u32:1"]
            status, text = run(environment, "devices")
            self.assertEqual(status, 0, text)
            self.assertRegex(text, "(?m)^vulkan .*\n +not usable: .*" + reason)
            for name in ("vulkan", "vulkan:0", "vulkan:radeon"):
                status, text = run(environment, *command, "--device", name)
                self.assertEqual(status, 1, text)
                self.assertIn(reason, text)
            status, text = run(environment, *command, "--device", "reference")
            self.assertEqual(status, 0, text)

    def test_no_driver(self):
        """A loader that finds no driver."""
        self.check({"VK_ICD_FILENAMES": "/nonexistent.json"}, "no Vulkan driver is installed")

    def test_no_loader(self):
        """Files of the loader's name that are none."""
        with tempfile.TemporaryDirectory() as folder:
            for name in ("libvulkan.so.1", "libvulkan.so"):
                pathlib.Path(folder, name).write_bytes(b"")
            path = os.pathsep.join(filter(None, [folder, os.environ.get("LD_LIBRARY_PATH")]))
            self.check({"LD_LIBRARY_PATH": path}, "the Vulkan loader is not there")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
