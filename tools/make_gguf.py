#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes synthetic GGUF files from a seed, with nothing but Python.

  make_gguf.py blocks OUT.gguf [--seed N] [--rows N] [--split N]
      one tensor of each type that is read, of random blocks

The class Writer is for tests that need files of their own.
"""

import argparse
import random
import struct
import sys

# Name: (number in files, elements of a block, bytes of a block, places of f16 scales and minima in it)
TYPES = {
    "F32": (0, 1, 4, ()), "F16": (1, 1, 2, ()), "BF16": (30, 1, 2, ()),
    "Q4_0": (2, 32, 18, (0,)), "Q4_1": (3, 32, 20, (0, 2)), "Q5_0": (6, 32, 22, (0,)), "Q5_1": (7, 32, 24, (0, 2)),
    "Q8_0": (8, 32, 34, (0,)), "Q2_K": (10, 256, 84, (80, 82)), "Q3_K": (11, 256, 110, (108,)),
    "Q4_K": (12, 256, 144, (0, 2)), "Q5_K": (13, 256, 176, (0, 2)), "Q6_K": (14, 256, 210, (208,)),
    "IQ4_NL": (20, 32, 18, (0,)), "IQ4_XS": (23, 256, 136, (0,)),
}
KINDS = {"u8": (0, "<B"), "i8": (1, "<b"), "u16": (2, "<H"), "i16": (3, "<h"), "u32": (4, "<I"), "i32": (5, "<i"),
         "f32": (6, "<f"), "bool": (7, "<?"), "string": (8, None), "u64": (10, "<Q"), "i64": (11, "<q"),
         "f64": (12, "<d")}


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(data)) + data


class Writer:
    """Collects values and tensors; `bytes()` is the file. Nothing is checked, so that tests can write what is
    wrong."""

    def __init__(self, version=3, alignment=32):
        self.version, self.alignment = version, alignment
        self.values, self.tensors, self.data = [], [], b""
        if alignment != 32:
            self.value("general.alignment", "u32", alignment)

    def item(self, kind, value):
        form = KINDS[kind][1]
        return struct.pack(form, value) if form else text(value)

    def value(self, key, kind, value):
        self.values.append(text(key) + struct.pack("<I", KINDS[kind][0]) + self.item(kind, value))

    def list(self, key, kind, values):
        self.values.append(text(key) + struct.pack("<IIQ", 9, KINDS[kind][0], len(values)) +
                           b"".join(self.item(kind, value) for value in values))

    def tensor(self, name, type_number, dimensions, data, place=None):
        self.data += bytes(-len(self.data) % self.alignment)
        self.tensors.append(text(name) + struct.pack("<I", len(dimensions)) +
                            b"".join(struct.pack("<Q", extent) for extent in dimensions) +
                            struct.pack("<IQ", type_number, len(self.data) if place is None else place))
        self.data += data

    def bytes(self):
        head = b"GGUF" + struct.pack("<IQQ", self.version, len(self.tensors), len(self.values))
        head += b"".join(self.values) + b"".join(self.tensors)
        return head + bytes(-len(head) % self.alignment) + self.data


def random_block(rng, name):
    """Random bytes, with scales that are finite and no larger than 4."""
    _, _, size, places = TYPES[name]
    block = bytearray(rng.randbytes(size))
    for place in places:
        block[place:place + 2] = struct.pack("<e", rng.uniform(-4, 4))
    if name == "F16":
        block[:] = struct.pack("<e", rng.gauss(0, 1) * 2.0 ** rng.randint(-20, 8))
    if name == "BF16":
        block[:] = struct.pack("<f", rng.gauss(0, 1))[2:]
    if name == "F32":
        block[:] = struct.pack("<f", rng.gauss(0, 1))
    return bytes(block)


def write_blocks(out, seed, rows, split):
    rng = random.Random(seed)
    writers = [Writer() for _ in range(split)]
    for number, writer in enumerate(writers):
        if number == 0:
            writer.value("general.architecture", "string", "blocks")
            writer.value("general.name", "string", f"blocks of all types, seed {seed}")
        if split > 1:
            writer.value("split.no", "u16", number)
            writer.value("split.count", "u16", split)
            writer.value("split.tensors.count", "i32", len(TYPES))
    for index, name in enumerate(TYPES):
        number, elements, _, _ = TYPES[name]
        width = 256 * rng.randint(1, 3)
        blocks = b"".join(random_block(rng, name) for _ in range(rows * width // elements))
        writers[index * split // len(TYPES)].tensor(name.lower() + ".weight", number, [width, rows], blocks)
    for number, writer in enumerate(writers):
        path = out if split == 1 else out.replace(".gguf", f"-{number + 1:05}-of-{split:05}.gguf")
        with open(path, "wb") as file:
            file.write(writer.bytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    blocks = commands.add_parser("blocks", help="one tensor of each type, of random blocks")
    blocks.add_argument("out")
    blocks.add_argument("--seed", type=int, default=1)
    blocks.add_argument("--rows", type=int, default=4)
    blocks.add_argument("--split", type=int, default=1, help="parts")
    options = parser.parse_args()
    if not options.out.endswith(".gguf") or options.split < 1 or options.rows < 1:
        sys.exit("make_gguf.py: OUT must end in .gguf, and N be at least 1")
    write_blocks(options.out, options.seed, options.rows, options.split)


if __name__ == "__main__":
    main()
