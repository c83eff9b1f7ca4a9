#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What language models say, against llama.cpp on the same files: the tables of docs/llm-accuracy.md.

usage: texts.py OURS CACHE MODEL.gguf ... --llama FOLDER --include FOLDER ... [--part tokens,greedy,divergence]
                [--threads N] [--tokens N]

OURS is llm_ours of the build folder; the rest is as in llm.py. Run it with a python that has the package gguf (that
of the build folder's python/bin).

  tokens       the tokens of every document of this repository
  greedy       ten prompts, 64 tokens each, always the most probable one: where the two part, how far apart the two
               candidates are in either engine
  divergence   the mean Kullback-Leibler divergence of both from llama.cpp in F32 (F32 keys and values) on the
               dequantised weights, over the tokens of a text
"""

import argparse
import math
import pathlib
import sys

import gguf
import numpy

from servers import ROOT, Server, add_options, build_theirs

PROMPTS = [
    "The capital of France is", "Once upon a time, in a small village by the sea,", "Water boils at",
    "The three primary colours are", "def fibonacci(n):", "Dear Sir or Madam, I am writing to",
    "In 1969, the first human", "The main ingredients of bread are", "A good way to learn a language is",
    "The largest planet of the solar system",
]
GREEDY, CONTEXT = 64, 1024


def compare_tokens(ours, theirs):
    texts = [path.read_text() for path in sorted(ROOT.glob("**/*.md")) if "build" not in path.parts[len(ROOT.parts)]]
    texts += [path.read_text(errors="strict") for path in sorted((ROOT / "tests" / "tokenizer").glob("**/*.txt"))]
    count = different = 0
    for text in texts:
        text = text.replace("\r", "").replace("\0", "")
        mine, other = ours.tokens(text), theirs.tokens(text)
        count += len(other)
        different += mine != other
    print(f"  tokens: {len(texts)} texts, {count} tokens, {different} texts differ")


def greedy(server, tokens):
    """The text's tokens, and for each the logits it was chosen from."""
    rows, chosen = [server.feed(0, tokens)], []
    for step in range(GREEDY):
        chosen.append(int(rows[-1].argmax()))
        if step + 1 < GREEDY:
            rows.append(server.feed(len(tokens) + step, chosen[-1:]))
    return chosen, rows


def compare_greedy(ours, theirs):
    parted = 0
    for prompt in PROMPTS:
        tokens = theirs.tokens(prompt)
        (mine, my_rows), (other, other_rows) = greedy(ours, tokens), greedy(theirs, tokens)
        at = next((i for i in range(GREEDY) if mine[i] != other[i]), None)
        if at is None:
            print(f"  greedy: equal for {GREEDY} tokens: {prompt}")
            continue
        parted += 1
        gaps = [abs(row[mine[at]] - row[other[at]]) for row in (my_rows[at], other_rows[at])]
        print(f"  greedy: part at token {at}: {prompt}: the two candidates are {gaps[0]:.4f} apart in ours, "
              f"{gaps[1]:.4f} in theirs")
    print(f"  greedy: {parted} of {len(PROMPTS)} part")


def dequantized(model, cache):
    """The same model with all weights as F32."""
    path = cache / (model.stem + ".f32.gguf")
    if path.exists():
        return path
    reader = gguf.GGUFReader(model)
    value = reader.get_field("general.architecture").contents()
    writer = gguf.GGUFWriter(path.with_suffix(".part"), value)
    for name, field in reader.fields.items():
        if name.startswith("GGUF.") or name in ("general.architecture", "general.file_type"):
            continue
        writer.add_key_value(name, field.contents(), field.types[0],
                             field.types[-1] if field.types[0] == gguf.GGUFValueType.ARRAY else None)
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, gguf.dequantize(tensor.data, tensor.tensor_type).astype("f4"))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    path.with_suffix(".part").rename(path)
    return path


def log_softmax(row):
    row = row - row.max()
    return row - math.log(numpy.exp(row).sum())


def compare_divergence(ours, theirs, exact, count):
    tokens = theirs.tokens((ROOT / "README.md").read_text())[:count]
    sums = {"ours": [], "theirs": []}
    agree = {"ours": 0, "theirs": 0}
    for at, token in enumerate(tokens):
        base = log_softmax(exact.feed(at, [token]))
        for name, server in (("ours", ours), ("theirs", theirs)):
            row = log_softmax(server.feed(at, [token]))
            sums[name].append(float((numpy.exp(base) * (base - row)).sum()))
            agree[name] += int(row.argmax() == base.argmax())
    for name, values in sums.items():
        print(f"  divergence, {name}: mean {numpy.mean(values):.3e}, largest {max(values):.3e}, "
              f"same best token {100 * agree[name] / len(tokens):.1f} %, {len(tokens)} tokens")
    print(f"  divergence: ratio of means {numpy.mean(sums['ours']) / numpy.mean(sums['theirs']):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--part", default="tokens,greedy,divergence")
    parser.add_argument("--threads", default="2")
    parser.add_argument("--tokens", type=int, default=512)
    options = parser.parse_args()
    if not options.llama:
        sys.exit("texts.py: --llama FOLDER is needed")
    program, parts = build_theirs(options), options.part.split(",")
    for model in options.models:
        print(model.name)
        ours = Server(options.ours, model, options.threads, CONTEXT, 64, options.cache)
        theirs = Server(program, model, options.threads, CONTEXT, CONTEXT, 1, "f16")
        if "tokens" in parts:
            compare_tokens(ours, theirs)
        if "greedy" in parts:
            compare_greedy(ours, theirs)
        if "divergence" in parts:
            exact = Server(program, dequantized(model, options.cache), options.threads, CONTEXT, CONTEXT, 0, "f32")
            compare_divergence(ours, theirs, exact, options.tokens)
            exact.end()
        ours.end()
        theirs.end()


if __name__ == "__main__":
    main()
