#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The folder for compiled code, --threads, --target and --tier: all are of the cpu device."""

import os
import shutil
import subprocess
import time

import cli

SAXPY = ["run", "saxpy.kc", "--device", "cpu", "--global", "8", "n=8", "a=2", "x=iota:f32:8",
         "y=fill:f32:8:1", "--save", "y=y.npy"]


class Case(cli.Case):
    def setUp(self):
        super().setUp()
        out = self.good("devices").splitlines()
        at = [i for i, line in enumerate(out) if line.startswith("cpu ")]
        if not at or out[at[0] + 1:at[0] + 2] and "not usable" in out[at[0] + 1]:
            self.skipTest("the cpu device cannot be used")

    def environment(self, **variables):
        """None takes a variable away."""
        old = {name: os.environ.get(name) for name in variables}
        self.addCleanup(self.set_variables, old)
        self.set_variables(variables)

    def set_variables(self, variables):
        for name, value in variables.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = str(value)

    def saxpy(self, *options):
        self.good(*SAXPY, *options)
        self.assertEqual(cli.read_npy(self.path("y.npy"))[2], [2.0 * i + 1 for i in range(8)])


class Cache(Case):
    def setUp(self):
        super().setUp()
        self.environment(HOME=self.path("home"), XDG_CACHE_HOME=self.path("xdg"))

    def files(self, folder):
        """Name to identity; a file that is found in the cache stays, one written again is another."""
        return {file.name: file.stat().st_ino for file in self.path(folder).glob("*.lscode")}

    def test_second_run_finds_the_code(self):
        self.saxpy()
        first = self.files("xdg/lockstep")
        self.assertTrue(first)
        self.assertEqual(self.path("xdg/lockstep").stat().st_mode & 0o777, 0o700)
        for name in first:
            os.utime(self.path("xdg/lockstep") / name, (1, 1))
        self.saxpy()
        self.assertEqual(self.files("xdg/lockstep"), first)
        for name in first:
            used = (self.path("xdg/lockstep") / name).stat().st_mtime
            self.assertGreater(used, 1, "it was not used")
        self.assertFalse(self.path("home").exists())

    def test_home(self):
        for other in None, "", "relative":
            self.environment(XDG_CACHE_HOME=other)
            self.saxpy()
            self.assertTrue(self.files("home/.cache/lockstep"))
            self.assertFalse(self.path("relative").exists())
            shutil.rmtree(self.path("home"))

    def test_named_folder(self):
        self.saxpy("--cache", "mine/of code")
        self.assertTrue(self.files("mine/of code"))
        self.assertFalse(self.path("xdg").exists())

    def test_none(self):
        self.saxpy("--cache", "mine", "--no-cache")
        self.assertFalse(self.path("mine").exists() or self.path("xdg").exists())
        self.saxpy("--no-cache", "--cache", "mine")
        self.assertTrue(self.files("mine"))

    def test_default_that_cannot_be_used(self):
        self.write("file", "")
        self.environment(XDG_CACHE_HOME=self.path("file"))
        self.saxpy()
        self.environment(XDG_CACHE_HOME=None, HOME=None)
        self.saxpy()
        self.environment(XDG_CACHE_HOME=self.path("open"))
        self.path("open/lockstep").mkdir(parents=True)
        self.path("open/lockstep").chmod(0o777)
        self.saxpy()
        self.assertFalse(self.files("open/lockstep"))

    def test_named_folder_that_cannot_be_used(self):
        self.write("file", "")
        self.path("open").mkdir()
        self.path("open").chmod(0o777)
        conform = ["conform", "--device", "cpu", "--against", "none", "--filter", "op/fadd/f32"]
        for command in SAXPY, conform:
            self.bad(*command, "--cache", "file", says="cannot open the folder 'file'")
            self.bad(*command, "--cache", "file/below", says="cannot make the folder 'file/below'")
            self.bad(*command, "--cache", "", says="cannot make the folder ''")
            self.bad(*command, "--cache", "open", says="'open' is not this user's alone")

    def test_conform_asks_for_it(self):
        conform = ["conform", "--device", "cpu", "--quick", "--filter", "op/fadd/f32"]
        fresh = self.good(*conform)
        self.assertFalse(self.path("xdg").exists())
        self.assertEqual(self.good(*conform, "--cache", "mine"), fresh)
        first = self.files("mine")
        self.assertTrue(first)
        self.assertEqual(self.good(*conform, "--cache", "mine"), fresh)
        self.assertEqual(self.files("mine"), first)


