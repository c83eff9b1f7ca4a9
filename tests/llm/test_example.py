# SPDX-License-Identifier: Apache-2.0
"""The example program in C says what lockstep generate says, on two devices, and what is wrong.

test_example.py EXAMPLE LOCKSTEP MODEL
"""
import subprocess
import sys

example, lockstep, model = sys.argv[1:]
TEXT = "Hello world"


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=200)


expected = run(lockstep, "generate", "-m", model, "-p", TEXT, "-n", "64", "--context", "256", "--no-cache",
               "--temperature", "0.8", "--top-k", "40", "--top-p", "0", "--seed", "1", "--device", "cpu")
if b"cpu cannot be used" in expected.stderr or b"LLVM" in expected.stderr:
    print("skipped: a build without the cpu device")
    sys.exit(77)
got = run(example, model, TEXT)
if got.returncode or expected.returncode or got.stdout != expected.stdout + b"\n" or len(got.stdout) < 20:
    sys.exit(f"{got}\nis not\n{expected}")
for arguments, status, says in [((), 2, b"usage"), (("absent.gguf", "x"), 1, b"absent.gguf"), ((model, ""), 1, b"no tokens"),
                                ((model, "x", "none"), 1, b"none"), ((model, "x" * 300), 1, b"tokens")]:
    wrong = run(example, *arguments)
    if wrong.returncode != status or says not in wrong.stderr:
        sys.exit(f"{arguments}: {wrong}")
