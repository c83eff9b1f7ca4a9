#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Both engines on the emulated CUDA device: a co-simulation and a small language model give the bytes of
the reference; so do prepared batches in any form.

usage: test_command.py LOCKSTEP ROOT
"""

import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(sys.argv[2], "tests", "cli")))
import cli  # noqa: E402  (its folder is known from the arguments)


class Engines(cli.Case):
    def test_it_is_emulated_and_says_so(self):
        self.assertRegex(self.good("devices"), r"(?m)^cuda:0 +cpu +emulated")

    def test_everything_is_given_back(self):
        environment = dict(os.environ, LOCKSTEP_EMULATED_CUDA="report")
        result = self.run_command("run", "--no-cache", "--device", "cuda:0", "--repeat", "3", "--global", "100",
                                  "saxpy.kc", "n=100", "a=2", "x=iota:f32:100", "y=fill:f32:100:1", env=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, "context ends with 0 allocations, 0 streams, 0 events, 0 modules, 0 graphs, "
                                        "0 executables, 0 pools")

    def test_cosim(self):
        for form in ("compiled", "table"):
            for options in (("--batch", "7"), ()):
                for device in ("reference", "cuda:0"):
                    self.good("cosim", "counter.json", "--config", "config.json", "--form", form, "--device", device,
                              "--output-vcd", device[0] + ".vcd", "--report", device[0] + ".json", *options)
                for file in ("vcd", "json"):
                    self.assertEqual(self.path("r." + file).read_bytes(), self.path("c." + file).read_bytes(), form)

    def test_sim(self):
        for device in ("reference", "cuda:0"):
            self.good("sim", "counter.json", "stimulus.vcd", device[0] + ".vcd", "--device", device)
        self.assertEqual(self.path("r.vcd").read_bytes(), self.path("c.vcd").read_bytes())

    def test_language_model(self):
        found = set()
        for device, chunk in (("reference", "4"), ("cuda:0", "4"), ("cuda:0", "1")):
            result = self.run_command("generate", "-m", "model.gguf", "-p", "The same text", "-n", "3", "--digest",
                                      "--device", device, "--chunk", chunk, timeout=200)
            self.assertEqual(result.returncode, 0, result.stderr)
            found.add((result.stdout, re.search("logits: ([0-9a-f]{64})", result.stderr)[1]))
        self.assertEqual(len(found), 1)

    def test_a_model_is_verified_on_it(self):
        text = self.good("verify", "-m", "model.gguf", "-n", "2", "--slow-tokens", "0", timeout=250)
        self.assertIn("equal    device cuda\n", text)
        self.assertIn("equal    device cuda, cache of f32\n", text)


if __name__ == "__main__":
    cli.main()
