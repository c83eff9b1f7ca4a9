# SPDX-License-Identifier: Apache-2.0
"""Runs encode_texts: the ids of many texts."""

import struct
import subprocess


def encode(program, model, texts, *options):
    raw = [text if isinstance(text, bytes) else text.encode("utf-8") for text in texts]
    data = b"".join(struct.pack("<I", len(text)) + text for text in raw)
    result = subprocess.run([program, model, *options], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode:
        raise SystemExit(f"FAIL: {model}: {result.stderr.decode(errors='replace')}")
    words = struct.unpack(f"<{len(result.stdout) // 4}I", result.stdout)
    all_ids, at = [], 0
    for _ in raw:
        count = words[at]
        all_ids.append(list(words[at + 1:at + 1 + count]))
        at += 1 + count
    assert at == len(words)
    return all_ids
