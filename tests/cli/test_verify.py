#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lockstep verify: all ways agree on a digest; a device that computes wrongly is found, and where it does."""

import os
import re

import cli

VERIFY = ["verify", "-m", "model.gguf"]


class Verify(cli.Case):
    def setUp(self):
        super().setUp()
        self.options = {"timeout": 250}
        if "SANITIZED" in os.environ:  # Mesa takes minutes to compile the kernels in such a process
            self.options["env"] = dict(os.environ, VK_DRIVER_FILES="/dev/null", VK_ICD_FILENAMES="/dev/null")

    def verify(self, *options, status=0):
        result = self.run_command(*VERIFY, *options, **self.options)
        self.assertEqual((result.returncode, result.stderr), (status, ""), result)
        return result.stdout

    def test_all_ways_agree(self):
        text = self.verify("--tokens", "9")
        self.assertRegex(text, r"\Afirst    device (\w+)\n(equal  .*\n|not run  .*: .*\n)+"
                               r"first    device \1, cache of f32\n(equal  .*\n|not run  .*: .*\n)+"
                               r"\d+ ways equal to the first, 0 different, \d+ not run\n"
                               r"digest [0-9a-f]{64}\ndigest with a cache of f32 [0-9a-f]{64}\n\Z")
        for way in ("chunk 1", "chunk 7", "pages of the cache in disorder", "heads of the cache apart",
                    "other sessions beside it", "commands not prepared", "operations one by one", "weights in pieces of 4 MiB",
                    "logits of several tokens together", "chunk 7, cache of f32", "kernels with bounds checks"):
            self.assertIn(f"equal    {way}\n", text)
        if "first    device cpu" in text:
            self.assertIn("equal    threads 1\n", text)
            self.assertIn("equal    device reference (the first tokens)\n", text)
            self.assertIn("equal    device reference, cache of f32 (the first tokens)\n", text)
        digest, floats = re.findall("digest .*", text)
        self.assertNotEqual(digest[-64:], floats[-64:])
        self.assertIn(digest, self.verify("--tokens", "9", "--chunk", "3"))
        self.assertNotIn(digest, self.verify("--tokens", "9", "--seed", "2", "--slow-tokens", "0"))

    def test_what_differs_is_found(self):
        """The fault device multiplies wrongly; the first products are those of the first norm."""
        text = self.verify("--tokens", "3", "--wrong-op", "fmul", status=1)
        self.assertRegex(text, r"DIFFERS  device fault\n  layer 0, \w[\w ]*, position 0, element \d+: expected \S+ "
                               r"\(0x[0-9a-f]{8}\), got \S+ \(0x[0-9a-f]{8}\)\n(.*\n)+\d+ ways equal to the first, 1 different")
        self.assertNotIn("digest", text)

    def test_wrong_input(self):
        self.bad("verify", says="a model is needed", status=2)
        self.bad(*VERIFY, "text", says="'text' is not expected", status=2)
        self.bad(*VERIFY, "--tokens", "0", says="at least one", status=2)
        self.bad(*VERIFY, "--device", "none", says="none")
        self.bad("verify", "-m", "absent.gguf", says="absent.gguf")
        self.bad(*VERIFY, "--tokens", "257", says=["--tokens 257", "context of 256", "model.gguf"])


if __name__ == "__main__":
    cli.main()
