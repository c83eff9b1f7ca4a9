# SPDX-License-Identifier: Apache-2.0
"""The two engines' programs (server.h), for llm.py, texts.py and compare_logits.py."""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def add_options(parser):
    parser.add_argument("ours", type=pathlib.Path)
    parser.add_argument("cache", type=pathlib.Path)
    parser.add_argument("--llama", type=pathlib.Path)
    parser.add_argument("--include", action="append", default=[])


def build_theirs(options):
    """The peer's program; its library's version is printed."""
    program, library = options.cache / "llm_theirs", options.llama.resolve()
    options.cache.mkdir(parents=True, exist_ok=True)
    command = [os.environ.get("CC", "cc"), "-std=gnu11", "-O2", HERE / "theirs.c", "-o", program,
               *(f"-I{folder}" for folder in options.include), f"-L{library}", "-lllama", "-lggml", "-lggml-base",
               f"-Wl,-rpath,{library}"]
    subprocess.run(list(map(str, command)), check=True)
    names = sorted(path.name for pattern in ("libllama.so.*", "libggml-base.so.*") for path in library.glob(pattern))
    print("llama.cpp:", ", ".join(name for name in names if name.count(".") > 2))
    return program


class Server:
    """A process that answers requests."""

    def __init__(self, *command):
        self.command = list(map(str, command))
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.vocabulary = int(self.line())

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{' '.join(self.command)} has ended: {self.process.wait()}")
        return line

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)).encode() + b"\n")
        self.process.stdin.flush()

    def numbers(self, *words):
        self.ask(*words)
        return list(map(float, self.line().split()))

    def feed(self, keep, tokens):
        """The logits of the last token."""
        self.ask("feed", keep, *tokens)
        data = self.process.stdout.read(self.vocabulary * 4)
        if len(data) < self.vocabulary * 4:
            self.line()
        import numpy  # llm.py does without
        return numpy.frombuffer(data, "<f4").astype("f8")

    def tokens(self, text):
        self.ask("tokens", text.replace("\\", "\\\\").replace("\n", "\\n"))
        return list(map(int, self.line().split()))

    def end(self):
        self.process.stdin.close()
        self.process.wait()
