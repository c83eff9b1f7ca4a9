#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes golden.json: small vocabularies, texts, and the ids that other software gives for them.

  make_golden.py OUT.json     needs the Python packages tokenizers and sentencepiece
"""

import importlib.metadata
import json
import sys

import peers
import texts


def main():
    lines = peers.training_lines(texts.PARTS * 3)
    models = [peers.make_bpe(name, lines, 480) for name in peers.PRE_TOKENISERS]
    models += [peers.make_sentencepiece(lines, 800, space_prefix) for space_prefix in (True, False)]
    versions = {name: importlib.metadata.version(name) for name in ("tokenizers", "sentencepiece")}
    origin = "ids by tokenizers {tokenizers} and sentencepiece {sentencepiece} (PyPI); make_golden.py".format(**versions)
    with open(sys.argv[1], "w", encoding="ascii") as out:
        out.write('{"origin": ' + json.dumps(origin) + ',\n"texts": ' + json.dumps(texts.PARTS, indent=0) +
                  ',\n"models": [\n')
        for number, (vocabulary, encode) in enumerate(models):
            fields = [f'"{key}": {json.dumps(value)}' for key, value in vocabulary.items()]
            fields.append('"ids": [' + ",\n".join(json.dumps(encode(text)) for text in texts.PARTS) + "]")
            out.write(("" if number == 0 else ",\n") + "{" + ",\n".join(fields) + "}")
        out.write("]}\n")


if __name__ == "__main__":
    main()
