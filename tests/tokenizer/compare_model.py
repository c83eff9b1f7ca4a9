#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the tokens of a real model file with those of other software. Run by hand:

  compare_model.py ENCODE_TEXTS MODEL.gguf             byte-level BPE: with the Python package tokenizers, made of
                                                       the vocabulary of the file; needs the package gguf, too
  compare_model.py ENCODE_TEXTS MODEL.gguf IN OUT      with a list of texts and ids as llama.cpp has them for the
                                                       vocabularies in its folder models/ (*.gguf.inp, *.gguf.out)

Texts with bytes that the vocabulary has no token for are left out: tokenizers drops them.
"""

import pathlib
import random
import sys

import peers
import run_texts
import texts

TEXTS, SEEDS = 4000, 5


def vocabulary_of(path):
    from gguf import GGUFReader
    fields = GGUFReader(path).fields
    tokens = fields["tokenizer.ggml.tokens"].contents()
    return {"model": fields["tokenizer.ggml.model"].contents(), "pre": fields["tokenizer.ggml.pre"].contents(),
            "tokens": tokens, "types": fields["tokenizer.ggml.token_type"].contents(),
            "merges": fields["tokenizer.ggml.merges"].contents()}


def compare(program, model, samples, expected):
    ours = run_texts.encode(program, model, samples)
    for text, ids, others in zip(samples, ours, expected, strict=True):
        if ids != others:
            sys.exit(f"FAIL: {text!a}\n  ours   {ids}\n  theirs {others}")
    print(f"{model}: {len(samples)} texts, {sum(map(len, ours))} ids: the same")


def from_lists(program, model, texts_path, ids_path):
    samples = pathlib.Path(texts_path).read_text(encoding="utf-8").split("\n__ggml_vocab_test__\n")
    lines = pathlib.Path(ids_path).read_text().split("\n")[:len(samples)]
    compare(program, model, samples, [[int(word) for word in line.split()] for line in lines])


def from_package(program, model):
    from tokenizers import pre_tokenizers
    vocabulary = vocabulary_of(model)
    if vocabulary["model"] != "gpt2":
        sys.exit("the vocabulary is not of the model gpt2")
    other = peers.bpe_of(vocabulary)
    have = set(vocabulary["tokens"])
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)

    def encodable(text):
        return all(character in have for word, _ in byte_level.pre_tokenize_str(text) for character in word)
    readme = [path.read_text(encoding="utf-8") for path in sorted((peers.ROOT / "docs").glob("*.md"))]
    for seed in range(1, SEEDS + 1):
        samples = [text for text in texts.texts(seed, TEXTS) + readme if encodable(text)]
        random.Random(seed).shuffle(samples)
        compare(program, model, samples,
                [item.ids for item in other.encode_batch(samples, add_special_tokens=False)])


def main():
    if len(sys.argv) not in (3, 5):
        sys.exit(__doc__)
    program = pathlib.Path(sys.argv[1]).resolve()
    if len(sys.argv) == 5:
        from_lists(program, *sys.argv[2:])
    else:
        from_package(program, sys.argv[2])


if __name__ == "__main__":
    main()
