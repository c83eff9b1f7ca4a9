#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`lockstep run` where all goes well: types, sources of data, saved files, options."""

import json
import re
import shutil

import cli

TYPES = {"bool": "|b1", "i8": "|i1", "u8": "|u1", "i16": "<i2", "u16": "<u2", "i32": "<i4",
         "u32": "<u4", "i64": "<i8", "u64": "<u8", "f16": "<f2", "f32": "<f4", "f64": "<f8",
         "bf16": "<u2"}

SAXPY = ["run", "saxpy.kc", "--global", "8", "n=8", "a=2", "x=iota:f32:8"]


class Run(cli.Case):
    def test_saxpy(self):
        out = self.good(*SAXPY, "y=fill:f32:8:1", "--save", "y=out.npy")
        self.assertEqual(cli.read_npy(self.path("out.npy")),
                         ("<f4", (8,), [2.0 * i + 1 for i in range(8)]))
        self.assertRegex(out, r"^saxpy: ran 8 lanes on \w+ in ")
        self.assertIn("saved y to out.npy (f32 8)", out)

    def test_quiet(self):
        self.assertEqual(self.good(*SAXPY, "y=zeros:f32:8", "-q"), "")

    def test_kernel_by_name(self):
        self.write("two.kc", "kernel void a(u32 *y) { y[0] = 1u; }\n"
                             "kernel void b(u32 *y) { y[0] = 2u; }\n")
        self.good("run", "two.kc", "--kernel", "b", "--global", "1", "y=zeros:u32:1",
                  "--save", "y=y.npy")
        self.assertEqual(cli.read_npy(self.path("y.npy"))[2], [2])

    def test_every_type_goes_through_a_file(self):
        for name, descr in TYPES.items():
            with self.subTest(name):
                self.write("copy.kc", f"kernel workgroup(1) void copy(const {name} *x, {name} *y)\n"
                                      "{ u32 i = global_id(0); y[i] = x[i]; }\n")
                values = [0, 1, 1, 0, 1] if name in ("bool", "bf16") else [0, 1, 2, 77, 5]
                cli.write_npy(self.path("in.npy"), descr, values)
                self.good("run", "copy.kc", "--global", "5", "x=@in.npy", f"y=zeros:{name}:5",
                          "--save", "y=out.npy")
                self.assertEqual(cli.read_npy(self.path("out.npy")), (descr, (5,), values))
                self.assertEqual(self.path("out.npy").read_bytes()[-1:],
                                 self.path("in.npy").read_bytes()[-1:])

    def test_every_scalar_type(self):
        values = {"bool": "true", "i8": "-128", "u8": "255", "i16": "-32768", "u16": "65535",
                  "i32": "-2147483648", "u32": "0xffffffff", "i64": "-9223372036854775808",
                  "u64": "18446744073709551615", "f32": "0.5", "f64": "1e300"}
        for name, value in values.items():
            with self.subTest(name):
                self.write("one.kc", f"kernel void one(u8 before, {name} x, {name} *y) "
                                     "{ if (global_id(0) == 0) y[0] = x; }\n")
                self.good("run", "one.kc", "--global", "1", "before=1", f"x={value}",
                          f"y=zeros:{name}:1", "--save", "y=y.npy")
                expected = {"true": True}.get(value)
                if expected is None:
                    expected = float(value) if name[0] == "f" else int(value, 0)
                self.assertEqual(cli.read_npy(self.path("y.npy"))[2], [expected])

    def test_half_scalars(self):
        self.write("h.kc", "kernel void h(f16 a, bf16 b, f32 *y) "
                           "{ y[0] = f16_to_f32(a); y[1] = bf16_to_f32(b); }\n")
        self.good("run", "h.kc", "--global", "1", "a=0.1", "b=0.1", "y=zeros:f32:2",
                  "--save", "y=y.npy")
        self.assertEqual(cli.read_npy(self.path("y.npy"))[2], [0.0999755859375, 0.10009765625])

    def test_structs(self):
        self.write("s.kc", "struct point { f32 x; i32 n; };\n"
                           "kernel void s(struct point by, struct point *p)\n"
                           "{ u32 i = global_id(0); if (i < 2) "
                           "{ p[i].x = p[i].x + by.x; p[i].n = p[i].n + by.n; } }\n")
        descr = [("x", "<f4"), ("n", "<i4")]
        data = bytes.fromhex("0000803f 01000000 00000040 02000000")
        self.path("in.npy").write_bytes(cli.npy_bytes(descr, (2,), data))
        self.good("run", "s.kc", "--global", "2", "by=hex:0000803f0a000000", "p=@in.npy",
                  "--save", "p=out.npy", "--save", "p=out.bin")
        for name in "point", "struct point":
            self.good("run", "s.kc", "--global", "2", "by=hex:0000803f0a000000",
                      f"p=zeros:{name}:2")
        added = bytes.fromhex("00000040 0b000000 00004040 0c000000")
        self.assertEqual(cli.read_npy(self.path("out.npy")), (descr, (2,), added))
        self.assertEqual(self.path("out.bin").read_bytes(), added)

    def test_raw_files(self):
        self.path("x.bin").write_bytes(bytes([1, 2, 3, 4]))
        self.write("b.kc", "kernel workgroup(1) void b(u16 *x) { x[0] = (u16)(x[0] + 1); }\n")
        self.good("run", "b.kc", "--global", "1", "x=@x.bin", "--save", "x=y.bin")
        self.assertEqual(self.path("y.bin").read_bytes(), bytes([2, 2, 3, 4]))

    def test_shape_is_kept(self):
        cli.write_npy(self.path("in.npy"), "<f4", [1.0] * 6, (2, 3))
        self.good("run", "saxpy.kc", "--global", "6", "n=6", "a=1", "x=@in.npy", "y=@in.npy",
                  "--save", "y=in.npy", "--save", "x=x.npy")
        self.assertEqual(cli.read_npy(self.path("in.npy")), ("<f4", (2, 3), [2.0] * 6))
        self.assertEqual(cli.read_npy(self.path("x.npy")), ("<f4", (2, 3), [1.0] * 6))

    def test_random_is_fixed_and_below_one(self):
        values = {}
        for name in "first", "second":
            self.good("run", "saxpy.kc", "--global", "1", "n=0", "a=0", "x=random:f32:1000:7",
                      "y=random:f32:1000:8", "--save", f"x={name}.npy", "--save", "y=other.npy")
            values[name] = cli.read_npy(self.path(name + ".npy"))[2]
        self.assertEqual(values["first"], values["second"])
        self.assertNotEqual(values["first"], cli.read_npy(self.path("other.npy"))[2])
        self.assertTrue(all(0 <= v < 1 for v in values["first"]))
        self.assertAlmostEqual(sum(values["first"]) / 1000, 0.5, delta=0.05)

    def test_picture(self):
        self.good("run", "mandelbrot.kc", "--global", "4,3", "width=4", "height=3",
                  "image=zeros:u8:3x4", "--save", "image=a.pgm")
        data = self.path("a.pgm").read_bytes()
        self.assertEqual(data[:11], b"P5\n4 3\n255\n")
        self.assertEqual(len(data), 11 + 12)

    def test_constants(self):
        self.write("c.kc", "SPEC(i32, N, 3);\nkernel void c(i32 *y) { y[0] = N; }\n")
        for option, expected in ((), 3), (("-DN=-7",), -7), (("-D", "N=0x10"), 16):
            self.good("run", "c.kc", "--global", "1", "y=zeros:i32:1", *option, "--save", "y=y.npy")
            self.assertEqual(cli.read_npy(self.path("y.npy"))[2], [expected])

    def test_dimensions(self):
        self.write("d.kc", "kernel workgroup(1, 1, 1) void d(u32 *y)\n"
                           "{ y[(global_id(2) * 3 + global_id(1)) * 2 + global_id(0)] = "
                           "global_size(0) * 100 + global_size(1) * 10 + global_size(2); }\n")
        self.good("run", "d.kc", "--global", "2,3,4", "y=zeros:u32:4x3x2", "--save", "y=y.npy")
        self.assertEqual(cli.read_npy(self.path("y.npy")), ("<u4", (4, 3, 2), [234] * 24))

    def test_no_lanes(self):
        self.good("run", "saxpy.kc", "--global", "0", "n=8", "a=2", "x=iota:f32:8",
                  "y=fill:f32:8:1", "--save", "y=y.npy")
        self.assertEqual(cli.read_npy(self.path("y.npy"))[2], [1.0] * 8)

    def test_repeat(self):
        self.write("r.kc", "kernel void r(u32 *y) "
                           "{ if (global_id(0) == 0) y[iteration()] = iteration() + 1; }\n")
        self.good("run", "r.kc", "--global", "1", "y=zeros:u32:5", "--repeat", "4",
                  "--save", "y=y.npy")
        self.assertEqual(cli.read_npy(self.path("y.npy"))[2], [1, 2, 3, 4, 0])

    def test_schedules_and_lowering_change_nothing(self):
        results = set()
        for options in ([], ["--schedule", "reverse"], ["--schedule", "seed:5"],
                        ["--lower", "all"], ["--unchecked"], ["--device", "reference"],
                        ["--sanitize"]):
            self.good("run", "reduction.kc", "--global", "512", "n=5000", "x=random:f32:5000:3",
                      "sums=zeros:f32:2", "--save", "sums=s.npy", *options)
            results.add(self.path("s.npy").read_bytes())
        self.assertEqual(len(results), 1)

    def test_grid_barrier_native_and_split(self):
        self.write("g.kc", "kernel void g(const u32 *x, u32 *sums, u32 *y)\n{\n"
                           "    u32 s = subgroup_add(x[global_id(0)]);\n"
                           "    if (lane_id() == 0)\n"
                           "        sums[workgroup_id(0) * 2 + subgroup_id()] = s;\n"
                           "    grid_barrier();\n"
                           "    for (u32 k = 0; k < 8; k++)\n"
                           "        y[global_id(0)] += sums[k];\n}\n")
        for options in ([], ["--lower", "grid_barrier"], ["--device", "fault"]):
            self.good("run", "g.kc", "--global", "256", "x=iota:u32:256", "sums=zeros:u32:8",
                      "y=zeros:u32:256", "--save", "y=y.npy", *options)
            self.assertEqual(cli.read_npy(self.path("y.npy"))[2], [255 * 128] * 256, options)

    def test_ir_files(self):
        self.good("compile", "saxpy.kc", "-o", "saxpy.ir")
        self.good("compile", "saxpy.kc", "--emit", "irb", "-o", "saxpy.irb")
        self.good("compile", "saxpy.ir", "--emit", "irb", "-o", "again.irb")
        self.assertEqual(self.path("saxpy.irb").read_bytes(), self.path("again.irb").read_bytes())
        self.good("compile", "saxpy.kc", "--after", "all", "--lower", "all", "-o", "low.ir")
        for name in "saxpy.ir", "saxpy.irb", "low.ir":
            self.good("run", name, *SAXPY[2:], "y=fill:f32:8:1", "--save", "y=y.npy")
            self.assertEqual(cli.read_npy(self.path("y.npy"))[2], [2.0 * i + 1 for i in range(8)])

    def test_spirv(self):
        result = self.run_command("compile", "saxpy.kc", "--emit", "spirv", "-o", "saxpy.spv")
        if "no code generator for Vulkan" in result.stderr:
            self.skipTest("a build without the SPIR-V headers")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.path("saxpy.spv").read_bytes()[:8], b"\x03\x02\x23\x07\0\5\1\0")
        self.good("compile", "saxpy.kc", "--emit", "spirv", "--kernel", "saxpy", "--target",
                  "vulkan1.2+div", "--lower", "sqrt", "-o", "other.spv")
        result = self.run_command("compile", "saxpy.kc", "--emit", "spirv-text")
        if shutil.which("spirv-dis"):
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("OpEntryPoint GLCompute", result.stdout)
        else:
            self.assertEqual(result.returncode, 1)
            self.assertIn("spirv-dis", result.stderr)

    def test_ptx(self):
        self.write("two.kc", "kernel void first(u32 *y) { y[global_id(0)] = 1u; }\n"
                             "kernel workgroup(8) void second(u32 *y) { y[0] = 2u; }\n")
        result = self.run_command("compile", "two.kc", "--emit", "ptx")
        if result.returncode and ("code generator for PTX" in result.stderr or
                                  "libLLVM" in result.stderr):
            self.skipTest(result.stderr)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(".target sm_75", result.stdout)
        self.assertEqual(result.stdout.count(".visible .entry"), 2)
        self.assertIn("// ls_kernel_1 is first, in blocks of 64 lanes\n", result.stdout)
        self.good("compile", "two.kc", "--emit", "ptx", "--arch", "sm_90+grid", "-k", "second",
                  "-o", "second.ptx")
        text = self.path("second.ptx").read_text()
        self.assertIn(".target sm_90", text)
        self.assertIn("is second, in blocks of 8 lanes", text)
        self.assertEqual(text.count(".visible .entry"), 1)

    def test_include(self):
        self.write("part.kc", "static f32 twice(f32 x) { return x + x; }\n")
        self.write("t.kc", '#include "part.kc"\n'
                           "kernel workgroup(1) void t(f32 *y) { y[0] = twice(y[0]); }\n")
        self.good("run", "t.kc", "--global", "1", "y=fill:f32:1:3", "--save", "y=y.npy")
        self.assertEqual(cli.read_npy(self.path("y.npy"))[2], [6.0])

    def test_trace(self):
        self.good(*SAXPY, "y=zeros:f32:8", "--trace", "t.json")
        trace = json.loads(self.path("t.json").read_text())
        events = trace["traceEvents"] if isinstance(trace, dict) else trace
        self.assertTrue(any("saxpy" in json.dumps(event) for event in events))

    def test_notes(self):
        self.write("u.kc", "unordered kernel void u(u32 *y) { y[1 + global_id(0)] = "
                           "atomic_add(&y[0], 1u); }\n")
        out = self.good("run", "u.kc", "--global", "64", "y=zeros:u32:65")
        self.assertIn("carry no promise", out)
        out = self.good(*SAXPY, "y=zeros:f32:8", "--unchecked")
        self.assertIn("without bounds checks", out)


