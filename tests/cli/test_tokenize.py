#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lockstep tokenize: the forms of its output, where the text comes from, decoding, wrong input."""

import json
import subprocess

import cli

HELLO, WORLD, END = 259, 264, 265


class Tokenize(cli.Case):
    def tokenize(self, *arguments, text=None):
        """Standard output as bytes."""
        result = subprocess.run([cli.COMMAND, "tokenize", "-m", "model.gguf", *arguments], cwd=self.folder,
                                input=text or b"", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return result.stdout

    def test_forms(self):
        self.assertEqual(self.tokenize("Hello world\n<|end|>"),
                         b'     259  "Hello"\n     264  " world"\n      10  "\\x0a"\n     265  "<|end|>"  control\n')
        self.assertEqual(self.tokenize("--ids", "Hello world"), b"[259, 264]\n")
        self.assertEqual(self.tokenize("--ids", ""), b"[]\n")
        self.assertEqual(self.tokenize("--count", "Hello world"), b"2\n")
        data = json.loads(self.tokenize("--json", "Hello\u00e9<|end|>"))
        self.assertEqual(data, {"count": 4, "tokens": [
            {"id": HELLO, "text": "Hello", "hex": "48656c6c6f", "kind": "normal"},
            {"id": 0xc3, "text": None, "hex": "c3", "kind": "normal"},
            {"id": 0xa9, "text": None, "hex": "a9", "kind": "normal"},
            {"id": END, "text": "<|end|>", "hex": "3c7c656e647c3e", "kind": "control"}]})
        self.assertEqual(self.tokenize("--count", "--no-special", "<|end|>"), b"7\n")

    def test_sources_of_text(self):
        text = b"Hello\0\xff world"
        self.path("text").write_bytes(text)
        expected = b"[259, 0, 255, 264]\n"
        self.assertEqual(self.tokenize("--ids", text=text), expected)
        self.assertEqual(self.tokenize("--ids", "-f", "-", text=text), expected)
        self.assertEqual(self.tokenize("--ids", "--file", "text"), expected)
        self.assertEqual(self.tokenize("--ids"), b"[]\n")

    def test_there_and_back(self):
        text = bytes(range(256)) * 3 + "Größe 世界 \U0001f600\r\n".encode() + b"\xf0\x9f"
        ids = self.tokenize("--ids", text=text)
        self.assertEqual(self.tokenize("--decode", text=ids), text)
        self.assertEqual(self.tokenize("--decode", "259 264,\n[265]"), b"Hello world<|end|>")
        self.assertEqual(self.tokenize("--decode", "--no-special", "259 264,\n[265]"), b"Hello world")
        self.assertEqual(self.tokenize("--decode", ""), b"")

    def test_wrong_input(self):
        model = ["tokenize", "-m", "model.gguf"]
        self.bad("tokenize", "x", says="a model file is needed", status=2)
        self.bad(*model, "x", "y", says="'y' is not expected", status=2)
        self.bad(*model, "-f", "x", "y", says="given twice", status=2)
        self.bad(*model, "--ids", "--json", "y", says="only one of", status=2)
        self.bad(*model, "--decode", "--ids", "1", says="--decode prints text", status=2)
        self.bad(*model, "--decode", "1 x", says="byte 2 of the list")
        self.bad(*model, "--decode", "-f", "saxpy.kc", says="byte 0 of the list")
        self.bad(*model, "--decode", "1 266", says="id 266, item 1")
        self.bad(*model, "--decode", "99999999999999999999", says="larger than any")
        self.bad(*model, "-f", "absent", says="absent")
        self.bad("tokenize", "-m", "absent.gguf", "x", says="absent.gguf")
        self.bad("tokenize", "-m", "saxpy.kc", "x", says="no GGUF file")

    def test_models_without_a_known_tokenizer(self):
        data = self.path("model.gguf").read_bytes()
        self.path("pre.gguf").write_bytes(data.replace(b"gpt-2", b"gpt-9"))
        self.path("model9.gguf").write_bytes(data.replace(b"gpt2", b"gpt9"))
        self.bad("tokenize", "-m", "pre.gguf", "x", says="'gpt-9' is not known")
        self.bad("tokenize", "-m", "model9.gguf", "x", says="known are gpt2 and llama")
        self.bad("tokenize", "-m", "pre.gguf", "x", says="pre.gguf: tokenizer.ggml.pre")


if __name__ == "__main__":
    cli.main()
