#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What Lockstep does, in half a minute: runs two example kernels, saves their results, and shows that
# NumPy opens them and agrees to the last bit; boots a system on a chip on two devices and shows that
# the waveforms are the same; asks a language model on two devices and shows that the logits are the same.
#
#   tools/demo.sh LOCKSTEP [FOLDER [MODELS]]   the command to use, such as build/src/cli/lockstep; where to save
#                                              results: build/demo when left out; where models are: build/models
set -eu

if [ $# -lt 1 ] || [ $# -gt 3 ] || [ ! -x "$1" ]; then
    echo "usage: tools/demo.sh LOCKSTEP [FOLDER [MODELS]]   (build it with: make)" >&2
    exit 2
fi
lockstep=$(realpath "$1")
cd "$(dirname "$0")/.."
kernels=examples/kernels
out=${2:-build/demo}
models=${3:-build/models}
mkdir -p "$out"

run() {
    echo "    \$ lockstep $*" |
        sed 's/ x=/ \\\n          x=/; s/ image=/ \\\n          image=/; s/ --\(config\|input\|output\)/ \\\n          --\1/g'
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
echo "A system on a chip in Verilog, examples/cosim/soc: a RISC-V core that starts its firmware from SPI flash."
soc=$out/designs/soc
if ! "$lockstep" devices | grep -q '^cpu '; then
    echo "    (not shown: this build has no cpu device; on Debian, install llvm-19-dev and build anew)"
elif command -v yosys >/dev/null && command -v riscv64-unknown-elf-gcc >/dev/null; then
    echo "Yosys makes the netlist, the RISC-V compiler the firmware. Run until the firmware prints its prompt:"
    python3 examples/cosim/build.py "$out/designs" soc
    for device in cpu reference; do
        run cosim "$soc/words.json" --config "$soc/config.json" --device $device --form compiled --quiet \
            --input-commands examples/cosim/soc/to_prompt.json --output-vcd "$out/soc-$device.vcd" \
            --events "$out/soc-$device.json"
    done
    echo "The cpu device compiles the design with its flash and UART, the reference interprets it. The waveforms:"
    (cd "$out" && sha256sum soc-cpu.vcd soc-reference.vcd) | sed 's/^/    /'
    cmp "$out/soc-cpu.vcd" "$out/soc-reference.vcd"
    echo "    the same $(wc -c <"$out/soc-cpu.vcd") bytes."
else
    echo "    (not shown: it needs yosys and gcc-riscv64-unknown-elf; on Debian, install these)"
fi

echo
echo "A language model of 135 million weights, SmolLM2:"
model=$models/SmolLM2-135M-Instruct.Q4_1.gguf
if ! [ -f "$model" ]; then
    echo "    (not shown: the model is not there; tools/fetch-model.sh $models fetches it)"
elif ! "$lockstep" devices | grep -q '^cpu '; then
    echo "    (not shown: this build has no cpu device)"
else
    tokens=24
    ask() {
        "$lockstep" generate -m "$model" --chat -p "Write one sentence about the sea." -n $tokens --device "$1" --digest \
            >"$out/answer-$1.txt" 2>"$out/logits-$1.txt"
        echo "    $1: $(cat "$out/answer-$1.txt")"
        echo "    $(grep logits "$out/logits-$1.txt")"
    }
    echo "    \$ lockstep generate -m model.gguf --chat -p \"Write one sentence about the sea.\" -n $tokens --digest --device ..."
    ask cpu
    if ! "$lockstep" devices | grep -q "^vulkan:"; then
        echo "    (no other device that is fast enough: on Debian, install mesa-vulkan-drivers)"
    else
        ask vulkan
        cmp "$out/logits-cpu.txt" "$out/logits-vulkan.txt"
        echo "    The same bits: the SHA-256 of the logits of all tokens."
    fi
fi

echo
echo "Saved in $out: out.npy, mandelbrot.pgm, soc-cpu.vcd. More: lockstep run --help, README.md"
