#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example SoC (a RISC-V core that boots from a modelled flash and prints on a modelled UART) on the
emulated CUDA device: what its peripherals see, waveforms and digests are those of the CPU, in every form.

usage: test_soc.py LOCKSTEP DESIGNS OUT
"""

import json
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cosim"))
import designs  # noqa: E402  (its folder is known from this file's)

designs.need("yosys", designs.builder.COMPILER)
LOCKSTEP, DESIGNS, OUT = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
del sys.argv[1:4]


class Soc(unittest.TestCase):
    def setUp(self):
        designs.build(DESIGNS, ["soc"])
        self.folder = OUT / self.id().rpartition(".")[2]
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(DESIGNS / "soc", self.folder)
        shutil.copy(designs.EXAMPLES / "soc" / "to_prompt.json", self.folder)

    def run_on(self, device, netlist, *options):
        """Report and, where they are written, waveform and events."""
        mark = device.partition(":")[0]
        names = [f"{mark}.{kind}" for kind in ("report", "vcd", "events")]
        outputs = ["--report", names[0], "--events", names[2]]
        if "--instances" not in options:
            outputs += ["--output-vcd", names[1]]
        result = subprocess.run([LOCKSTEP, "cosim", netlist, "--config", "config.json", "--quiet", "--no-cache",
                                 "--device", device, *outputs, *options], cwd=self.folder, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                timeout=250, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [result.stdout, *((self.folder / name).read_bytes() for name in names
                                 if (self.folder / name).exists())]

    def same(self, netlist, *options):
        """The report, once both devices have said the same, to the byte."""
        cpu, cuda = (self.run_on(device, netlist, *options) for device in ("cpu", "cuda:0"))
        self.assertEqual(len(cpu), len(cuda))
        for ours, theirs in zip(cpu, cuda):
            self.assertTrue(ours == theirs, "not the same bytes")
        return cuda[0], json.loads(cuda[1])["instances"]

    def test_it_boots_to_its_prompt(self):
        text, instances = self.same("words.json", "--form", "compiled", "--input-commands", "to_prompt.json")
        self.assertTrue(text.endswith(">"), text)
        self.assertEqual(instances[0]["stop"], "stop")
        self.assertGreater(instances[0]["edges"], 20000)
        self.assertGreater(instances[0]["events"], 10)

    def test_as_data(self):
        _, instances = self.same("words.json", "--form", "table", "--max-clock-edges", "1500")
        self.assertEqual(instances[0]["edges"], 1500)

    def test_instances_side_by_side(self):
        _, instances = self.same("words.json", "--form", "compiled", "--instances", "40", "--x-init", "random:1",
                                 "--max-clock-edges", "400")
        self.assertEqual(len(instances), 40)
        self.assertGreater(len({instance["digest"] for instance in instances}), 10)


if __name__ == "__main__":
    unittest.main(verbosity=2)
