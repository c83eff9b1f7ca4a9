#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The larger example kernels against plain Python, to the last bit."""

import hashlib
import itertools
import math
import re
import struct
import subprocess
import sys

import cli
import examples
from cli import f32


def life_expected(cells, width, height):
    """One generation; cells are 0 or 255."""
    def alive(x, y):
        return cells[y % height * width + x % width] >= 128
    result = []
    for y, x in itertools.product(range(height), range(width)):
        around = sum(alive(x + dx, y + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy)
        result.append(255 if around == 3 or (around == 2 and alive(x, y)) else 0)
    return result


def bfs_expected(offsets, targets, rounds):
    distance = [0xffffffff] * (len(offsets) - 1)
    distance[0] = 0
    frontier = [0]
    for step in range(1, rounds + 1):
        reached = {w for v in frontier for w in targets[offsets[v]:offsets[v + 1]]}
        frontier = [w for w in reached if distance[w] == 0xffffffff]
        for w in frontier:
            distance[w] = step
    return distance


def shortest_match(expression, string):
    pattern = re.compile(b"(?:" + expression.encode() + b")\\Z")
    return next((end for end in range(len(string) + 1) if pattern.search(string[:end])),
                0xffffffff)


def bits(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def from_bits(n):
    return struct.unpack("<f", struct.pack("<I", n))[0]


def rsqrt(x):
    """The math library's, for a normal positive x (src/kernels/math/rsqrt.kc)."""
    def high(value):
        return from_bits(bits(value) & 0xfffff000)
    n = bits(x) - 0x3f800000
    k = n >> 24
    m = from_bits((n & 0x00ffffff) + 0x3f800000)
    s = f32(math.sqrt(m))
    y = f32(1 / s)
    sh, yh = high(s), high(y)
    sl, yl = f32(s - sh), f32(y - yh)
    root = f32(f32(f32(m - f32(sh * sh)) - f32(f32(2 * sh) * sl)) - f32(sl * sl))
    inverse = f32(f32(f32(1 - f32(sh * yh)) - f32(f32(sh * yl) + f32(sl * yh))) - f32(sl * yl))
    y = f32(y + f32(y * f32(inverse - f32(f32(0.5 * root) * f32(y * y)))))
    return f32(y * 2.0 ** -k)


def nbody_expected(bodies, velocities, dt, softening):
    """One step; bodies and velocities are lists of lists."""
    padded = bodies + [[0.0] * 4] * (-len(bodies) % 64)
    moved = []
    for body, velocity in zip(bodies, velocities):
        force = [0.0] * 3
        for other in padded:
            d = [f32(other[c] - body[c]) for c in range(3)]
            square = [f32(v * v) for v in d]
            inverse = rsqrt(f32(f32(f32(square[0] + square[1]) + square[2]) + softening))
            scale = f32(other[3] * f32(f32(inverse * inverse) * inverse))
            force = [f32(force[c] + f32(d[c] * scale)) for c in range(3)]
        velocity[:] = [f32(velocity[c] + f32(dt * force[c])) for c in range(3)]
        moved.append([f32(body[c] + f32(dt * velocity[c])) for c in range(3)] + [body[3]])
    return moved


def rows_of(values, columns):
    return [values[i:i + columns] for i in range(0, len(values), columns)]


class Algorithms(examples.Case):
    def script(self, name, *args):
        subprocess.run([sys.executable, name, *map(str, args)], cwd=self.folder, check=True)

    def words(self, name):
        return [word for word, in struct.iter_unpack("<I", self.path(name).read_bytes())]

    def data(self, value):
        """The elements that the command makes of a value such as random:u8:10:1."""
        element = value.split(":")[1]
        self.write("keep.kc", f"kernel void keep({element} *x) {{ x[0] = x[0]; }}\n")
        self.good("run", "keep.kc", "--global", "0", f"x={value}", "--save", "x=kept.npy")
        return self.values("kept.npy")

    def test_prefix_scan(self):
        for lanes, rows, n in (1250, 8, 10000), (800, 3, 2400), (32, 2, 1), (64, 5, 161):
            command = self.command("prefix_scan.kc")
            command[command.index("-DROWS=8")] = f"-DROWS={rows}"
            x = f"random:u32:{n}:{rows}"
            self.run_with(command, lanes=lanes, n=n, x=x, y=f"zeros:u32:{n}")
            expected = [s & 0xffffffff for s in itertools.accumulate(self.data(x))]
            self.assertEqual(self.values("scan.npy"), expected)

    def test_histogram(self):
        for lanes, data in (1024, "random:u8:10000:1"), (256, "fill:u8:9999:7"):
            n = data.split(":")[2]
            self.run_with(self.command("histogram.kc"), lanes=lanes, n=n, x=data)
            x = self.data(data)
            self.assertEqual(self.values("counts.npy"), [x.count(byte) for byte in range(256)])

    def test_life(self):
        for width, height, rounds in (64, 48, 20), (17, 5, 3):
            command = self.command("life.kc")
            command[command.index("20")] = str(rounds)
            command[command.index("cells=life.pgm")] = "cells=life.npy"
            cells = f"random:u8:{2 * height}x{width}:1"
            self.run_with(command, lanes=f"{width},{height}", width=width, height=height,
                          cells=cells)
            expected = self.data(cells)[:width * height]
            for _ in range(rounds):
                expected = life_expected(expected, width, height)
            self.assertIn(255, expected)
            plane = rounds % 2 * width * height
            found = self.values("life.npy")[plane:plane + width * height]
            self.assertEqual(found, expected)

    def test_sha256(self):
        # Lengths on both sides of where the padding takes one more block.
        for length in (200, 1, 55, 56, 63, 64, 119, 120):
            messages = f"random:u8:100x{length}:{length}"
            self.run_with(self.command("sha256.kc"), length=length, messages=messages)
            messages = rows_of(bytes(self.data(messages)), length)
            expected = b"".join(hashlib.sha256(message).digest() for message in messages)
            self.assertEqual(bytes(self.values("digests.npy")), expected, length)

    def test_bitonic_sort(self):
        for n, rounds in (4096, 10), (512, 1), (1024, 5):
            command = self.command("bitonic_sort.kc")
            command[command.index("10")] = str(rounds)
            data = f"random:u32:{n}:{rounds}"
            self.run_with(command, lanes=n // 2, n=n, x=data)
            self.assertEqual(self.values("sorted.npy"), sorted(self.data(data)))

    def test_bfs(self):
        for vertices, degree, rounds in (1000, 3, 20), (300, 5, 3):
            self.script("bfs_data.py", "--vertices", vertices, "--degree", degree)
            command = self.command("bfs.kc")
            command[command.index("20")] = str(rounds)
            self.run_with(command, lanes=vertices, n=vertices,
                          marks=f"zeros:u32:2x{vertices}",
                          distance=f"fill:u32:{vertices}:0xffffffff")
            found = self.values("distance.npy")
            self.assertEqual(found, bfs_expected(self.words("offsets.bin"),
                                                 self.words("targets.bin"), rounds - 1))
            self.assertGreater(len(set(found)), 3)

    def test_regex_nfa(self):
        for expression in ("(ab|c)+d?[e-h]*x", "a", "a.c|b(c|d)*bb?", "(a|b)(a|b)(a|b)(a|b)c+",
                           "(a?b?c?d?)e(a*b*)*(abc|c[a-c]d)+", "abcdefghijklmnopqrstuvwxyz012345"):
            self.script("regex_nfa_data.py", expression)
            self.run_with(self.command("regex_nfa.kc"))
            text, starts = self.path("text.bin").read_bytes(), self.words("starts.bin")
            strings = [text[a:b] for a, b in zip(starts, starts[1:])]
            self.assertEqual(self.values("ends.npy"),
                             [shortest_match(expression, string) for string in strings], expression)

    def test_regex_errors(self):
        for expression in ("(a", "a)", "*a", "[ab", "a*", "", "a" * 33):
            result = subprocess.run([sys.executable, "regex_nfa_data.py", expression],
                                    cwd=self.folder, stderr=subprocess.PIPE)
            self.assertEqual(result.returncode, 2, expression)

    def test_nbody(self):
        n, rounds, dt, softening = 70, 2, f32(0.01), f32(0.01)
        start = f"random:f32:2x{n}x4:1"
        command = self.command("nbody.kc")
        command[command.index("4")] = str(rounds)
        self.run_with(command, "--save", "velocities=velocities.npy", lanes=n, n=n, bodies=start,
                      velocities=f"zeros:f32:{n}x3")
        bodies = rows_of(self.data(start)[:4 * n], 4)
        velocities = [[0.0] * 3 for _ in bodies]
        for _ in range(rounds):
            bodies = nbody_expected(bodies, velocities, dt, softening)
        self.assertEqual(rows_of(self.values("bodies.npy")[:4 * n], 4), bodies)
        self.assertEqual(rows_of(self.values("velocities.npy"), 3), velocities)

    def test_gemv_int8(self):
        command = self.command("gemv_int8.kc")
        self.run_with(command, "--save", "weights=weights.npy", "--save", "x=x.npy")
        weights, x = (struct.pack(f"<{len(words)}I", *words)
                      for words in (self.values("weights.npy"), self.values("x.npy")))
        x = struct.unpack(f"{len(x)}b", x)
        expected = [sum(map(int.__mul__, struct.unpack(f"{len(x)}b", row), x))
                    for row in rows_of(weights, len(x))]
        self.assertEqual(self.values("product.npy"), expected)

        self.run_with(command, weights="fill:u32:50x75:0x80808080", x="fill:u32:75:0x80808080")
        self.assertEqual(self.values("product.npy"), [300 * 128 * 128] * 50)


if __name__ == "__main__":
    cli.main()
