#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds everything in one build directory, runs all tests there and prints the summary, whose last
# line reads "N passed, N failed, N skipped". Exit status 0 only if all was built and none failed.
#
#   tools/check.sh DIRECTORY [meson setup options]
set -eu

[ $# -ge 1 ] || {
    echo "usage: tools/check.sh DIRECTORY [meson setup options]" >&2
    exit 2
}
build=$1
shift

# Before the build is configured, which looks for what is in there.
"$(dirname "$0")/python-packages.sh" "$build"
"$(dirname "$0")/fetch-model.sh" "$build/models" smollm2 gemma3
if [ -f "$build/build.ninja" ]; then
    meson setup --reconfigure "$build" -Dtests=enabled "$@"
else
    meson setup "$build" -Dtests=enabled "$@"
fi
# The summary judges by the log, so an old one must not stand in for a run that broke.
rm -f "$build/meson-logs/testlog.json"
ninja -C "$build"
# The time limits of the tests are for an idle machine and an optimised build.
meson test -C "$build" --no-rebuild --print-errorlogs --timeout-multiplier 4 || true
python3 tools/summary.py "$build"
