#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes synthetic GGUF files from a seed, with nothing but Python.

  make_gguf.py blocks OUT.gguf [--seed N] [--rows N] [--split N]
      one tensor of each type that is read, of random blocks
  make_gguf.py llama|qwen2|qwen3|gemma|gemma2|gemma3 OUT.gguf [--seed N] [--types T,...] [--layers N] [--width N]
                              [--inner N] [--heads N] [--kv-heads N] [--head N] [--context N] [--window N]
                              [--rotated N] [--linear X] [--factors] [--biases] [--layer-scale] [--tied]
      a model of this architecture with random weights; its matrices take turns with the types T. The vocabulary is
      the 256 bytes, a few words and one token that ends a text. Windows are short and caps low, so that they act on
      few tokens.
  make_gguf.py words OUT.gguf
      a byte-level vocabulary of 256 bytes and a few words, and a small tensor: tests/cli/data/model.gguf

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
        self.values, self.tensors, self.data = [], [], bytearray()
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


MERGES = ["H e", "l l", "He ll", "Hell o", "\u0120 w", "o r", "\u0120w or", "l d", "\u0120wor ld"]


# Of each architecture: what a layer has beside the nine tensors of all, and the values of its files.
FAMILIES = {
    "llama": {},
    "qwen2": {"biases": True},
    "qwen3": {"head norms": True, "head": 24},
    "gemma": {"tied": True, "head": 32},
    "gemma2": {"post norms": True, "tied": True, "head": 32, "layers": 3, "window": 20,
               "values": {"attn_logit_softcapping": 1.5, "final_logit_softcapping": 2.5}},
    "gemma3": {"post norms": True, "head norms": True, "tied": True, "head": 32, "layers": 7, "window": 20,
               "linear": 8.0, "values": {"rope.freq_base": 1000000.0}},
}


def write_vocabulary(writer, count=0):
    tokens = byte_tokens() + [merge.replace(" ", "") for merge in MERGES] + ["<|end|>"]
    tokens[-1:-1] = [f"<{number}>" for number in range(len(tokens), count)]
    writer.value("tokenizer.ggml.model", "string", "gpt2")
    writer.value("tokenizer.ggml.pre", "string", "gpt-2")
    writer.list("tokenizer.ggml.tokens", "string", tokens)
    writer.list("tokenizer.ggml.token_type", "i32", [1] * (len(tokens) - 1) + [3])
    writer.list("tokenizer.ggml.merges", "string", MERGES)
    writer.value("tokenizer.ggml.eos_token_id", "u32", len(tokens) - 1)
    return len(tokens)


def write_model(out, name, options):
    family = FAMILIES[name]
    for option in ("head", "layers", "window", "linear", "tied", "biases"):
        if not getattr(options, option):
            setattr(options, option, family.get(option))
    rng = random.Random(options.seed)
    writer = Writer()
    width, head = options.width, options.head or options.width // options.heads
    values = {"block_count": options.layers or 2, "context_length": options.context, "embedding_length": width,
              "feed_forward_length": options.inner, "attention.head_count": options.heads,
              "attention.head_count_kv": options.kv_heads, "rope.dimension_count": options.rotated or head}
    if options.head:
        values.update({"attention.key_length": head, "attention.value_length": head})
    if options.window:
        values["attention.sliding_window"] = options.window
    writer.value("general.architecture", "string", name)
    for key, value in values.items():
        writer.value(f"{name}.{key}", "u32", value)
    reals = {"rope.freq_base": 10000, "attention.layer_norm_rms_epsilon": 1e-5, **family.get("values", {})}
    for key, value in reals.items():
        writer.value(f"{name}.{key}", "f32", value)
    if options.scale:
        writer.value(name + ".attention.scale", "f32", options.scale)
    pattern = [int(word) for word in options.window_pattern.split(",") if word]
    if len(pattern) == 1:
        writer.value(name + ".attention.sliding_window_pattern", "u32", pattern[0])
    elif pattern:
        writer.list(name + ".attention.sliding_window_pattern", "bool", pattern)
    if options.linear:
        writer.value(name + ".rope.scaling.type", "string", "linear")
        writer.value(name + ".rope.scaling.factor", "f32", options.linear)
    vocabulary = write_vocabulary(writer, options.vocabulary)
    writer.value("tokenizer.chat_template", "string",
                 "{% for message in messages %}{{ message.content }}{{ eos_token }}{% endfor %}")
    types = options.types.split(",")

    def vector(tensor, elements, low=0.5, high=1.5):
        writer.tensor(tensor, 0, [elements], b"".join(struct.pack("<f", rng.uniform(low, high))
                                                      for _ in range(elements)))

    def matrix(tensor, columns, rows, biased=False):
        types.append(types.pop(0))
        distinct = [weights(rng, types[-1], columns) for _ in range(min(rows, options.distinct or rows))]
        data = b"".join(distinct[row % len(distinct)] for row in range(rows))
        writer.tensor(tensor + ".weight", TYPES[types[-1]][0], [columns, rows], data)
        if biased:
            vector(tensor + ".bias", rows, -1, 1)

    # llama.cpp reads the biases of these of all families that have some.
    more = options.biases and name == "llama"
    matrix("token_embd", width, vocabulary)
    if options.factors:
        vector("rope_freqs.weight", (options.rotated or head) // 2, 1, 8)
    for layer in range(options.layers or 2):
        block = f"blk.{layer}."
        vector(block + "attn_norm.weight", width)
        matrix(block + "attn_q", width, head * options.heads, options.biases)
        matrix(block + "attn_k", width, head * options.kv_heads, options.biases)
        matrix(block + "attn_v", width, head * options.kv_heads, options.biases)
        if family.get("head norms"):
            vector(block + "attn_q_norm.weight", head)
            vector(block + "attn_k_norm.weight", head)
        matrix(block + "attn_output", head * options.heads, width, more)
        if family.get("post norms"):
            vector(block + "post_attention_norm.weight", width)
        vector(block + "ffn_norm.weight", width)
        matrix(block + "ffn_gate", width, options.inner, more)
        matrix(block + "ffn_up", width, options.inner, more)
        matrix(block + "ffn_down", options.inner, width, more)
        if family.get("post norms"):
            vector(block + "post_ffw_norm.weight", width)
        if options.layer_scale:
            vector(block + "layer_output_scale.weight", 1)
    vector("output_norm.weight", width)
    if not options.tied:
        matrix("output", width, vocabulary)
    with open(out, "wb") as file:
        file.write(writer.bytes())


def write_words(out):
    writer = Writer()
    writer.value("general.architecture", "string", "llama")
    writer.value("general.name", "string", "a model without a purpose")
    write_vocabulary(writer)
    writer.tensor("token_embd.weight", 1, [4, 2], bytes(16))
    with open(out, "wb") as file:
        file.write(writer.bytes())


def byte_tokens():
    """The names that byte-level vocabularies have for the 256 bytes: printable ones themselves, others from U+0100."""
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in kept]
    return [chr(byte) if byte in kept else chr(256 + others.index(byte)) for byte in range(256)]


