#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What Lockstep does, in a few seconds: runs two example kernels, saves their results, and shows that
# NumPy opens them and agrees to the last bit.
#
#   tools/demo.sh LOCKSTEP [FOLDER]      the command to use, such as build/src/cli/lockstep, and where
#                                        to save results: build/demo when left out
set -eu

if [ $# -lt 1 ] || [ $# -gt 2 ] || [ ! -x "$1" ]; then
    echo "usage: tools/demo.sh LOCKSTEP [FOLDER]   (build it with: make)" >&2
    exit 2
fi
lockstep=$(realpath "$1")
cd "$(dirname "$0")/.."
kernels=examples/kernels
out=${2:-build/demo}
mkdir -p "$out"

run() {
    echo "    \$ lockstep $*" | sed 's/ x=/ \\\n          x=/; s/ image=/ \\\n          image=/'
    said=$("$lockstep" "$@")
    echo "$said" | sed 's/^/    /'
}

echo
echo "A kernel in Kernel C, examples/kernels/saxpy.kc:"
sed -n '/^kernel/,$s/^/    /p' "$kernels/saxpy.kc"
echo "Compiled and run:"
run run "$kernels/saxpy.kc" --global 1000 n=1000 a=0.1 \
    x=iota:f32:1000 y=random:f32:1000:1 --save "x=$out/x.npy" --save "y=$out/out.npy"
# Checked below: the same sum in NumPy, from the same random numbers.
"$lockstep" run "$kernels/saxpy.kc" --quiet --global 0 n=0 a=0 \
    x=iota:f32:1000 y=random:f32:1000:1 --save "y=$out/y.npy"

echo "The result in NumPy:"
for python in python3 /usr/bin/python3 none; do
    "$python" -c 'import numpy' 2>/dev/null && break
done
if [ "$python" = none ]; then
    echo "    (not shown: there is no NumPy here; on Debian, install python3-numpy)"
else
    "$python" - "$out" <<'END'
import sys
import numpy as np

folder = sys.argv[1]
x, y, out = (np.load(f"{folder}/{name}.npy") for name in ("x", "y", "out"))
right = np.float32(0.1) * x + y
print(f'    >>> np.load("{folder}/out.npy")')
print("    array([" + ", ".join(f"{v:.6g}" for v in out[:4]) + f", ..., {out[-1]:.6g}],"
      f" dtype={out.dtype})")
if out.tobytes() != right.tobytes():
    sys.exit("    NumPy computes something else!")
print("    NumPy computes the same 1000 numbers, bit for bit.")
END
fi

echo
echo "A picture, examples/kernels/mandelbrot.kc:"
run run "$kernels/mandelbrot.kc" --global 320,200 width=320 height=200 \
    image=zeros:u8:200x320 --save "image=$out/mandelbrot.pgm"
echo
echo "Saved in $out: out.npy, mandelbrot.pgm. More: lockstep run --help, README.md"
