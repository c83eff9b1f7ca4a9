# SPDX-License-Identifier: Apache-2.0
"""Derives every coefficient and constant of the math library (src/kernels/math).

    python3 bench/accuracy/fit.py            needs mpmath

A polynomial is fitted by the Remez exchange so that the largest weighted error is smallest; the
weight makes it the relative error of the whole function. Coefficients are rounded to binary32 one
after the other, lowest power first, and the rest is fitted again around each rounded one. The
printed error is that of the rounded polynomial, in bits below the function.
"""
import struct

from mpmath import atanh, cos, exp, linspace, log, lu_solve, matrix, mp, mpf, pi, sin, tanh

mp.prec = 200


def f32(x):
    """x rounded to binary32."""
    return mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


def high(x, bits):
    """x truncated to `bits` significant bits."""
    exponent = int(mp.floor(log(abs(x), 2)))
    unit = mpf(2) ** (exponent - bits + 1)
    return mp.floor(x / unit) * unit


def hexf(x):
    """x, which is a binary32 number, as a C literal."""
    assert f32(x) == x, x
    text = float(x).hex()
    mantissa, exponent = text.split("p")
    mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}p{int(exponent)}f"


def remez(target, weight, low, top, powers):
    """Coefficients of sum c[i]*x^powers[i] with the least max of |weight*(sum - target)|."""
    n = len(powers)
    middle, half = (low + top) / 2, (top - low) / 2
    nodes = [middle - half * cos(pi * i / n) for i in range(n + 1)]
    grid = [middle - half * cos(pi * i / 800) for i in range(801)]
    grid = [x for x in grid if abs(x) > top / 10**6]
    values = [(x, target(x), weight(x)) for x in grid]
    for _ in range(30):
        a, b = matrix(n + 1, n + 1), matrix(n + 1, 1)
        for row, x in enumerate(nodes):
            x = x if abs(x) > top / 10**6 else top / 4096
            w = weight(x)
            for col, p in enumerate(powers):
                a[row, col] = w * x**p
            a[row, n] = (-1) ** row
            b[row] = w * target(x)
        solution = lu_solve(a, b)
        c = [solution[i] for i in range(n)]
        # The extrema of the error, one per run of equal sign, become the next nodes.
        runs = []
        for x, t, w in values:
            e = w * (sum(ci * x**p for ci, p in zip(c, powers)) - t)
            if runs and (runs[-1][1] > 0) == (e > 0):
                if abs(e) > abs(runs[-1][1]):
                    runs[-1] = (x, e)
            else:
                runs.append((x, e))
        while len(runs) > n + 1:
            runs.pop(0 if abs(runs[0][1]) < abs(runs[-1][1]) else -1)
        if len(runs) < n + 1:
            break
        nodes = [x for x, _ in runs]
        errors = [abs(e) for _, e in runs]
        if max(errors) < min(errors) * mpf("1.001"):
            break
    return c


def fit(name, target, weight, low, top, count):
    """Prints `count` binary32 coefficients of a polynomial, lowest power first."""
    low, top = mpf(low), mpf(top)
    fixed = []
    for i in range(count):
        rest = lambda x: target(x) - sum(c * x**p for p, c in enumerate(fixed))
        fixed.append(f32(remez(rest, weight, low, top, list(range(i, count)))[0]))
    worst = 0
    for x in linspace(low, top, 2000):
        if abs(x) > top / 10**6:
            error = weight(x) * (sum(c * x**p for p, c in enumerate(fixed)) - target(x))
            worst = max(worst, abs(error))
    print(f"{name}: relative error 2^{float(log(worst, 2)):.2f}")
    for c in fixed:
        print(f"    {hexf(c)}")


def split(name, x, bits):
    """Prints x as a short high part and a binary32 low part."""
    h = high(x, bits)
    print(f"{name}: {hexf(h)} + {hexf(f32(x - h))}")


ln2 = log(mpf(2))
edge = mpf("1.002")  # a reduced argument may pass its range by rounding

split("ln2, 15 bits", ln2, 15)
split("ln2, 12 bits", ln2, 12)
split("1/ln2, 12 bits", 1 / ln2, 12)
split("2/ln2, 12 bits", 2 / ln2, 12)
split("2/(3 ln2), 12 bits", 2 / (3 * ln2), 12)
print("1/ln2:", hexf(f32(1 / ln2)))
print("pi/2 * 2^62:", hex(int(mp.nint(pi / 2 * 2**62))))
bits = int(mp.floor(2 / pi * mpf(2) ** 198))
print("2/pi after 26 zero bits:", [hex(bits >> (32 * (6 - i)) & 0xFFFFFFFF) for i in range(7)])

fit("exp: (e^r - 1 - r) / r^2", lambda r: (exp(r) - 1 - r) / r**2, lambda r: r**2 / exp(r),
    -ln2 / 2 * edge, ln2 / 2 * edge, 5)
fit("log: (log(1+f) - f + f^2/2) / f^3", lambda f: (log(1 + f) - f + f**2 / 2) / f**3,
    lambda f: f**3 / log(1 + f), -mpf(1) / 3, mpf(1) / 3, 9)
fit("pow: (log2((1+s)/(1-s))/s - C0 - C1 z) / z^2, z = s^2",
    lambda z: (2 * atanh(z**mpf("0.5")) / z**mpf("0.5") - 2 - 2 * z / 3) / ln2 / z**2,
    lambda z: z**2 / (2 / ln2), mpf("1e-6"), mpf("0.0401"), 4)
fit("sin: (sin r - r) / r^3, in z = r^2", lambda z: (sin(z**mpf("0.5")) / z**mpf("0.5") - 1) / z,
    lambda z: z, mpf("1e-6"), (pi / 4 * edge) ** 2, 4)
fit("cos: (cos r - 1 + z/2) / z^2, in z = r^2", lambda z: (cos(z**mpf("0.5")) - 1 + z / 2) / z**2,
    lambda z: z**2, mpf("1e-6"), (pi / 4 * edge) ** 2, 3)
fit("tanh: (tanh x - x) / x^3, in z = x^2", lambda z: (tanh(z**mpf("0.5")) / z**mpf("0.5") - 1) / z,
    lambda z: z, mpf("1e-6"), mpf("0.35") ** 2, 4)