# Of elements in blocks of random bytes, with a scale of 1 and this minimum.
DEVIATIONS = {"Q4_0": (4.6, 0), "Q4_1": (4.6, -7.5), "Q5_0": (9.2, 0), "Q5_1": (9.2, -15.5), "Q8_0": (74, 0),
              "Q2_K": (14, 1.5), "Q3_K": (43, 0), "Q4_K": (260, 7.5), "Q5_K": (520, 15.5), "Q6_K": (1370, 0),
              "IQ4_NL": (73, 0), "IQ4_XS": (1350, 0)}


def weights(rng, name, columns):
    """A row whose elements have a standard deviation of about 1 / sqrt(columns)."""
    size = columns ** -0.5
    if name in ("F32", "F16"):
        form = "<f" if name == "F32" else "<e"
        return b"".join(struct.pack(form, rng.gauss(0, size)) for _ in range(columns))
    if name == "BF16":
        return b"".join(struct.pack("<f", rng.gauss(0, size))[2:] for _ in range(columns))
    _, elements, bytes_, places = TYPES[name]
    deviation, minimum = DEVIATIONS[name]
    row = b""
    for _ in range(columns // elements):
        block = bytearray(rng.randbytes(bytes_))
        step = size / deviation
        for place, scale in zip(places, (step, minimum * step)):
            block[place:place + 2] = struct.pack("<e", scale)
        row += bytes(block)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    blocks = commands.add_parser("blocks", help="one tensor of each type, of random blocks")
    blocks.add_argument("out")
    blocks.add_argument("--seed", type=int, default=1)
    blocks.add_argument("--rows", type=int, default=4)
    blocks.add_argument("--split", type=int, default=1, help="parts")
    for name in FAMILIES:
        model = commands.add_parser(name, help="a model with random weights")
        model.add_argument("out")
        model.add_argument("--types", default="Q4_1,Q8_0,Q4_0,F16,F32", help="from " + " ".join(TYPES))
        for option, default in {"seed": 1, "layers": 0, "width": 64, "inner": 96, "heads": 4, "kv-heads": 2,
                                "head": 0, "context": 256, "window": 0, "rotated": 0, "vocabulary": 0}.items():
            model.add_argument("--" + option, type=int, default=default)
        model.add_argument("--distinct", type=int, default=0,
                           help="rows of a matrix that differ; the others repeat them (large models are made faster)")
        model.add_argument("--linear", type=float, default=0, help="what positions are divided by")
        model.add_argument("--scale", type=float, default=0, help="of scores of attention")
        model.add_argument("--window-pattern", default="", help="n: all but each n-th layer have a window; or 0 or 1 "
                                                                "for each, with commas")
        for option in ("factors", "biases", "layer-scale", "tied"):
            model.add_argument("--" + option, action="store_true")
    words = commands.add_parser("words", help="a small byte-level vocabulary")
    words.add_argument("out")
    options = parser.parse_args()
    if not options.out.endswith(".gguf"):
        sys.exit("make_gguf.py: OUT must end in .gguf")
    if options.command in FAMILIES:
        write_model(options.out, options.command, options)
    elif options.command == "words":
        write_words(options.out)
    elif options.split < 1 or options.rows < 1:
        sys.exit("make_gguf.py: N must be at least 1")
    else:
        write_blocks(options.out, options.seed, options.rows, options.split)


if __name__ == "__main__":
    main()