class Devices(cli.Case):
    def test_too_long_for_speed(self):
        """On the cpu device, where a function of more than 24,000 instructions is made as quick code is."""
        lines = "".join(f"    v{i % 8} = (v{(i * 5 + 3) % 8} {'+*^'[i % 3]} v{(i // 8 + i) % 8}) + {i}u;\n"
                        for i in range(13000))
        names = ", ".join(f"v{i} = x[{i}]" for i in range(8))
        self.write("long.kc", f"kernel workgroup(1) void k(const u32 *x, u32 *y)\n{{\n    u32 {names};\n"
                              f"{lines}    y[0] = v0 ^ v1 ^ v2 ^ v3 ^ v4 ^ v5 ^ v6 ^ v7;\n}}\n")
        command = ["run", "long.kc", "--global", "1", "x=iota:u32:8", "y=zeros:u32:1", "--device"]
        if self.run_command("run", "saxpy.kc", *SAXPY[2:], "y=zeros:f32:8", "--device", "cpu").returncode != 0:
            self.skipTest("there is no cpu device")
        note = "lockstep: note: a function is too long to be compiled for speed: keep it in noinline pieces\n"
        self.assertEqual(self.run_command(*command, "cpu").stderr, note)
        self.assertEqual(self.run_command(*command, "cpu").stderr, note)  # from the cache
        self.good(*command, "cpu", "--tier", "quick")
        self.good(*command, "cpu", "-q")

    def test_list(self):
        out = self.good("devices")
        self.assertTrue(re.search(r"^reference +reference +\S", out, re.M), out)

    def test_verbose(self):
        out = self.good("devices", "--verbose")
        self.assertIn("lanes of a workgroup", out)
        self.assertIn("device time", out)


class Version(cli.Case):
    def test_version(self):
        out = self.good("--version")
        self.assertTrue(re.fullmatch(r"lockstep \d+\.\d+\.\d+\nbit contract \d+\nIR \d+\n", out),
                        out)


if __name__ == "__main__":
    cli.main()
