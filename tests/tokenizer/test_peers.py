#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Vocabularies that are trained here, and thousands of random texts: the ids of the Python packages tokenizers and
sentencepiece. Then the same with invalid UTF-8 in the texts, which those cannot read: the text must come back.

  test_peers.py ENCODE_TEXTS [SEED]
"""

import importlib.util
import pathlib
import random
import sys

import peers
import run_texts
import texts

TEXTS = 1500


def compare(program, name, vocabulary, encode, samples, *options):
    peers.write_model("peers.gguf", vocabulary)
    ours = run_texts.encode(program, "peers.gguf", samples, *options)
    for text, ids in zip(samples, ours, strict=True):
        expected = encode(text)
        if ids != expected:
            tokens = vocabulary["tokens"]
            sys.exit(f"FAIL: {name}: {text!a}\n  ours   {[tokens[i] for i in ids]}\n"
                     f"  theirs {[tokens[i] for i in expected]}")
    return sum(map(len, ours))


def with_names(rng, text):
    """The text with names of control tokens in it, some cut short."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text) + 1)
        name = rng.choice(peers.SPECIALS)
        text = text[:at] + name[:rng.choice([len(name), len(name), rng.randrange(len(name))])] + text[at:]
    return text


def damaged(rng, text):
    """The text with bytes changed, taken out and put in."""
    raw = bytearray(text.encode())
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(raw) + 1)
        raw[at:at + rng.randint(0, 2)] = rng.randbytes(rng.randint(0, 3))
    return bytes(raw)


def main():
    missing = [name for name in ("tokenizers", "sentencepiece") if not importlib.util.find_spec(name)]
    if missing:
        print(f"SKIP: the Python package {missing[0]} is not installed: tools/python-packages.sh")
        sys.exit(77)
    program = pathlib.Path(sys.argv[1]).resolve()
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    rng = random.Random(seed)
    samples = texts.texts(seed, TEXTS)
    broken = [damaged(rng, text) for text in samples]
    lines = peers.training_lines(texts.PARTS * 3)
    models = [(name, *peers.make_bpe(name, lines, 1500)) for name in peers.PRE_TOKENISERS]
    for name, vocabulary, _ in models:
        other = peers.bpe_of(vocabulary, special=True)
        named = [with_names(rng, text) for text in samples[:TEXTS // 3]]
        count = compare(program, name, vocabulary,
                        lambda text, other=other: other.encode(text, add_special_tokens=False).ids, named, "special")
        print(f"{name}: {len(named)} texts with control tokens, {count} ids: the same")
    # SentencePiece cannot tell U+2581 from a space.
    samples = [text for text in samples if "\u2581" not in text]
    broken = [text for text in broken if "\u2581".encode() not in text]
    for space_prefix in (True, False):
        models.append((f"sentencepiece, space prefix {space_prefix}",
                       *peers.make_sentencepiece(lines, 1500, space_prefix)))
    for name, vocabulary, encode in models:
        count = compare(program, name, vocabulary, encode, samples)
        run_texts.encode(program, "peers.gguf", broken)
        print(f"{name}: {len(samples)} texts of seed {seed}, {count} ids: the same; {len(broken)} texts that are "
              "not UTF-8 come back")


if __name__ == "__main__":
    main()
