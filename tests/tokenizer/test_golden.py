#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small vocabularies of every kind: the ids of golden.json, which other software has made, and the way back.

  test_golden.py ENCODE_TEXTS
"""

import json
import pathlib
import sys

import peers
import run_texts


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    golden = json.loads((pathlib.Path(__file__).parent / "golden.json").read_text())
    names, compared = [], 0
    for model in golden["models"]:
        name = model["pre"] or f"sentencepiece, space prefix {model['space_prefix']}"
        peers.write_model("golden.gguf", model)
        ours = run_texts.encode(program, "golden.gguf", golden["texts"])
        for text, ids, expected in zip(golden["texts"], ours, model["ids"], strict=True):
            if ids != expected:
                sys.exit(f"FAIL: {name}: {text!a}\n  ours   {ids}\n  golden {expected}")
            compared += len(ids)
        names.append(name)
    if set(peers.PRE_TOKENISERS) - set(names) or len(names) != len(peers.PRE_TOKENISERS) + 2:
        sys.exit(f"FAIL: golden.json has {names}")
    print(f"{len(golden['texts'])} texts, {len(names)} vocabularies, {compared} ids; {golden['origin']}")


if __name__ == "__main__":
    main()
