#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Installs the Debian packages that Lockstep needs and that are not there yet.
#
#   tools/setup.sh build    what the library and the command need
#   tools/setup.sh demo     also what the cpu device and a Vulkan device need, NumPy, pip, and what makes a
#                           netlist and firmware
#   tools/setup.sh check    also what all tests need
#
# Nothing is touched when nothing is missing. Uses sudo when not run by root.
set -eu

build='gcc libc6-dev pkg-config meson ninja-build nettle-dev libjansson-dev libpcre2-dev libedit-dev'
check='g++ clang libclang-rt-dev libcmocka-dev libmpfr-dev python3-numpy python3-jsonschema llvm-19-dev
    libvulkan-dev libvulkan1 mesa-vulkan-drivers vulkan-validationlayers spirv-headers spirv-tools
    iverilog yosys verilator gcc-riscv64-unknown-elf python3-pip python3-venv'

case "${1:-}" in
build) wanted=$build ;;
demo)
    wanted="$build llvm-19-dev libvulkan-dev libvulkan1 mesa-vulkan-drivers spirv-headers python3-numpy yosys
    gcc-riscv64-unknown-elf python3-pip"
    ;;
check) wanted="$build $check" ;;
*)
    echo "usage: tools/setup.sh build|demo|check" >&2
    exit 2
    ;;
esac

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    echo "setup: not a Debian system; going on with what is installed. Needed are: $wanted" >&2
    exit 0
fi

missing=
for package in $wanted; do
    state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "setup: cannot install packages: not root, and there is no sudo." >&2
        echo "setup: as root, run: apt-get update && apt-get install$missing" >&2
        exit 1
    fi
    as_root=sudo
fi

apt() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@"
}

echo "setup: installing$missing"
# The package lists of a fresh system are empty or old, and old lists name files that are gone.
if ! apt update; then
    echo "setup: apt-get update failed; trying with the package lists that are here" >&2
fi
# shellcheck disable=SC2086 # one word for each package
if ! apt install -y --no-install-recommends $missing; then
    echo "setup: could not install:$missing" >&2
    echo "setup: check the network and /etc/apt/sources.list, then run this again" >&2
    exit 1
fi
