#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/gpu-check: on a device of this build, and on commands that are made up and wrong.

usage: test_gpu_check.py ROOT BUILD SCRATCH DEVICE LOCKSTEP [TEST...]   (DEVICE empty: the made-up ones only)
"""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

ROOT, BUILD, SCRATCH = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
DEVICE = sys.argv[4]
TOOL = ROOT / "tools/gpu-check"

# A command that answers as lockstep does. `WRONG` says what is wrong with device x:0.
FAKE = r"""#!{python}
import json, os, pathlib, sys, time
wrong = os.environ.get("WRONG", "")
words = sys.argv[1:]
value = lambda name: words[words.index(name) + 1]
if words[0] == "devices":
    print("x:0          gpu        " + os.environ.get("DESCRIPTION", "a card"))
    print("y:0          gpu        another\n    not usable: it is not there")
    print("reference    reference  the interpreter that defines the results")
elif words[0] == "--version":
    print("lockstep 0\nbit contract 1")
elif words[0] == "conform":
    bad = wrong == "conform"
    json.dump(dict(rows=[1, 2], failures=[1] * bad, not_run=[], quick="--quick" in words,
                   digest="ab" * 32), open(value("--report"), "w"))
    sys.exit(bad)
elif words[0] == "cosim":
    if wrong == "hang" and value("--device") == "x:0":
        time.sleep(60)
    if wrong == "no waveform":
        sys.exit("it broke")
    pathlib.Path(value("--output-vcd")).write_text(value("--device") if wrong == "cosim" else "wave")
elif words[0] == "tune":
    print(json.dumps(dict(chosen=dict(LANES=32), kept=True, time_of="device", candidates=[
        dict(values=dict(LANES=64), time_ns=5000), dict(values=dict(LANES=32), time_ns=4000),
        dict(values=dict(LANES=512), left_out="too many")])))
    sys.exit("it differs" if wrong == "tune" else 0)
elif words[0] == "run":
    untuned = "--untuned" in words
    pathlib.Path(value("--save").partition("=")[2]).write_text("b" if wrong == "tuned bytes" and untuned else "a")
    print("ran" if untuned or wrong == "not taken" else "tuned: LANES=32")
elif words[0] == "generate":
    print("logits: " + ("0" if wrong == "model" and value("--device") == "x:0" else "1") * 64)
"""
BENCH = r"""#!{python}
import os, sys
print("dispatch 5 us host\ncopy 100 GB/s device")
if os.environ.get("WRONG") == "bench":
    sys.exit("out of memory")
print("saxpy 90 GB/s device\ngemv_int8 70 GB/s device")
"""
CONTRACT = r"""#!{python}
import os, sys
print("[  PASSED  ] 3 test(s).\n[  PASSED  ] 4 test(s).")
if os.environ.get("WRONG") == "contract":
    print("[  FAILED  ] fills_repeat")
    sys.exit(1)
