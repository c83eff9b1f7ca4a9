#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the command says where CUDA's driver is missing or too old.

usage: test_missing.py LOCKSTEP OLD_DRIVER
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.path.abspath(sys.argv[1])
OLD = sys.argv[2]
KERNEL = "kernel void one(u32 *y)\n{\n    y[0] = 1;\n}\n"


def run(environment, *arguments):
    """Exit status and all output."""
    result = subprocess.run([COMMAND, *arguments], env=dict(os.environ, **environment), text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return result.returncode, result.stdout


class Missing(unittest.TestCase):
    """Each machine is made by a folder that the dynamic linker looks into first."""

    def check(self, make, reason):
        """Listed with the reason; refused with it; other devices are not concerned."""
        with tempfile.TemporaryDirectory(dir=os.getcwd()) as folder:
            make(pathlib.Path(folder, "libcuda.so.1"))
            kernel = pathlib.Path(folder, "one.kc")
            kernel.write_text(KERNEL, encoding="utf-8")
            path = os.pathsep.join(filter(None, [folder, os.environ.get("LD_LIBRARY_PATH")]))
            environment = {"LD_LIBRARY_PATH": path}
            command = ["run", "--no-cache", "--global", "1", str(kernel), "y=zeros:u32:1"]
            status, text = run(environment, "devices")
            self.assertEqual(status, 0, text)
            self.assertRegex(text, "(?m)^cuda .*\n +not usable: .*" + reason)
            for name in ("cuda", "cuda:0", "cuda:h200"):
                status, text = run(environment, *command, "--device", name)
                self.assertEqual(status, 1, text)
                self.assertRegex(text, reason)
            status, text = run(environment, *command, "--device", "reference")
            self.assertEqual(status, 0, text)

    def test_no_library(self):
        """A file of the driver's name that is none."""
        self.check(lambda path: path.write_bytes(b""), "the NVIDIA driver is not there")

    def test_old_library(self):
        """A driver without what newer ones have."""
        self.check(lambda path: shutil.copy(OLD, path), "too old: it has no cuMemPoolCreate")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
