#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Fuzzes every reader of untrusted bytes. Needs a build with clang:
#
#   CC=clang meson setup build-fuzz -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false
#   ninja -C build-fuzz
#   tools/fuzz.sh SECONDS [BUILD]       each target in turn; BUILD is build-fuzz when left out
#   tools/fuzz.sh --target TARGET CORPUS SECONDS       one target
#
# New inputs go to found/ beside the target, never into the corpus of the repository. An input that makes a
# target fail is kept there too, and its name is printed.
set -eu

run_target() {
    target=$1 corpus=$2 seconds=$3
    scratch=$(dirname "$target")/found/$(basename "$target")
    mkdir -p "$scratch"
    "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
        -print_final_stats=1 -verbosity=0 -artifact_prefix="$scratch/failed-" "$scratch" "$corpus"
}

usage() {
    echo "usage: tools/fuzz.sh SECONDS [BUILD]" >&2
    echo "       tools/fuzz.sh --target TARGET CORPUS SECONDS" >&2
    exit 2
}

if [ "${1:-}" = --target ]; then
    [ $# -eq 4 ] || usage
    run_target "$2" "$3" "$4"
    exit
fi

[ $# -eq 1 ] || [ $# -eq 2 ] || usage
build=${2:-build-fuzz}
root=$(cd "$(dirname "$0")/.." && pwd)
failed=
for name in npy lang ir_text ir_binary netlist image gguf tokenizer; do
    target=$build/tests/fuzz/fuzz_$name
    if [ ! -x "$target" ]; then
        echo "fuzz: there is no $target; see the head of tools/fuzz.sh" >&2
        exit 1
    fi
    echo "== $name, $1 s"
    run_target "$target" "$root/tests/fuzz/corpus/$name" "$1" || failed="$failed $name"
done
[ -z "$failed" ] || {
    echo "fuzz: failed:$failed" >&2
    exit 1
}
