#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lockstep conform as people use it: certificates, comparison, and a device that computes one operation wrongly.

usage: test_conform.py LOCKSTEP ROOT [TEST...]: all, or classes and tests by name
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

LOCKSTEP, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])


def conform(*arguments):
    # Devices that load no libLLVM: leaks are searched for, other than as libllvm_env of tests/meson.build says.
    leaks = "detect_leaks=1" if {"reference", "fault"} & set(arguments) else None
    options = [os.environ.get("ASAN_OPTIONS"), leaks]
    environment = dict(os.environ, ASAN_OPTIONS=":".join(filter(None, options)))
    result = subprocess.run([LOCKSTEP, "conform", *arguments], capture_output=True, text=True,
                            timeout=300, env=environment)
    return result.returncode, result.stdout, result.stderr


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def certificate(self, *arguments, status=0, name="c.json"):
        path = os.path.join(self.folder, name)
        code, out, err = conform(*arguments, "--report", path)
        self.assertEqual(code, status, out[-2000:] + err)
        with open(path, encoding="utf-8") as file:
            return json.load(file), path, out


class Reference(Case):
    def test_rows_of_each_kind_with_a_digest(self):
        made, _, out = self.certificate("--device", "reference", "--quick")
        kinds = {row["name"].split("/")[0] for row in made["rows"]}
        self.assertEqual(kinds, {"op", "memory", "atomic", "subgroup", "id", "math", "kernel",
                                 "program", "contract"})
        self.assertEqual(made["not_run"], [])
        self.assertEqual(made["failures"], [])
        self.assertIn("digest " + made["digest"], out)
        names = [row["name"] for row in made["rows"]]
        self.assertEqual(len(names), len(set(names)), "row names are unique")
        again, _, _ = self.certificate("--device", "reference", "--quick")
        self.assertEqual(made, again)

    def test_each_operation_of_the_table_has_a_row(self):
        made, _, _ = self.certificate("--device", "reference", "--quick", "--filter", "op/*")
        tested = {row["name"].split("/")[1].split(".")[0] for row in made["rows"]}
        table = (ROOT / "include/lockstep/ops.def").read_text()
        pure = set()
        for line in table.splitlines():
            if line.startswith("LS_OP("):
                parts = line[6:].split(",")
                if parts[5].strip().strip('"').startswith("P"):
                    pure.add(parts[1].strip().strip('"'))
        self.assertGreater(len(pure), 60)
        self.assertEqual(pure - tested, {"const", "param", "id", "range", "frawbits"})

    def test_the_seed_changes_inputs_and_programs(self):
        one, _, _ = self.certificate("--device", "reference", "--quick", "-f", "op/fadd/f32")
        two, _, _ = self.certificate("--device", "reference", "--quick", "-f", "op/fadd/f32",
                                     "--seed", "2")
        self.assertEqual(len(one["rows"]), 1)
        self.assertNotEqual(one["rows"][0]["digest"], two["rows"][0]["digest"])

    def test_a_filter_does_not_change_a_row(self):
        all_rows, _, _ = self.certificate("--device", "reference", "--quick")
        some, _, _ = self.certificate("--device", "reference", "--quick", "--filter", "*/f64")
        digests = {row["name"]: row["digest"] for row in all_rows["rows"]}
        self.assertGreater(len(some["rows"]), 20)
        for row in some["rows"]:
            self.assertEqual(row["digest"], digests[row["name"]])

    def test_the_certificate_fits_its_schema(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("python3-jsonschema is not here")
        schema = json.loads((ROOT / "docs/certificate.schema.json").read_text())
        checks = jsonschema.Draft202012Validator(schema)
        for arguments, status in [(("--device", "reference", "--quick", "--seed", "5"), 0),
                                  (("--device", "fault", "--quick", "--unprobed", "--wrong-op",
                                    "fmul", "--filter", "[ok]*"), 1)]:
            made, _, _ = self.certificate(*arguments, status=status)
            checks.validate(made)
        made["rows"][0]["digest"] = "short"
        self.assertFalse(checks.is_valid(made))


class Comparison(Case):
    def test_equal_when_rows_that_both_ran_are_equal(self):
        _, one, _ = self.certificate("--device", "reference", "--quick", name="one.json")
        fault, two, _ = self.certificate("--device", "fault", "--quick", name="two.json")
        self.assertIn("f64", fault["not_run"][0]["reason"])
        code, out, err = conform("--compare", one, two)
        self.assertEqual(code, 0, out + err)
        self.assertIn("op/fadd/f64: not run in the second: kernel", out)
        self.assertIn(f"{len(fault['rows'])} rows equal, 0 different", out)

    def test_different_rows_are_named(self):
        made, one, _ = self.certificate("--device", "reference", "--quick", "-f", "math/")
        made["rows"][0]["digest"] = "0" * 64
        two = os.path.join(self.folder, "two.json")
        with open(two, "w", encoding="utf-8") as file:
            json.dump(made, file)
        code, out, _ = conform("--compare", one, two)
        self.assertEqual(code, 1)
        self.assertIn(made["rows"][0]["name"] + ": different", out)

    def test_what_is_not_comparable(self):
        _, one, _ = self.certificate("--device", "reference", "--quick", "-f", "math/")
        _, two, _ = self.certificate("--device", "reference", "--quick", "-f", "math/", "--seed",
                                     "2", name="two.json")
        bad = os.path.join(self.folder, "bad.json")
        for text, what in [("{", "not JSON"), ("{}", "not a certificate"), ("[1]", "not a")]:
            with open(bad, "w", encoding="utf-8") as file:
                file.write(text)
            code, _, err = conform("--compare", one, bad)
            self.assertEqual(code, 1)
            self.assertIn(what, err)
        code, _, err = conform("--compare", one, two)
        self.assertEqual(code, 1)
        self.assertIn("'seed'", err)


class WrongOperation(Case):
    """--wrong-op spoils results that have bit 4 set; the fault device is the reference otherwise."""

    def fault(self, op, *arguments, status):
        made, _, out = self.certificate("--device", "fault", "--quick", "--wrong-op", op,
                                        *arguments, status=status)
        return made, out

    def test_it_is_found_named_located_and_reduced(self):
        made, out = self.fault("add", "--unprobed", "--filter", "op/*", status=1)
        rows = {failure["row"]: failure for failure in made["failures"]}
        self.assertEqual(set(rows), {"op/add/i32", "op/add/i64"})
        failure = rows["op/add/i32"]
        self.assertEqual((failure["operation"], failure["type"], failure["lanes"]), ("add", "i32", 1))
        # The smallest operands whose sum has bit 4: one of them is 16 and the other 0, or they carry.
        self.assertEqual(sum(int(bits, 16) for bits in failure["inputs"]), 16)
        self.assertEqual(failure["expected"], "0x00000010")
        self.assertEqual(failure["got"], "0x00000011")
        self.assertIn("FAIL op/add/i32: bits differ: add i32 of 0x", out)

    def test_a_random_program_is_reduced(self):
        made, out = self.fault("add", "--unprobed", "--filter", "program/groups/3", status=1)
        text = made["failures"][0]["program"]
        self.assertIn("kernel", text)
        self.assertIn(text, out)
        self.assertLess(len(text.splitlines()), 25)

    def test_the_probe_catches_it_and_the_lowering_gives_the_right_bits(self):
        lowered, _ = self.fault("fdiv", "--filter", "[omk]*", status=0)
        right, _, _ = self.certificate("--device", "fault", "--quick", "--filter", "[omk]*")
        self.assertIn("op/fdiv/f32", [row["name"] for row in lowered["rows"]])
        self.assertEqual(lowered["digest"], right["digest"])

    def test_what_has_no_lowering_is_refused_by_name(self):
        made, out = self.fault("select", "--filter", "op/select/i32", status=1)
        self.assertEqual(made["rows"], [])
        self.assertIn("nothing is shown: no row could be run", out)
        self.assertIn("'select i32' wrongly", made["not_run"][0]["reason"])


class Cpu(Case):
    """The digest of the cpu device, whatever its threads and lowerings, is the reference's."""

    def setUp(self):
        super().setUp()
        listed = subprocess.run([LOCKSTEP, "devices"], capture_output=True, text=True, check=True)
        lines = listed.stdout.splitlines()
        at = [i for i, line in enumerate(lines) if line.startswith("cpu ")]
        if not at or (at[0] + 1 < len(lines) and "not usable" in lines[at[0] + 1]):
            self.skipTest("no cpu device in this build")

    def digest(self, *arguments):
        made = self.certificate(*arguments)[0]
        self.assertTrue(made["rows"], arguments)
        return made["digest"]

    def test_all_rows(self):
        reference = self.digest("--device", "reference", "--quick")
        self.assertEqual(self.digest("--device", "cpu", "--quick"), reference)

    def test_threads(self):
        rows = ("--quick", "--filter", "kernel/")
        reference = self.digest("--device", "reference", *rows)
        cache = os.path.join(self.folder, "code")  # another number of threads is no other code
        for threads in "1", "2", "7":
            self.assertEqual(self.digest("--device", "cpu", "--threads", threads, "--cache", cache,
                                         *rows), reference)

    def test_each_lowering(self):
        lowerings = {"bounds": "memory/*", "nan": "op/f*", "fma": "op/fma/*", "div": "op/fdiv/*",
                     "sqrt": "op/fsqrt/*", "convert": "op/*-f*", "minmax": "op/fm*",
                     "round": "op/f[fctr]*", "integer": "op/[su]*", "dot4": "op/dot4*",
                     "subgroup": "subgroup/*", "int64": "op/*/i64",
                     "memory": "[mk]*/[cm]*",  # memory/copy, kernel/mandelbrot
                     "grid_barrier": "kernel/prefix_scan/*",
                     "all": "kernel/*"}
        table = (ROOT / "src/ir/lowering.h").read_text()
        names = {name.lower() for name in re.findall(r"^    X\((\w+),", table, re.M)}
        self.assertEqual(set(lowerings), names | {"all"})
        for lowering, rows in lowerings.items():
            with self.subTest(lowering):
                rows = ("--quick", "--filter", rows)
                reference = self.digest("--device", "reference", *rows)
                for device in "reference", "cpu":
                    self.assertEqual(self.digest("--device", device, "--lower", lowering, *rows),
                                     reference)


class CommandLine(Case):
    def test_mistakes(self):
        for arguments, what in [((), "--device is needed"), (("--compare", "x"), "two"),
                                (("--device", "reference", "extra"), "'extra'"),
                                (("--device", "reference", "--seed", "x"), "x")]:
            code, _, err = conform(*arguments)
            self.assertEqual(code, 2)
            self.assertIn(what, err)
        code, out, err = conform("--device", "reference", "--filter", "nothing")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("no row's name fits the filter 'nothing'", err)
        self.assertIn("--report", err)
        code, _, err = conform("--device", "nowhere")
        self.assertEqual(code, 1)
        self.assertIn("there is no device 'nowhere'", err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
