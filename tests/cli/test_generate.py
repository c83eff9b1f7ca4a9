#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lockstep generate: the same text and the same logits on every device, stops, ends, wrong input."""

import json
import math
import os
import re
import subprocess

import cli

MODEL = ["generate", "-m", "model.gguf"]


class Generate(cli.Case):
    def digest(self, *options):
        """Text and the digest of the logits."""
        result = self.run_command(*MODEL, *options, "--digest")
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout, re.fullmatch(r"\nlogits: ([0-9a-f]{64})\n", result.stderr)[1]

    def test_the_same_everywhere(self):
        prompt = ["-p", "The same prompt of some length, in pieces.", "-n", "12"]
        devices = self.good("devices")
        expected = self.digest(*prompt)
        self.assertEqual(self.digest(*prompt, "--threads", "3", "--chunk", "5"), expected)
        self.assertEqual(self.digest(*prompt, "--chunk", "1", "--no-cache"), expected)
        # Mesa takes minutes to compile the kernels in a process that a sanitizer checks.
        if "SANITIZED" not in os.environ and re.search(r"^vulkan", devices, re.M) and not re.search(r"^vulkan.*\n    not usable", devices, re.M):
            self.assertEqual(self.digest(*prompt, "--device", "vulkan"), expected)
        short = ["-p", "Hi", "-n", "2"]
        self.assertEqual(self.digest(*short, "--device", "reference"), self.digest(*short))

    def test_seeds(self):
        options = ["-p", "Once", "-n", "30", "--temperature", "1.5"]
        texts = {seed: self.digest(*options, "--seed", seed) for seed in ("0", "1", "2")}
        self.assertEqual(len(set(texts.values())), 3)
        self.assertEqual(self.digest(*options, "--seed", "2", "--threads", "1"), texts["2"])
        self.assertEqual(self.digest(*options, "--seed", "2", "--top-k", "1", "--top-p", "1"),
                         self.digest("-p", "Once", "-n", "30"))

    def test_bias(self):
        tokens = self.run_command(*MODEL, "-p", "Once", "-n", "6", "--logprobs", "2").stderr.splitlines()[1:]
        first, second = [token["id"] for token in json.loads(tokens[0])["top"]]
        for options, expected in {("--logit-bias", f"{first}:-inf"): second, ("--logit-bias", f"{second}:50"): second,
                                  ("--logit-bias", " world:1e3"): 264,
                                  ("--temperature", "2", "--typical", "0.000001", "--top-k", "1"): first}.items():
            lines = self.run_command(*MODEL, "-p", "Once", "-n", "1", "--logprobs", "0", *options).stderr.splitlines()
            self.assertEqual(json.loads(lines[1])["id"], expected, options)
        self.assertNotEqual(self.digest("-p", "Once", "-n", "30", "--temperature", "2", "--typical", "0.5"),
                            self.digest("-p", "Once", "-n", "30", "--temperature", "2"))
        self.bad(*MODEL, "-p", "x", "--logit-bias", "12", says="TOKEN:VALUE", status=2)
        self.bad(*MODEL, "-p", "x", "--logit-bias", "12:y", says="'y' is no number", status=2)
        self.bad(*MODEL, "-p", "x", "--logit-bias", "Hey:1", says="is 2 tokens")
        self.bad(*MODEL, "-p", "x", "--logit-bias", "99999:1", says="a bias of 1 for token 99999")
        self.bad(*MODEL, "-p", "x", "--logit-bias", "1:inf", says="--logit-bias: inf is not from -inf to", status=2)

    def test_ranges(self):
        """Numbers that sampling does not take are wrong usage, of the option by its name."""
        for option, most in {"temperature": 100, "top-p": 1, "min-p": 1, "typical": 1, "repeat-penalty": 100,
                             "frequency-penalty": 100, "presence-penalty": 100}.items():
            least = -100 if option in ("frequency-penalty", "presence-penalty") else 0
            for wrong in (least - 1, most + 1, "inf"):
                self.bad(*MODEL, "-p", "x", f"--{option}={wrong}", status=2,
                         says=f"--{option}: {wrong} is not from {least} to {most}")
            self.bad(*MODEL, "-p", "x", f"--{option}=nan", says=f"--{option}: 'nan' is no number", status=2)
            for right in (least, most):
                self.good(*MODEL, "-p", "x", "-n", "1", f"--{option}={right}")

    def test_stops(self):
        # The model's text is of single bytes, some of which are no UTF-8.
        result = subprocess.run([cli.COMMAND, *MODEL, "-p", "Stop", "-n", "40", "--temperature", "3", "--seed", "4"],
                                cwd=self.folder, stdout=subprocess.PIPE, check=True)
        text = result.stdout
        ascii_ = [i for i in range(5, len(text) - 1) if text[i:i + 2].isascii() and b"\0" not in text[i:i + 2]]
        self.assertTrue(ascii_, text)
        stop = text[ascii_[0]:ascii_[0] + 2]
        cut = subprocess.run([cli.COMMAND, *MODEL, "-p", "Stop", "-n", "40", "--temperature", "3", "--seed", "4",
                              "--stop", "never there", "--stop", stop.decode()],
                             cwd=self.folder, stdout=subprocess.PIPE, check=True).stdout
        self.assertEqual(cut, text[:text.index(stop)])

    def test_chat(self):
        """The model's template writes <|end|> behind each message."""
        chat = self.digest("--chat", "-p", "Hello", "--system", "world", "-n", "3")
        plain = self.digest("--special", "-p", "world<|end|>Hello<|end|>", "-n", "3")
        self.assertEqual(chat, plain)
        self.bad(*MODEL, "-p", "x", "--system", "y", says="--system is of --chat", status=2)
        self.bad(*MODEL, "-p", "x", "--chat", "--date", "yesterday", says="no day such as", status=2)

    def test_log_probabilities(self):
        """Of all tokens they are a distribution; lines are the same bytes everywhere."""
        options = [*MODEL, "-p", "Hello", "-n", "3", "--logprobs"]
        result = self.run_command(*options, "4", "--logprobs-file", "a.jsonl")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = [json.loads(line) for line in self.path("a.jsonl").read_text().splitlines()]
        self.assertLessEqual(len(lines), 3)
        for line in lines:
            self.assertEqual(line["top"][0]["id"], line["id"])  # temperature 0: the best one
            best = [token["logprob"] for token in line["top"]]
            self.assertEqual((best, len(best)), (sorted(best, reverse=True), 4))
            self.assertTrue(bytes.fromhex(line["hex"]).decode(errors="replace") == line["text"] or line["text"] is None)
        self.assertEqual(self.run_command(*options, "4", "--threads", "1").stderr,
                         "\n" + self.path("a.jsonl").read_text())
        every = json.loads(self.run_command(*options, "100").stderr.splitlines()[1])["top"]
        self.assertLess(sum(math.exp(token["logprob"]) for token in every), 1)
        self.assertNotIn("top", self.run_command(*options, "0").stderr)
        self.bad(*MODEL, "-p", "x", "--logprobs", "101", says="--logprobs", status=2)
        self.bad(*MODEL, "-p", "x", "--logprobs-file", "f", says="is of --logprobs", status=2)
        self.bad(*options, "1", "--logprobs-file", "absent/f", says="absent")

    def test_standard_input_and_numbers(self):
        result = subprocess.run([cli.COMMAND, *MODEL, "-n", "3", "-v"], cwd=self.folder, input=b"From a pipe",
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
        self.assertRegex(result.stderr.decode(), r"prompt: 11 tokens, .* generated: 3 tokens")

    def test_nobody_reads(self):
        """Nothing is computed for a reader that has left, or a full disk."""
        options = [*MODEL, "-p", "Hello", "-n", "200", "--logit-bias", "265:-inf", "-v"]
        reading, writing = os.pipe()
        os.close(reading)
        result = subprocess.run([cli.COMMAND, *options], cwd=self.folder, stdout=writing, stderr=subprocess.PIPE)
        os.close(writing)
        self.assertEqual(result.returncode, 141, result)
        self.assertRegex(result.stderr.decode(), r"generated: [1-9] tokens")
        with open("/dev/full", "wb") as full:
            result = subprocess.run([cli.COMMAND, *options], cwd=self.folder, stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 1, result)
        self.assertRegex(result.stderr.decode(), r"(?s)standard output: No space left.*generated: [1-9] tokens")

    def test_full_context(self):
        """The text ends where the context is full, as a shorter one would, and a note says so."""
        full = [*MODEL, "-p", "Hello", "--context", "8", "--logit-bias", "265:-inf", "--digest", "-v"]
        made = int(re.search(r"generated: (\d+) tokens", self.run_command(*full, "-n", "99").stderr)[1])
        exact = self.run_command(*full, "-n", str(made))
        self.assertEqual((exact.returncode, "note" in exact.stderr), (0, False), exact.stderr)
        digest = re.search("logits: .*", exact.stderr)[0]
        for most, says in {made + 1: f"--context 9 has room for all {made + 1}",
                           400: "--context 256 is the most the model has"}.items():
            result = self.run_command(*full, "-n", str(most))
            self.assertEqual((result.returncode, result.stdout), (0, exact.stdout))
            self.assertRegex(result.stderr, r"\A\nlockstep: note: the context of 8 tokens is full, so the text ends "
                                            f"here; {says}\n\n{digest}\n")
        result = self.run_command(*MODEL, "-p", "Hello", "-n", "999", "--logit-bias", "265:-inf")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"\A\nlockstep: note: the context of 256 .*; the model has no larger one\n\Z")
        self.bad(*MODEL, "-p", "Hello, you", "--context", "4",
                 says=["tokens, more than the context of 4 holds; --context ", " holds it"])

    def test_wrong_input(self):
        self.bad("generate", "-p", "x", says="a model is needed", status=2)
        self.bad(*MODEL, "text", says="'text' is not expected", status=2)
        self.bad(*MODEL, "-p", "x", "--top-p", "much", says="'much' is no number", status=2)
        self.bad(*MODEL, "-p", "x", "-n", "-1", says="--tokens", status=2)
        self.bad(*MODEL, "-p", "x", "--threads", "4096", says="--threads: 4096 is out of range: 0 to 256", status=2)
        self.bad(*MODEL, "-p", "", says="the text is empty")
        self.bad(*MODEL, "-p", "x" * 300,
                 says=["tokens, more than the context of 256 holds; shorten it: the model has a context of 256"])
        self.bad(*MODEL, "-p", "x", "--context", "1000", says="1000 positions")
        self.bad(*MODEL, "-p", "x", "--device", "none", says="none")
        self.bad("generate", "-m", "absent.gguf", "-p", "x", says="absent.gguf")
        self.bad("generate", "-m", "saxpy.kc", "-p", "x", says="no GGUF file")
        self.bad(*MODEL, "-p", "x", "--logprobs", "1", "--logprobs-file", "model.gguf", says="both read and written")
        model = self.path("model.gguf").read_bytes()
        for key in (b"llama.block_count", b"tokenizer.ggml.tokens", b"output_norm.weight"):
            self.path("less.gguf").write_bytes(model.replace(key, b"x" * len(key)))
            self.bad("generate", "-m", "less.gguf", "-p", "x", says=[key.decode(), "less.gguf"])
        self.path("less.gguf").write_bytes(model.replace(b"llama", b"lamas"))
        self.bad("generate", "-m", "less.gguf", "-p", "x", says=["the architecture is lamas", "less.gguf"])

    def test_parts_of_a_model_stay(self):
        """No part of a split model is written over."""
        for number in (1, 2, 3):
            self.write(f"a-0000{number}-of-00003.gguf", "a part")
        for part in ("a-00001-of-00003.gguf", "a-00003-of-00003.gguf"):
            self.bad("generate", "-m", "a-00001-of-00003.gguf", "-p", "x", "--logprobs", "1", "--logprobs-file", part,
                     says=f"'{part}' is both read and written")
            self.bad("perplexity", "-m", "a-00001-of-00003.gguf", "-f", "saxpy.kc", "--save-logits", part,
                     says=f"'{part}' is both read and written")


if __name__ == "__main__":
    cli.main()