"""


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.replace("{python}", sys.executable))
    path.chmod(0o755)


def run(*options, **environment):
    """Exit status, the table, the file."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    output = SCRATCH / "out.json"
    output.unlink(missing_ok=True)
    result = subprocess.run([sys.executable, str(TOOL), "--out", str(output), *map(str, options)],
                            env=dict(os.environ, **environment), text=True, check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    text = json.loads(output.read_text()) if output.exists() else None
    return result.returncode, result.stdout + result.stderr, text


class MadeUp(unittest.TestCase):
    """A build whose programs say what they are told to."""

    @classmethod
    def setUpClass(cls):
        shutil.rmtree(SCRATCH, ignore_errors=True)
        cls.build = SCRATCH / "build"
        script(cls.build / "src/cli/lockstep", FAKE)
        script(cls.build / "bench/device/device_bench", BENCH)
        script(cls.build / "tests/contract/contract", CONTRACT)

    def rows(self, text):
        return {row["step"]: row for row in text["rows"]}

    def test_good(self):
        status, table, text = run("--build", self.build)
        self.assertEqual((status, text["failed"]), (0, []), table)
        rows = self.rows(text)
        self.assertEqual(rows["contract suite"]["what"], "7 tests")
        self.assertEqual((rows["saxpy"]["result"], rows["saxpy"]["share_of_copy"]), ("met", 0.9))
        self.assertEqual(rows["int8 matrix-vector"]["result"], "missed")
        self.assertEqual((rows["empty prepared dispatch"]["result"],
                          rows["empty prepared dispatch"]["value"]), ("met", 5))
        self.assertEqual(rows["tuner"]["what"],
                         "LANES=32 by the device's clock: 64 lanes 5 us, 32 lanes 4 us, 512 lanes left out")
        self.assertEqual(text["certificate"]["digest"], "ab" * 32)
        self.assertEqual((text["device"]["name"], text["device"]["reality"]), ("x:0", "gpu"))
        self.assertNotIn("NOT A GPU", table)
        for step in rows:
            self.assertIn(step, table)
        self.assertEqual([p for p in self.build.iterdir() if p.name.startswith("gpu-check")], [])

    def test_what_is_wrong_fails(self):
        for wrong, steps in {"contract": ["contract suite"], "conform": ["conform"],
                             "cosim": ["cosim, compiled", "cosim, table"], "model": ["language model"],
                             "tune": ["tuner"], "tuned bytes": ["tuner"], "not taken": ["tuner"],
                             "no waveform": ["cosim, compiled", "cosim, table"]}.items():
            status, table, text = run("--build", self.build, WRONG=wrong)
            self.assertEqual((status, text["failed"]), (1, steps), table)
            self.assertIn("FAILED: " + ", ".join(steps), table)

    def test_what_is_missing_is_not_measured(self):
        status, table, text = run("--build", self.build, WRONG="bench")
        rows = self.rows(text)
        self.assertEqual(status, 0, table)
        self.assertEqual(rows["benchmark"]["result"], "not measured")
        self.assertIn("out of memory", rows["benchmark"]["what"])
        self.assertEqual(rows["saxpy"]["result"], "not measured")
        self.assertEqual(rows["empty prepared dispatch"]["result"], "met")

    def test_time_runs_out(self):
        loader = importlib.machinery.SourceFileLoader("gpu_check", str(TOOL))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_check", loader))
        loader.exec_module(module)
        module.LIMIT_SECONDS = 20  # of which a waveform gets 6
        sys.argv = ["gpu-check", "--build", str(self.build), "--out", str(SCRATCH / "late.json")]
        os.environ["WRONG"] = "hang"
        try:
            self.assertEqual(module.main(), 0)
        finally:
            del os.environ["WRONG"]
        rows = self.rows(json.loads((SCRATCH / "late.json").read_text()))
        self.assertEqual(rows["cosim, compiled"]["result"], "not measured")
        self.assertRegex(rows["cosim, compiled"]["what"], "not done after")

    def test_what_is_no_gpu_is_named(self):
        status, table, text = run("--build", self.build, DESCRIPTION="emulated card")
        self.assertEqual((status, text), (2, None), table)  # never taken unasked
        self.assertIn("there is no GPU", table)
        status, table, text = run("--build", self.build, "--device", "x:0", DESCRIPTION="emulated card")
        self.assertEqual((status, text["device"]["reality"]), (0, "emulated"))
        self.assertIn("EMULATED: no number here is of a GPU", table)
        self.assertEqual(self.rows(text)["saxpy"]["result"], "measured")
        _, table, text = run("--build", self.build, "--device", "reference")
        self.assertIn("NOT A GPU", table)

    def test_it_cannot_begin(self):
        for options, says in ((["--device", "y:0"], "it is not there"), (["--device", "z"], "no device z"),
                              (["--build", SCRATCH / "none"], "there is no"),
                              (["--out", SCRATCH / "none" / "a.json"], "cannot be written"),
                              (["--out", SCRATCH], "it is a folder"), (["--out", ""], "cannot be written"),
                              (["--out", "/proc/a.json"], "cannot be written")):
            status, table, text = run("--build", self.build, *options)
            self.assertEqual((status, text), (2, None), table)
            self.assertIn(says, table)


class Real(unittest.TestCase):
    """This build."""

    def test_device(self):
        if not DEVICE:
            self.skipTest("no device of this build is fast enough")
        status, table, text = run("--build", BUILD, "--device", DEVICE, "--quick")
        self.assertEqual(status, 0, table)
        results = {row["step"]: row["result"] for row in text["rows"]}
        self.assertEqual(results, {
            "build": "given", "contract suite": "passed", "conform": "passed", "cosim, compiled": "equal",
            "cosim, table": "equal", "tuner": "equal", "language model": "equal", "benchmark": "measured", "copy": "measured",
            "saxpy": "measured", "int8 matrix-vector": "measured", "empty prepared dispatch": "measured"},
            table)
        self.assertEqual(text["certificate"]["device"], DEVICE)
        self.assertNotEqual(text["device"]["reality"], "gpu")
        if DEVICE.startswith("cuda"):
            self.assertIn("EMULATED", table)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[6:])
