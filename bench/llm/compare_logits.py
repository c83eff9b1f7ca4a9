#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether llama.cpp has the same logits, for small models of every family whose weights and caches are f32: what tells
that the descriptions of the families are right. The table of docs/models.md.

usage: compare_logits.py OURS CACHE --llama FOLDER --include FOLDER ... [--tokens N] [--limit X]

OURS is llm_ours of the build folder; models are made in CACHE by tools/make_gguf.py; the rest is as in llm.py. Run it
with a python that has the package numpy (that of the build folder's python/bin).

Printed is the largest difference of a logit, in standard deviations of the logits of its token; the status is 1 when
one is above the limit. llama.cpp looks GELU up in a table of halves, so that models with it have 4 times the limit.
"""

import argparse
import subprocess
import sys

import servers

MODELS = [
    ["llama"],
    ["llama", "--heads", "8", "--kv-heads", "1", "--tied"],
    ["llama", "--biases"],
    ["llama", "--factors", "--kv-heads", "4", "--head", "48"],
    ["llama", "--linear", "4"],
    ["qwen2"],
    ["qwen2", "--tied", "--linear", "3"],
    ["qwen3"],
    ["qwen3", "--biases"],
    ["gemma"],
    ["gemma2"],
    ["gemma2", "--window", "7", "--head", "64"],
    ["gemma3"],
    ["gemma3", "--layers", "13", "--linear", "1"],
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    servers.add_options(parser)
    parser.add_argument("--tokens", type=int, default=100, help="up to 1024")
    parser.add_argument("--limit", type=float, default=1e-3)
    options = parser.parse_args()
    if not options.llama:
        sys.exit("compare_logits.py: --llama FOLDER is needed")
    program, wrong = servers.build_theirs(options), 0
    for words in MODELS:
        model = options.cache / "family.gguf"
        subprocess.run([sys.executable, servers.ROOT / "tools/make_gguf.py", words[0], model, "--types", "F32",
                        "--context", "1024", *words[1:]], check=True)
        ours = servers.Server(options.ours, model, 1, 1024, 64, options.cache, "f32")
        theirs = servers.Server(program, model, 1, 1024, 1024, 0, "f32")
        differences = []
        for at in range(options.tokens):
            mine, other = (server.feed(at, [at * at * 7 % ours.vocabulary]) for server in (ours, theirs))
            differences.append(abs(mine - other).max() / other.std())
        ours.end()
        theirs.end()
        good = max(differences) <= options.limit * (4 if "gemma" in words[0] else 1)
        wrong += not good
        print(f"{' '.join(words):<46} at most {max(differences):.1e}, mean of tokens "
              f"{sum(differences) / len(differences):.1e}{'' if good else '   TOO MUCH'}", flush=True)
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
