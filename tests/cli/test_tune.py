#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lockstep tune, and what lockstep run makes of it. Which candidate is fastest is never looked at."""

import json
import os
import pty
import subprocess

import cli

NBODY = ["nbody.kc", "--global", "70", "n=70", "dt=0.01", "softening=0.01", "bodies=random:f32:2x70x4:1",
         "velocities=zeros:f32:70x3"]
CANDIDATES = [{"LANES": lanes} for lanes in (64, 32, 128, 256)]
SMALL = ["--global", "256", "y=zeros:u32:256"]
NO_CONSTANT = "no SPEC constant is named 'NOPE'"


class Tune(cli.Case):
    def setUp(self):
        super().setUp()
        old = os.environ.get("XDG_CACHE_HOME")
        self.addCleanup(lambda: os.environ.pop("XDG_CACHE_HOME") if old is None
                        else os.environ.update(XDG_CACHE_HOME=old))
        os.environ["XDG_CACHE_HOME"] = str(self.path("cache"))

    def needs_cpu(self):
        out = self.good("devices").splitlines()
        at = [i for i, line in enumerate(out) if line.startswith("cpu ")]
        if not at or "not usable" in "".join(out[at[0] + 1:at[0] + 2]):
            self.skipTest("the cpu device cannot be used")

    def tune(self, *args):
        found = json.loads(self.good("tune", "--json", "--rounds", "2", *args))
        self.assertIn(found["chosen"], [c["values"] for c in found["candidates"]])
        return found

    def run_nbody(self, file, *options):
        out = self.good("run", *NBODY, "--repeat", "2", "--save", f"bodies={file}", *options)
        return [line for line in out.splitlines() if line.startswith("tuned: ")], self.path(file).read_bytes()

    def test_a_choice_is_kept_and_used(self):
        self.needs_cpu()
        none, plain = self.run_nbody("plain.npy")
        found = self.tune(*NBODY)
        self.assertEqual([c["values"] for c in found["candidates"]], CANDIDATES)
        self.assertEqual((found["kernel"], found["device"], found["rounds"], found["kept"], found["not_kept"]),
                         ("nbody", "cpu", 2, True, None))
        for candidate in found["candidates"]:
            self.assertGreater(candidate["time_ns"], 0)
        self.assertEqual(found["candidates"][0]["ratio"], 1)
        said = [f"tuned: LANES={found['chosen']['LANES']}"]
        self.assertEqual(none, [])
        self.assertEqual(self.run_nbody("tuned.npy"), (said, plain))
        self.assertEqual(self.run_nbody("untuned.npy", "--untuned"), ([], plain))
        self.assertEqual(self.run_nbody("none.npy", "--no-cache"), ([], plain))
        self.assertEqual(self.run_nbody("other.npy", "--cache", "elsewhere"), ([], plain))
        for lanes in (64, 32):  # the default, too, when somebody says so
            self.assertEqual(self.run_nbody("set.npy", f"-DLANES={lanes}"), ([], plain))
        self.assertEqual(self.run_nbody("reference.npy", "--device", "reference"), ([], plain))
        self.assertEqual(self.run_nbody("unchecked.npy", "--unchecked", "--quiet"), ([], plain))
        self.write("nbody.kc", self.path("nbody.kc").read_text() + "/* another line changes nothing */\n")
        self.assertEqual(self.run_nbody("line.npy"), (said, plain))
        for file in self.path("cache").rglob("*.*"):
            file.write_bytes(file.read_bytes()[:-1])
        self.assertEqual(self.run_nbody("damaged.npy"), ([], plain))
        self.tune(*NBODY)
        self.assertEqual(len(self.run_nbody("again.npy")[0]), 1)

    def test_out_of_bounds_is_found_in_tuned_kernels(self):
        self.needs_cpu()
        self.write("k.kc", "SPEC(u32, GROUP, 32, 64, 128);\nkernel workgroup(GROUP) void k(u32 *y)\n"
                           "{\n    y[global_id(0)] = 1;\n}\n")
        self.tune("k.kc", *SMALL)
        self.assertIn("tuned: GROUP=", self.good("run", "k.kc", *SMALL))
        self.bad("run", "k.kc", "--global", "200", "y=zeros:u32:200", says="writes y[200] (k.kc:4)")

    def test_workgroups_in_place_of_lanes(self):
        self.needs_cpu()
        self.write("k.kc", "SPEC(u32, GROUP, 32, 64, 128);\nkernel workgroup(GROUP) void k(u32 *y)\n"
                           "{\n    if (local_id(0) == 0) y[workgroup_id(0)] = workgroup_count(0);\n}\n")
        rows = ["--workgroups", "7", "y=zeros:u32:7"]
        group = self.tune("k.kc", *rows)["chosen"]["GROUP"]
        out = self.good("run", "k.kc", *rows, "--save", "y=y.npy")
        self.assertIn(f"k: ran {7 * group} lanes on cpu in ", out)
        self.assertIn(f"tuned: GROUP={group}\n", out)
        self.assertEqual(cli.read_npy(self.path("y.npy"))[2], [7] * 7)
        self.bad("tune", "k.kc", "--global", "448", "y=zeros:u32:14", says="computes something else with GROUP=64")
        for command in ("run", "tune"):
            self.bad(command, "k.kc", "--global", "7", "--workgroups", "7", "y=zeros:u32:7", status=2,
                     says="do not go together")
            self.bad(command, "k.kc", "--workgroups", "1,x", "y=zeros:u32:7", status=2,
                     says="--workgroups takes up to three numbers of workgroups")
            self.bad(command, "k.kc", "--workgroups", str(2**32 - 1), "y=zeros:u32:7", says="too many lanes")

    def test_the_table(self):
        self.needs_cpu()
        lines = self.good("tune", *NBODY, "--rounds", "1").splitlines()
        self.assertRegex(lines[0], r"^nbody on cpu \(.*\): 4 candidates, 1 round, time of the host \(.*\)$")
        self.assertRegex(lines[1], r"^  LANES=64  +\d+\.\d{4} ms +1\.00  the default(, chosen)?$")
        self.assertRegex(lines[4], r"^  LANES=256 +\d+\.\d{4} ms +\d+\.\d\d(  chosen)?$")
        self.assertEqual(sum("chosen" in line for line in lines), 1)
        self.assertRegex(lines[5], r"^kept: lockstep run takes LANES=(64|32|128|256) on this device$")
        self.assertEqual(len(lines), 6)
        self.assertEqual(self.good("tune", *NBODY, "--rounds", "1", "--no-cache").splitlines()[5],
                         "not kept: the device has no cache folder to keep it in")

    @staticmethod
    def read(terminal):
        try:
            return os.read(terminal, 4096).decode()
        except OSError:  # all is read, and nobody writes any more
            return ""

    def test_progress_is_shown_on_a_terminal(self):
        terminal, theirs = pty.openpty()
        self.addCleanup(os.close, terminal)
        result = subprocess.run([cli.COMMAND, "tune", *NBODY, "--rounds", "3", "--device", "reference"], cwd=self.folder,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs, timeout=300)
        os.close(theirs)
        shown = ""
        while part := self.read(terminal):
            shown += part
        self.assertEqual(result.returncode, 0, shown)
        steps = "".join(f"\r\033[Kstep {step} of 20 (Ctrl-C to stop)" for step in range(1, 21))  # 4 candidates, 2 + 3 times
        self.assertEqual(shown, steps + "\r\033[K")

    def test_limits_of_a_device(self):
        found = self.tune("matmul.kc", "--device", "fault", "--global", "4,4", "rows=4", "columns=4", "depth=4",
                          "a=iota:f32:4x4", "b=iota:f32:4x4", "c=zeros:f32:4x4")
        large = found["candidates"][2]
        self.assertEqual((large["values"], set(large)), ({"TILE": 32}, {"values", "left_out"}))
        self.assertIn("needs 1024 lanes in a workgroup, device 'fault' has 256", large["left_out"])
        self.assertNotEqual(found["chosen"], {"TILE": 32})

    def test_results_must_not_depend_on_the_choice(self):
        self.write("k.kc", "SPEC(u32, GROUP, 64, 32);\nkernel workgroup(GROUP) void k(u32 *y)\n"
                           "{\n    y[global_id(0)] = workgroup_id(0);\n}\n")
        for device in ("reference", "fault"):
            self.bad("tune", "k.kc", *SMALL, "--device", device,
                     says="'k' computes something else with GROUP=32 than with GROUP=64: y[32] is the first")

    def test_what_cannot_be_tuned(self):
        reference = ["--device", "reference"]
        self.bad("tune", *NBODY, *reference, "-DLANES=64", says="nothing to tune: no SPEC constant that is not fixed names further values")
        self.bad("tune", "saxpy.kc", *reference, "-g", "8", "n=8", "a=2", "x=iota:f32:8", "y=fill:f32:8:1",
                 says="nothing to tune")
        self.bad("tune", *NBODY[:-1], *reference, says="no value is given for 'velocities'")
        self.bad("tune", "missing.kc", *SMALL, says="missing.kc")
        self.write("k.ir", "lockstep ir 3\n")
        self.bad("tune", "k.ir", *SMALL, says="constants of an IR file are fixed")
        for options, says in (((), "--global"), (("-g", "1", "--rounds", "0"), "from 1 on"),
                              (("-g", "1", "--rounds", "x"), "--rounds takes a number"),
                              (("-g", "1", "--sanitize"), "--sanitize")):
            self.bad("tune", "nbody.kc", *options, says=says, status=2)
        result = self.run_command("tune", *NBODY, *reference, "-DNOPE=1")
        self.assertEqual(result.returncode, 1)
        self.assertIn(NO_CONSTANT, result.stderr)


if __name__ == "__main__":
    cli.main()
