#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `meson install` puts down is complete: a program builds against it by pkg-config, and runs.

usage: check_install.py ROOT BUILD "COMPILER COMMAND"
"""

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

PROGRAM = r"""
#include <lockstep/base.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    printf("%s %s\n", ls_version(), ls_status_name(LS_E_FORMAT));
    return strcmp(ls_version(), LS_VERSION_STRING) != 0;
}
"""


def option(build, name):
    out = subprocess.run(["meson", "introspect", "--buildoptions", str(build)], check=True,
                         stdout=subprocess.PIPE).stdout
    return next(o["value"] for o in json.loads(out) if o["name"] == name)


def main(root, build, compiler):
    if not shutil.which("pkg-config"):
        print("SKIP: there is no pkg-config")
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        subprocess.run(["meson", "install", "-C", str(build), "--no-rebuild", "--quiet",
                        "--destdir", str(scratch / "image")], check=True)
        prefix = scratch / "image" / option(build, "prefix").lstrip("/")
        library = prefix / option(build, "libdir")

        for header in (root / "include" / "lockstep").iterdir():
            installed = prefix / "include" / "lockstep" / header.name
            assert installed.is_file(), header.name
            if header.suffix == ".h":
                subprocess.run([*shlex.split(compiler), "-std=c11", "-fsyntax-only", "-x", "c",
                                f"-I{prefix / 'include'}", str(installed)], check=True)
        links = sorted(path.name for path in library.glob("liblockstep.so*"))
        assert "liblockstep.so" in links and "liblockstep.so.0" in links, links
        if (root / "docs" / "lockstep.1").exists():
            assert list(prefix.glob("share/man/man1/lockstep.1*")), "no man page"
        if (root / "tools" / "completion" / "lockstep.bash").exists():
            assert (prefix / "share/bash-completion/completions/lockstep").exists(), "no completion"

        environment = dict(os.environ, PKG_CONFIG_PATH=str(library / "pkgconfig"),
                           PKG_CONFIG_SYSROOT_DIR=str(scratch / "image"),
                           PKG_CONFIG_ALLOW_SYSTEM_CFLAGS="1", PKG_CONFIG_ALLOW_SYSTEM_LIBS="1",
                           LD_LIBRARY_PATH=str(library))
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "lockstep"], env=environment,
                               check=True, text=True, stdout=subprocess.PIPE).stdout
        sanitize = option(build, "b_sanitize")
        extra = [] if sanitize == "none" else [f"-fsanitize={sanitize}"]
        (scratch / "use.c").write_text(PROGRAM)
        subprocess.run([*shlex.split(compiler), "-std=c11", str(scratch / "use.c"), *extra, "-o",
                        str(scratch / "use"), *shlex.split(flags)], env=environment, check=True)
        subprocess.run([str(scratch / "use")], env=environment, check=True)
        if (prefix / "bin" / "lockstep").exists():
            subprocess.run([str(prefix / "bin" / "lockstep"), "--version"], env=environment,
                           check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]))
