# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command share: running it in a fresh folder, and .npy files without NumPy.

A test file calls main(); its arguments are the command to test and the root of the repository.
"""

import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

COMMAND = None
ROOT = None

FORMATS = {"|b1": "?", "|i1": "b", "|u1": "B", "<i2": "h", "<u2": "H", "<i4": "i", "<u4": "I",
           "<i8": "q", "<u8": "Q", "<f2": "e", "<f4": "f", "<f8": "d"}


def npy_bytes(descr, shape, data):
    header = repr({"descr": descr, "fortran_order": False, "shape": tuple(shape)}).encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def write_npy(path, descr, values, shape=None):
    data = struct.pack(f"<{len(values)}{FORMATS[descr]}", *values)
    pathlib.Path(path).write_bytes(npy_bytes(descr, shape or (len(values),), data))


def read_npy(path):
    """(descr, shape, values); the values of structured types are bytes."""
    raw = pathlib.Path(path).read_bytes()
    assert raw[:8] == b"\x93NUMPY\x01\x00", raw[:8]
    length = struct.unpack("<H", raw[8:10])[0]
    header = eval(raw[10:10 + length], {})  # our own output
    assert (10 + length) % 64 == 0 and not header["fortran_order"]
    data = raw[10 + length:]
    if not isinstance(header["descr"], str) or header["descr"] not in FORMATS:
        return header["descr"], header["shape"], data
    code = FORMATS[header["descr"]]
    values = list(struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data))
    return header["descr"], header["shape"], values


def f32(value):
    """Rounds to f32. One +, -, * or / of two f32 done in double and rounded once more is exact."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


def commands_in(text):
    """Lines that start with "lockstep ", continued by a backslash at the end, as word lists."""
    joined = re.sub(r"\\\n[ *]*", " ", text)
    lines = (re.sub(r"^[ *$]*", "", line) for line in joined.splitlines())
    return [shlex.split(line)[1:] for line in lines
            if re.match(r"lockstep (run|tune|compile|bundle|devices|conform|sim|cosim|inspect|tokenize|generate|chat|verify|perplexity|bench-llm)\b", line)]


# Of a build without a device that is taken when none is named.
NOTE = r"lockstep: note: on the reference, which is slow: no device .* cpu cannot be used: .*\n"


class Case(unittest.TestCase):
    """Each test runs in a folder of its own, which holds the example kernels, a small netlist and a small
    model."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        for kernel in (ROOT / "examples" / "kernels").glob("*.kc"):
            shutil.copy(kernel, self.folder)
        for file in (ROOT / "tests" / "cli" / "data").iterdir():
            shutil.copy(file, self.folder)
        self.before = None

    def path(self, name):
        return self.folder / name

    def write(self, name, text):
        self.path(name).write_text(text)

    def run_command(self, *args, **options):
        options.setdefault("timeout", 60)
        options.setdefault("errors", "backslashreplace")
        if "reference" in args:
            # Which loads no libLLVM: leaks are searched for, other than as libllvm_env of tests/meson.build says.
            options.setdefault("env", dict(os.environ, ASAN_OPTIONS=":".join(
                filter(None, [os.environ.get("ASAN_OPTIONS"), "detect_leaks=1"]))))
        result = subprocess.run([COMMAND, *map(str, args)], cwd=self.folder, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **options)
        note = re.match(NOTE, result.stderr)
        result.note = note is not None
        result.stderr = result.stderr[note.end():] if note else result.stderr
        return result

    def good(self, *args, **options):
        """Runs, requires success without any message, returns what was printed."""
        result = self.run_command(*args, **options)
        self.assertEqual((result.returncode, result.stderr), (0, ""), args)
        return result.stdout

    def contents(self):
        return {p: p.read_bytes() if p.is_file() else None for p in self.folder.iterdir()}

    def bad(self, *args, says, status=1):
        """Requires one line of error that says it, and that no file has come or changed."""
        before = self.contents()
        result = self.run_command(*args)
        self.assertEqual(result.returncode, status, result)
        self.assertEqual(result.stdout, "", result)
        lines = result.stderr.splitlines()
        self.assertTrue(lines and lines[0].startswith("lockstep"), result.stderr)
        limit = 3 if status == 2 else 1  # wrong usage also points to --help
        self.assertLessEqual(len(lines), limit, result.stderr)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, lines[0])
        self.assertEqual(before, self.contents())
        return result.stderr


def main():
    global COMMAND, ROOT
    COMMAND = os.path.abspath(sys.argv[1])
    ROOT = pathlib.Path(sys.argv[2]).resolve()
    del sys.argv[1:3]
    # Compiled code must not go to the cache of whoever runs the tests.
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        unittest.main(module="__main__")
