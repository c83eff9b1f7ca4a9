#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lockstep perplexity and bench-llm: their numbers against what generate says, files of logits, wrong input."""

import json
import math
import os
import pathlib
import re
import struct
import subprocess
import time

import cli

MEASURE = ["perplexity", "-m", "model.gguf"]
BENCH = ["bench-llm", "-m", "model.gguf"]
WINDOW = 16


class Perplexity(cli.Case):
    def numbers(self, *options):
        text = self.good(*MEASURE, *options)
        found = re.search(r"perplexity: +(\S+) \+- (\S+) \(cross-entropy (\S+)\)", text)
        return text, [float(number) for number in found.groups()]

    def test_numbers(self):
        """Computed anew from the logits saved."""
        text, (perplexity, spread, entropy) = self.numbers("-f", "saxpy.kc", "--context", WINDOW, "--windows", "3",
                                                           "--save-logits", "out.logits")
        data = self.path("out.logits").read_bytes()
        magic, version, vocabulary, window, windows = struct.unpack_from("<8s4I", data)
        self.assertEqual((magic, version, window, windows), (b"LSLOGITS", 1, WINDOW, 3))
        tokens = struct.unpack_from(f"<{window * windows}I", data, 56)
        counted = window - window // 2 - 1
        self.assertEqual(len(data), 56 + 4 * window * windows + 4 * windows * counted * vocabulary)
        losses = []
        for row in range(windows * counted):
            logits = struct.unpack_from(f"<{vocabulary}f", data, 56 + 4 * window * windows + 4 * vocabulary * row)
            place = row // counted * window + window // 2 + 1 + row % counted
            losses.append(math.log(math.fsum(map(math.exp, logits))) - logits[tokens[place]])
        mean = sum(losses) / len(losses)
        deviation = math.sqrt(sum((loss - mean) ** 2 for loss in losses) / (len(losses) - 1) / len(losses))
        self.assertAlmostEqual(entropy, mean, delta=2e-5)
        self.assertAlmostEqual(perplexity, math.exp(mean), delta=1e-3)
        self.assertAlmostEqual(spread, math.exp(mean) * deviation, delta=1e-3)
        self.assertIn(f"3 of {WINDOW} tokens, {len(losses)} tokens counted", text)

    def test_the_same_on_every_device(self):
        options = ["-f", "saxpy.kc", "--context", "8", "--windows", "2"]
        expected = self.good(*MEASURE, *options)
        self.assertEqual(self.good(*MEASURE, *options, "--threads", "1", "--chunk", "3"), expected)
        self.assertEqual(self.good(*MEASURE, *options, "--device", "reference"), expected)

    def test_divergence(self):
        self.good(*MEASURE, "-f", "saxpy.kc", "--context", WINDOW, "--save-logits", "out.logits")
        text, _ = self.numbers("--kl", "out.logits", "--threads", "1")
        self.assertRegex(text, r"KL divergence:   0\.000000 \+- 0\.000000\n  maximum +0\.000000\n")
        self.assertIn("same best token: 100.000 %", text)
        # Of logits that are all the same, the divergence is log V - entropy.
        data = self.path("out.logits").read_bytes()
        vocabulary, window, windows = struct.unpack_from("<12x3I", data)
        begin = 56 + 4 * window * windows
        self.path("flat.logits").write_bytes(data[:begin] + bytes(len(data) - begin))
        text, (perplexity, _, _) = self.numbers("--kl", "flat.logits", "--windows", "1")
        self.assertRegex(text, rf"saved: +{vocabulary}\.0\d* \+- 0\.00")
        self.assertGreater(float(re.search(r"KL divergence: +(\S+)", text)[1]), 0.01)
        percentiles = [float(number) for number in re.findall(r"^  .*? +(\d\.\d+)$", text, re.M)]
        self.assertEqual((len(percentiles), percentiles), (6, sorted(percentiles, reverse=True)))

    def test_wrong_input(self):
        self.bad("perplexity", "-f", "x", says="a model is needed", status=2)
        self.bad(*MEASURE, says="a text is needed", status=2)
        self.bad(*MEASURE, "-f", "saxpy.kc", "--kl", "x", says="leave --file out", status=2)
        self.bad(*MEASURE, "--kl", "x", "--save-logits", "y", says="without --kl", status=2)
        self.bad(*MEASURE, "-f", "saxpy.kc", "--context", "3", says="4 tokens at least", status=2)
        self.bad(*MEASURE, "-f", "saxpy.kc", "--windows", "0", says="at least one", status=2)
        self.bad(*MEASURE, "-f", "saxpy.kc", says="too short: it has")
        self.bad(*MEASURE, "-f", "absent.txt", says="absent.txt")
        self.bad(*MEASURE, "-f", "saxpy.kc", "--context", "1000", says=["too short", "1000"])
        self.bad(*MEASURE, "-f", "saxpy.kc", "--save-logits", "model.gguf", says="both read and written")
        self.bad(*MEASURE, "-f", "saxpy.kc", "--context", "8", "--save-logits", "absent/out", says="absent")
        self.write("empty.txt", "")
        self.bad(*MEASURE, "-f", "empty.txt", says="the text is empty")

    def test_wrong_logits(self):
        self.good(*MEASURE, "-f", "saxpy.kc", "--context", WINDOW, "--save-logits", "out.logits")
        good = self.path("out.logits").read_bytes()

        def number(at, value):
            return good[:at] + struct.pack("<I", value) + good[at + 4:]

        for data, says in {good[:40]: "no file of logits", b"X" + good[1:]: "no file of logits",
                           number(8, 2): "version 1", number(12, 9): "with 9 tokens",
                           number(16, 2): "no windows", number(16, WINDOW + 1): "cut, or longer",
                           number(20, 0): "no windows", number(20, 1): "cut, or longer", good[:-4]: "cut, or longer",
                           number(24, 0): "another vocabulary", number(60, 99999): "beyond the vocabulary"}.items():
            self.path("bad.logits").write_bytes(data)
            self.bad(*MEASURE, "--kl", "bad.logits", says=[says, "bad.logits"])
        self.bad(*MEASURE, "--kl", "absent.logits", says="absent.logits")

    def test_a_file_becomes_shorter(self):
        """While it is mapped, with far more windows than are computed till then."""
        self.good(*MEASURE, "-f", "saxpy.kc", "--context", WINDOW, "--windows", "1", "--save-logits", "out.logits")
        head = bytearray(self.path("out.logits").read_bytes()[:56])
        vocabulary, windows = struct.unpack_from("<12xI", head)[0], 1 << 16
        struct.pack_into("<I", head, 20, windows)
        long = self.path("long.logits")
        long.write_bytes(head)
        os.truncate(long, 56 + 4 * windows * (WINDOW + (WINDOW // 2 - 1) * vocabulary))
        process = subprocess.Popen([cli.COMMAND, *MEASURE, "--kl", "long.logits"], cwd=self.folder, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while "long.logits" not in pathlib.Path(f"/proc/{process.pid}/maps").read_text():
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        os.truncate(long, 56)
        out, said = process.communicate(timeout=300)
        self.assertEqual((process.returncode, out), (1, ""), said)
        self.assertRegex(said, "a file has become shorter")


class Bench(cli.Case):
    def test_table(self):
        lines = self.good(*BENCH, "-p", "8", "-n", "3", "--repeat", "2", "--depth", "0,16", "--threads", "1,2").splitlines()
        self.assertRegex(lines[0], r"^model\.gguf on \w+; tokens a second:$")
        rows = [line.split() for line in lines[2:]]
        self.assertEqual([row[:4] for row in rows],
                         [[test, tokens, depth, threads] for threads in "12" for depth in ("0", "16")
                          for test, tokens in (("prompt", "8"), ("generate", "3"))])
        for row in rows:
            median, slowest, fastest = map(float, row[4:])
            self.assertTrue(0 < slowest <= median <= fastest, row)

    def test_json(self):
        text = self.good(*BENCH, "-p", "8", "-n", "0", "--repeat", "3", "--depth", "5", "--json")
        report = json.loads(text)
        result, = report["results"]
        seconds = sorted(result["seconds"])
        self.assertEqual((result["test"], result["tokens"], result["depth"], len(seconds)), ("prompt", 8, 5, 3))
        self.assertEqual(result["cache_bytes"], 2 * 64 * 8 * 2 * 2)  # layers, positions, keys and values in f16
        for name, time in (("max", seconds[0]), ("median", seconds[1]), ("min", seconds[2])):
            self.assertAlmostEqual(result["tokens_per_second"][name] * time / 8, 1, delta=1e-3)
        try:
            import jsonschema
        except ImportError:
            self.skipTest("there is no jsonschema")
        jsonschema.validate(report, json.loads((cli.ROOT / "docs/bench-llm.schema.json").read_text()))

    def test_wrong_input(self):
        self.bad("bench-llm", says="a model is needed", status=2)
        self.bad(*BENCH, "text", says="'text' is not expected", status=2)
        self.bad(*BENCH, "-p", "0", "-n", "0", says="nothing is left", status=2)
        self.bad(*BENCH, "--repeat", "0", says="at least once", status=2)
        self.bad(*BENCH, "--depth", "1,,2", says="--depth", status=2)
        self.bad(*BENCH, "--threads", "1,x", says="--threads", status=2)
        self.bad(*BENCH, "--depth", ",".join(17 * "1"), says="16 numbers at most", status=2)
        self.bad("bench-llm", "-m", "absent.gguf", says="absent.gguf")
        result = self.run_command(*BENCH, "-p", "8", "-n", "0", "--depth", "250")
        self.assertEqual(result.returncode, 1)
        self.assertIn("depth 250 and 8 tokens are more than the 256 positions", result.stderr)


if __name__ == "__main__":
    cli.main()
