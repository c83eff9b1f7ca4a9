#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example kernels, run by the command in their own comment, give what f32 arithmetic gives."""

import itertools

import cli
import examples
from cli import f32


def saxpy_expected():
    return [f32(f32(2.0 * i) + 1.0) for i in range(8)]


def reduction_expected(x, groups):
    """Lane by lane, then the butterfly, then subgroup by subgroup, as the kernel's comment says."""
    sums = []
    subgroups, rows = groups * 8, len(x) // 32
    each = -(-rows // subgroups)
    for subgroup in range(subgroups):
        stretch = x[32 * subgroup * each:32 * min((subgroup + 1) * each, rows)]
        if subgroup == subgroups - 1:
            stretch = stretch + x[32 * rows:]
        lanes = [0.0] * 32
        for i, value in enumerate(stretch):
            lanes[i % 32] = f32(lanes[i % 32] + value)
        for step in (16, 8, 4, 2, 1):
            lanes = [f32(v + lanes[i ^ step]) for i, v in enumerate(lanes)]
        if subgroup % 8 == 0:
            sums.append(lanes[0])
        else:
            sums[-1] = f32(sums[-1] + lanes[0])
    return sums


def matmul_expected(a, b, rows, columns, depth):
    padded = -(-depth // 16) * 16
    result = []
    for row, column in itertools.product(range(rows), range(columns)):
        total = 0.0
        for k in range(padded):
            product = f32(a[row * depth + k] * b[k * columns + column]) if k < depth else 0.0
            total = f32(total + product)
        result.append(total)
    return result


def mandelbrot_expected(width, height, limit):
    scale = f32(2.5 / height)
    picture = []
    for y, x in itertools.product(range(height), range(width)):
        cr = f32(f32(x - f32(f32(0.65) * width)) * scale)
        ci = f32(f32(y - f32(0.5 * height)) * scale)
        zr = zi = 0.0
        step = 0
        while step < limit and f32(f32(zr * zr) + f32(zi * zi)) <= 4:
            following = f32(f32(f32(zr * zr) - f32(zi * zi)) + cr)
            zi = f32(f32(f32(2 * zr) * zi) + ci)
            zr = following
            step += 1
        picture.append(0 if step == limit else 255 * step // (step + 12))
    return picture


class Examples(examples.Case):
    def test_saxpy(self):
        self.run_with(self.command("saxpy.kc"))
        self.assertEqual(cli.read_npy(self.path("out.npy"))[2], saxpy_expected())

    def test_reduction(self):
        command = self.command("reduction.kc")
        self.run_with(command, "--save", "x=x.npy")
        x = cli.read_npy(self.path("x.npy"))[2]
        self.assertEqual(len(x), 10000)
        self.assertEqual(cli.read_npy(self.path("sum.npy"))[2], reduction_expected(x, 1))

        self.run_with(command, lanes=768, sums="zeros:f32:3")
        self.assertEqual(cli.read_npy(self.path("sum.npy"))[2], reduction_expected(x, 3))

    def test_matmul(self):
        self.run_with(self.command("matmul.kc"), "--save", "a=a.npy", "--save", "b=b.npy")
        a, b = (cli.read_npy(self.path(name))[2] for name in ("a.npy", "b.npy"))
        descr, shape, product = cli.read_npy(self.path("product.npy"))
        self.assertEqual((descr, shape), ("<f4", (40, 24)))
        self.assertEqual(product, matmul_expected(a, b, 40, 24, 50))

    def test_mandelbrot(self):
        command = self.command("mandelbrot.kc")
        self.good(*command)
        data = self.path("mandelbrot.pgm").read_bytes()
        self.assertTrue(data.startswith(b"P5\n320 200\n255\n"))
        self.assertEqual(len(data), 15 + 320 * 200)

        self.run_with(command, "-DLIMIT=60", lanes="40,30", width="40", height="30",
                      image="zeros:u8:30x40")
        data = self.path("mandelbrot.pgm").read_bytes()
        self.assertEqual(list(data[13:]), mandelbrot_expected(40, 30, 60))
        self.assertGreater(len(set(data[13:])), 5)


if __name__ == "__main__":
    cli.main()
