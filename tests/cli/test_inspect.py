#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lockstep inspect: text and JSON of a model file, split files, wrong input."""

import json
import sys

import cli


class Inspect(cli.Case):
    def model(self):
        sys.path.insert(0, str(cli.ROOT / "tools"))
        import make_gguf
        writer = make_gguf.Writer()
        writer.value("general.architecture", "string", "test")
        writer.value("evil", "string", b"\x1b[2J\xff")
        writer.value("real", "f32", 0.5)
        writer.value("large", "u64", 2 ** 64 - 1)
        writer.value("nothing", "f64", float("nan"))
        writer.value("yes", "bool", True)
        writer.list("numbers", "i8", range(-5, 5))
        writer.list("texts", "string", ["a", "b" * 150])
        writer.list("none", "u8", [])
        writer.tensor("weight", 2, [64, 2], bytes(18 * 4))
        writer.tensor("bias", 0, [3], bytes(12))
        return writer

    def test_text(self):
        self.path("m.gguf").write_bytes(self.model().bytes())
        text = self.good("inspect", "m.gguf")
        for part in ["GGUF version 3", "metadata: 9 values", '  general.architecture = "test"\n',
                     '  evil = "\\x1b[2J\\xff"\n', "  real = 0.5\n", "  large = 18446744073709551615\n",
                     "  yes = true\n", "  numbers = 10 x i8 [-5, -4, -3, -2, -1, 0, ...]\n", "  none = 0 x u8 []\n",
                     "(150 bytes)]\n", "tensors: 2, 84 bytes", "64 x 2"]:
            self.assertIn(part, text)
        self.assertIn("3, 4]\n", self.good("inspect", "--full", "m.gguf"))

    def test_json(self):
        self.path("m.gguf").write_bytes(self.model().bytes())
        data = json.loads(self.good("inspect", "--json", "m.gguf"))
        values = {key: item["value"] for key, item in data["metadata"].items()}
        self.assertEqual(values, {
            "general.architecture": "test", "evil": None, "real": 0.5, "large": str(2 ** 64 - 1), "nothing": "nan",
            "yes": True, "numbers": list(range(-5, 5)), "texts": ["a", "b" * 150], "none": []})
        self.assertEqual([(t["name"], t["type"], t["dimensions"], t["bytes"]) for t in data["tensors"]],
                         [("weight", "Q4_0", [64, 2], 72), ("bias", "F32", [3], 12)])

    def test_wrong_input(self):
        self.path("m.gguf").write_bytes(self.model().bytes()[:-1])
        self.path("empty.gguf").touch()
        self.bad("inspect", says="a model file is needed", status=2)
        self.bad("inspect", "m.gguf", "n.gguf", says="'n.gguf' is not expected", status=2)
        self.bad("inspect", "m.gguf", says="beyond the end of the file")
        self.bad("inspect", "empty.gguf", says="the file is empty")
        self.bad("inspect", "absent.gguf", says="No such file")
        self.bad("inspect", ".", says="Is a directory")
        self.bad("inspect", "/dev/zero", says="no regular file")
        self.bad("inspect", "saxpy.kc", says="no GGUF file")

    def test_parts_of_a_split_model(self):
        sys.path.insert(0, str(cli.ROOT / "tools"))
        import make_gguf
        make_gguf.write_blocks(str(self.path("s.gguf")), 1, 2, 3)
        self.assertIn("in 3 files", self.good("inspect", "s-00001-of-00003.gguf"))
        self.bad("inspect", "s-00002-of-00003.gguf", says="name the first part")
        self.path("s-00003-of-00003.gguf").rename(self.path("x.gguf"))
        self.bad("inspect", "s-00001-of-00003.gguf", says="s-00003-of-00003.gguf")
        self.path("s-00003-of-00003.gguf").write_bytes(self.path("s-00002-of-00003.gguf").read_bytes())
        self.bad("inspect", "s-00001-of-00003.gguf", says="part 2 of 3, not 3 of 3")
        self.path("s-00001-of-00003.gguf").rename(self.path("first.gguf"))
        self.bad("inspect", "first.gguf", says="must be named")


if __name__ == "__main__":
    cli.main()