class Warm(Case):
    """A second run compiles nothing, and says the same."""

    KERNEL = """#include "part.kc"
kernel void k(u32 n, u32 *y)
{
    u32 i = global_id(0);
    i;
    y[i] = i + PART + n / 0u;
}
"""
    RUN = ["run", "k.kc", "--device", "cpu", "--cache", "mine", "--global", "4", "n=1"]

    def setUp(self):
        super().setUp()
        self.write("k.kc", self.KERNEL)
        self.write("part.kc", "#define PART 10u\n")

    def run_it(self, *more):
        """What it writes to standard error, and y; None when it fails."""
        done = subprocess.run([cli.COMMAND, *self.RUN, *more, "--save", "y=y.npy"], cwd=self.folder,
                              capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            return done.stderr, None
        return done.stderr, cli.read_npy(self.path("y.npy"))[2]

    def test_warnings_and_changes(self):
        y = "y=zeros:u32:64"
        cold = self.run_it(y)
        self.assertEqual(cold[0].count("warning"), 2)
        self.assertEqual(cold[1][:4], [11, 12, 13, 14])
        self.assertEqual(self.run_it(y), cold)
        self.assertEqual(self.run_it(y, "--no-cache"), cold)
        self.write("part.kc", "#define PART 20u\n")
        self.assertEqual(self.run_it(y)[1][:4], [21, 22, 23, 24])
        self.write("k.kc", self.KERNEL.replace("n / 0u", "n + 1u"))
        self.assertEqual(self.run_it(y)[1][:4], [22, 23, 24, 25])
        self.write("part.kc", "#define PART )\n")
        says = self.run_it(y)
        self.assertIn("k.kc:6", says[0])
        self.assertIn("error", says[0])
        self.assertEqual(self.run_it(y), says)

    def test_out_of_bounds(self):
        says = self.run_it("y=zeros:u32:2")
        self.assertIn("y is too small", says[0])
        self.assertIn("k.kc:6", says[0])
        self.assertEqual(self.run_it("y=zeros:u32:2"), says)

    def test_at_once(self):
        for _ in range(2):
            processes = [subprocess.Popen([cli.COMMAND, *self.RUN, "y=zeros:u32:64", "--save",
                                           f"y=y{i}.npy", "-q"], cwd=self.folder,
                                          stderr=subprocess.DEVNULL) for i in range(4)]
            for i, process in enumerate(processes):
                self.assertEqual(process.wait(120), 0)
                self.assertEqual(cli.read_npy(self.path(f"y{i}.npy"))[2][:4], [11, 12, 13, 14])


class Code(Case):
    """Targets and tiers are other code, and give the same result."""

    def setUp(self):
        super().setUp()
        self.environment(XDG_CACHE_HOME=self.path("xdg"))

    def test_each_is_code_of_its_own(self):
        seen = set()
        for options in [], ["--tier", "quick"], ["--target", "native+scalar"]:
            self.saxpy("--cache", "mine", *options)
            files = {file.name for file in self.path("mine").glob("*.lscode")}
            self.assertGreater(files, seen, options)
            seen = files
        for options in ["--tier", "optimized"], ["--target", "native"]:
            self.saxpy("--cache", "mine", *options)
            self.assertEqual({file.name for file in self.path("mine").glob("*.lscode")}, seen)

    def test_conform(self):
        conform = ["conform", "--device", "cpu", "--quick", "--filter", "op/fadd/f32"]
        plain = self.good(*conform)
        self.assertEqual(self.good(*conform, "--tier", "quick", "--target", "native+scalar"), plain)

    def test_mistakes(self):
        for command in SAXPY[:4], ["conform", "--device", "cpu"]:
            self.bad(*command, "--tier", "slow", says="'slow'", status=2)
        conform = ["conform", "--device", "cpu", "--against", "none", "--filter", "op/fadd/f32"]
        for command in SAXPY, conform:
            self.bad(*command, "--target", "native+x", says=["'native+x'", "one of: native"])
            self.bad(*command, "--target", "quick", says=["'quick'", "one of: native"])
        self.bad("run", "saxpy.kc", "--device", "reference", "--target", "native", *SAXPY[4:],
                 says="no targets")


class Threads(Case):
    def running(self, count):
        """A kernel that does not end, and how to count the threads of its process."""
        self.write("spin.kc", "kernel void spin(u32 *y) { while (y[0] == 0) { y[1] = y[1] + 1; } }\n")
        process = subprocess.Popen(
            [cli.COMMAND, "run", "spin.kc", "--device", "cpu", "--threads", str(count), "--global",
             "1", "y=zeros:u32:2", "--time-limit", "30"], cwd=self.folder,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return lambda: len(os.listdir(f"/proc/{process.pid}/task"))

    def test_number(self):
        few, many = self.running(2), self.running(7)
        deadline = time.monotonic() + 20
        while many() - few() != 5 and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertEqual(many() - few(), 5)

    def test_same_bits(self):
        for count in 0, 1, 3:
            self.saxpy("--threads", count)

    def test_too_many(self):
        self.bad(*SAXPY, "--threads", "257",
                 says="--threads takes a number of at most 256, not '257'", status=2)


if __name__ == "__main__":
    cli.main()
