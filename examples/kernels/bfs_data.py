#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a random directed graph for bfs.kc in CSR form: offsets.bin and targets.bin."""

import argparse
import random
import struct


def make_graph(vertices, degree, seed):
    """(offsets, targets); vertices have between 0 and 2 * degree edges."""
    choose = random.Random(seed)
    offsets, targets = [0], []
    for _ in range(vertices):
        targets += [choose.randrange(vertices) for _ in range(choose.randint(0, 2 * degree))]
        offsets.append(len(targets))
    return offsets, targets


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vertices", type=int, default=1000)
    parser.add_argument("--degree", type=int, default=3, help="average number of edges")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    graph = make_graph(options.vertices, options.degree, options.seed)
    for name, values in zip(("offsets.bin", "targets.bin"), graph):
        with open(name, "wb") as file:
            file.write(struct.pack(f"<{len(values)}I", *values))


if __name__ == "__main__":
    main()
