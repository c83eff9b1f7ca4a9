#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wrong input: one clear line, an exit status that is not zero, and no file left behind."""

import os
import resource
import subprocess

import cli

GOOD = ["--global", "8", "n=8", "a=2", "x=iota:f32:8", "y=fill:f32:8:1"]


def saxpy(*more, **changes):
    """A good command line with arguments replaced (or left out, when None) and added."""
    words = []
    for word in GOOD:
        name = word.split("=")[0]
        if changes.get(name, word) is not None:
            words.append(f"{name}={changes[name]}" if name in changes else word)
    return ["run", "saxpy.kc", *words, *more]


class CommandLine(cli.Case):
    def test_commands(self):
        self.bad(says="a command is needed", status=2)
        self.bad("walk", says="no command 'walk'", status=2)
        self.bad("--walk", says="unrecognized option", status=2)
        self.bad("devices", "x", says="'x' is not expected", status=2)

    def test_options(self):
        self.bad("run", says="which file", status=2)
        self.bad("run", "saxpy.kc", "n=8", says="--global", status=2)
        for option, value, says in [
                ("--global", "0x", "--global takes"), ("--global", "", "--global takes"),
                ("--global", "1,", "--global takes"), ("--global", "1,2,3,4", "at most three"),
                ("--global", "-1", "--global takes"), ("--global", "4294967296", "--global takes"),
                ("--schedule", "sideways", "ascending, reverse or seed:N"),
                ("--schedule", "seed:", "ascending, reverse or seed:N"),
                ("--time-limit", "soon", "positive number of seconds"),
                ("--time-limit", "0", "positive number of seconds"),
                ("--time-limit", "-1", "positive number of seconds"),
                ("--time-limit", "nan", "positive number of seconds"),
                ("--budget", "0", "number of bytes"), ("--budget", "1X", "number of bytes"),
                ("--budget", "99999999999G", "number of bytes"),
                ("--repeat", "-1", "number of rounds"),
                ("--threads", "-1", "takes a number"), ("--threads", "x", "takes a number"),
                ("-D", "=3", "NAME=VALUE"),
                ("-D", "N=x", "'x' is not an integer: -DN=x"), ("--walk", "1", "unrecognized option")]:
            with self.subTest(option=option, value=value):
                self.bad(*saxpy(f"{option}={value}" if option != "-D" else f"-D{value}"),
                         says=says, status=2)

    def test_compile_options(self):
        self.bad("compile", says="which file", status=2)
        self.bad("compile", "a.kc", "b.kc", says="one file at a time", status=2)
        self.bad("compile", "saxpy.kc", "--emit", "exe", says="ir, irb, spirv", status=2)
        self.bad("compile", "saxpy.kc", "--kernel", "saxpy", says="--emit spirv and ptx",
                 status=2)
        self.bad("compile", "saxpy.kc", "--emit", "spirv", "--after", "all", says="--after",
                 status=2)
        self.bad("compile", "saxpy.kc", "--target", "sm_80", says="--emit spirv and ptx", status=2)
        self.bad("compile", "saxpy.kc", "--emit", "spirv", "--arch", "sm_80",
                 says=["sm_80", "vulkan1.2"])
        for option in ("--target", "--arch"):
            self.bad("compile", "saxpy.kc", "--emit", "ptx", option, "sm_70",
                     says=["sm_70", "sm_75, sm_80, sm_90"])
        self.bad("compile", "saxpy.kc", "--emit", "ptx", "--kernel", "daxpy",
                 says=["no kernel 'daxpy'", "saxpy"])
        self.bad("compile", "saxpy.kc", "--emit", "spirv", "--target", "metal",
                 says=["metal", "vulkan1.2"])
        self.bad("compile", "saxpy.kc", "--emit", "spirv", "--kernel", "daxpy",
                 says=["no kernel 'daxpy'", "saxpy"])
        self.bad("compile", "saxpy.kc", "--after", "nothing", says=["nothing", "lower_bounds"])
        self.bad("compile", "saxpy.kc", "--lower", "everything", says="everything")
        self.bad("compile", "missing.kc", says="cannot open 'missing.kc'")


class Program(cli.Case):
    def test_files(self):
        self.bad("run", "missing.kc", "--global", "1",
                 says="cannot open 'missing.kc': No such file")
        self.bad("run", ".", "--global", "1", says="Is a directory")
        self.write("empty.kc", "")
        self.bad("run", "empty.kc", "--global", "1", says="no kernel")

    def test_errors_of_the_kernel(self):
        self.write("bad.kc", "kernel void f(f32 *y)\n{\n    y[0] = w;\n    y[1] = z;\n}\n")
        result = self.run_command("run", "bad.kc", "--global", "1", "y=zeros:f32:2",
                                  "--save", "y=y.npy")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, r"bad\.kc:3:\d+: error: LS\d{4}: ")
        self.assertRegex(result.stderr, r"bad\.kc:4:\d+: error: LS\d{4}: ")
        self.assertIn("    y[0] = w;\n", result.stderr)
        self.assertEqual(result.stderr.splitlines()[-1], "lockstep: bad.kc: 2 errors")
        self.assertFalse(self.path("y.npy").exists())
        result = self.run_command("compile", "bad.kc", "-o", "bad.ir")
        self.assertEqual(result.returncode, 1)
        self.assertFalse(self.path("bad.ir").exists())

    def test_ir_files(self):
        self.write("a.ir", "not IR at all\n")
        self.bad("run", "a.ir", "--global", "1", says="a.ir")
        self.write("a.irb", "not IR at all\n")
        self.bad("run", "a.irb", "--global", "1", says="a.irb")
        self.good("compile", "saxpy.kc", "--emit", "irb", "-o", "s.irb")
        damaged = bytearray(self.path("s.irb").read_bytes())
        damaged[len(damaged) // 2] ^= 1
        self.path("s.irb").write_bytes(damaged)
        self.bad("run", "s.irb", *GOOD, says="s.irb")
        self.bad("run", "a.ir", "--global", "1", "-DN=3", says="-DN")

    def test_kernels(self):
        self.bad(*saxpy("--kernel", "saxpi"), says=["saxpi", "saxpy"])
        self.write("two.kc", "kernel void a(u32 *y) { y[0] = 1u; }\n"
                             "kernel void b(u32 *y) { y[0] = 2u; }\n")
        self.bad("run", "two.kc", "--global", "1", "y=zeros:u32:1",
                 says=["2 kernels", "--kernel", "a, b"])

    def test_constants(self):
        result = self.run_command(*saxpy("-DNOPE=3"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("NOPE", result.stderr)
        self.bad(*saxpy("-DN=3", "-DN=3"), says="-DN is given twice")


class Arguments(cli.Case):
    def test_names(self):
        self.bad(*saxpy("z=1"), says=["'z=1'", "saxpy(u32 n, f32 a, const f32 *x, f32 *y)"])
        self.bad(*saxpy("n=8"), says="'n' is given twice")
        self.bad(*saxpy(a=None), says="no value is given for 'a'")
        self.bad(*saxpy(y=None), says="no value is given for 'y'")
        self.bad(*saxpy("8"), says="'8' is not NAME=VALUE")

    def test_scalars(self):
        self.bad(*saxpy(n="-1"), says=["out of range", "n=-1 is u32"])
        self.bad(*saxpy(n="4294967296"), says="0 to 4294967295")
        self.bad(*saxpy(n="1.5"), says=["not an integer", "n=1.5 is u32"])
        self.bad(*saxpy(a="fast"), says=["not a number", "a=fast is f32"])
        self.bad(*saxpy(a="1e40"), says="out of range")
        self.bad(*saxpy(n=""), says="not an integer")
        self.bad(*saxpy(a="@x.npy"), says="not a number")

    def test_generators(self):
        self.bad(*saxpy(x="3"), says=["'x' is a buffer", "zeros:TYPE:SHAPE", "x=3"])
        self.bad(*saxpy(x="zeros:u32:8"), says=["'u32'", "'x' points to f32"])
        self.bad(*saxpy(x="zeros:f32:0"), says="at least one element")
        self.bad(*saxpy(x="zeros:f32:8x"), says="not a shape")
        self.bad(*saxpy(x="fill:f32:8"), says="fill:TYPE:SHAPE:VALUE")
        self.bad(*saxpy(x="zeros:f32:4611686018427387904"), says="more than a buffer can hold")

    def test_memory(self):
        self.bad(*saxpy(x="zeros:f32:4000000000000000"), says="buffer 'x'")
        self.bad(*saxpy("--budget", "48"), says="48")

    def test_npy_files(self):
        cli.write_npy(self.path("f64.npy"), "<f8", [1.0] * 8)
        self.bad(*saxpy(x="@f64.npy"), says=["f64.npy", "'<f8'", "float32", "astype('float32')"])
        cli.write_npy(self.path("i32.npy"), "<i4", [1] * 8)
        self.bad(*saxpy(x="@i32.npy"), says="'x' points to f32")
        self.path("empty.npy").write_bytes(cli.npy_bytes("<f4", (0,), b""))
        self.bad(*saxpy(x="@empty.npy"), says="no elements")
        self.path("short.npy").write_bytes(cli.npy_bytes("<f4", (8,), b"1234"))
        self.bad(*saxpy(x="@short.npy"), says=["4 bytes of data", "promises 32", "short.npy"])
        self.path("zero.npy").write_bytes(b"")
        self.bad(*saxpy(x="@zero.npy"), says=["not a .npy file", "zero.npy"])
        self.path("big.npy").write_bytes(cli.npy_bytes(">f4", (1,), b"1234"))
        self.bad(*saxpy(x="@big.npy"), says=["big-endian", "astype"])
        self.bad(*saxpy(x="@missing.npy"), says="cannot open 'missing.npy'")
        self.bad(*saxpy(x="@x.txt"), says=".npy or .bin")
        self.path("odd.bin").write_bytes(b"12345")
        self.bad(*saxpy(x="@odd.bin"), says="5 bytes, not a multiple of 4")

    def test_file_without_end(self):
        self.path("zero.npy").symlink_to("/dev/zero")
        self.path("zero.bin").symlink_to("/dev/zero")
        for name in "zero.npy", "zero.bin":
            self.bad(*saxpy("--budget", "1M", x="@" + name),
                     says=[name, "larger than", "--budget"])
        self.path("zero.kc").symlink_to("/dev/zero")
        self.write("i.kc", '#include "zero.kc"\nkernel void i(u32 *y) { y[0] = 1u; }\n')
        result = self.run_command("compile", "i.kc")
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot read 'zero.kc'", result.stderr)

    def test_struct_values(self):
        self.write("s.kc", "struct p { f32 x; i32 n; };\n"
                           "kernel void s(struct p v, struct p *q) { q[0].x = v.x; }\n")
        for value in "1", "hex:", "hex:00", "hex:00112233445566778", "hex:001122334455667G":
            self.bad("run", "s.kc", "--global", "1", f"v={value}", "q=zeros:|V8:1",
                     says="struct of 8 bytes")
        self.bad("run", "s.kc", "--global", "1", "v=hex:0011223344556677", "q=iota:f32:1",
                 says="'q' points to")
        cli.write_npy(self.path("f64.npy"), "<f8", [1.0])
        self.bad("run", "s.kc", "--global", "1", "v=hex:0011223344556677", "q=@f64.npy",
                 says="structured dtype of 8 bytes")


class Bounds(cli.Case):
    """A buffer too small is an error and not a 0 in the result, on devices that see it: the one that is taken
    when none is named is one of them."""

    def stops(self, *args, says):
        self.bad(*args, says=says)
        self.bad(*args, "--device", "reference", says=says)

    def test_buffer_too_small(self):
        self.stops(*saxpy("--save", "y=y.npy", x="iota:f32:5"),
                   says=["x is too small: lane 5 of workgroup 0,0,0 reads x[5] (saxpy.kc:",
                         "), but it has 5 elements; give more elements, or", "--out-of-bounds"])
        self.stops(*saxpy("--save", "x=x.npy", y="zeros:f32:1"),
                   says="reads y[1] (saxpy.kc:")
        self.bad(*saxpy("--device", "fault", x="iota:f32:5"), says="x is too small")

    def test_allowed(self):
        for device in [], ["--device", "reference"]:
            self.good(*saxpy("--save", "y=y.npy", "--out-of-bounds", *device, x="iota:f32:5"))
            self.assertEqual(cli.read_npy(self.path("y.npy"))[2], [1, 3, 5, 7, 9, 1, 1, 1])

    def test_lanes_that_fill_the_workgroup(self):
        self.write("k.kc", "kernel workgroup(4, 2) void k(u32 *y)\n"
                           "{\n    y[global_id(1) * 5 + global_id(0)] = 1u;\n}\n")
        self.stops("run", "k.kc", "--global", "5,2", "y=zeros:u32:10",
                   says=["lane 5 of workgroup 1,0,0 writes y[10] (k.kc:3), but it has 10 elements",
                         "lanes beyond --global fill the last workgroup", "if (i < n)"])

    def test_array_of_the_kernel(self):
        self.write("k.kc", "kernel workgroup(4) void k(u32 *y)\n"
                           "{\n    shared u32 t[4];\n    u32 i = local_index();\n"
                           "    t[i + 1] = i;\n    barrier();\n    y[i] = t[i];\n}\n")
        self.stops("run", "k.kc", "--global", "4", "y=zeros:u32:4",
                   says=["lockstep: lane 3 of workgroup 0,0,0 writes t[4] (k.kc:5), but it has 4 "
                         "elements; mend the kernel"])

    def test_stops_an_endless_kernel(self):
        self.write("k.kc", "kernel workgroup(1) void k(u32 *y) { for (;;) y[1] += 1u; }\n")
        endless = ["run", "k.kc", "--global", "1", "y=zeros:u32:1"]
        self.bad(*endless, "--device", "reference", says="reads y[1]")
        self.bad(*endless, "--time-limit", "0.2", says="reads y[1]")  # by then it is known why

    def test_comes_before_a_trap(self):
        self.write("k.kc", "kernel void k(u32 *y) { if (y[9] == 0u) trap(1u); y[0] = 1u; }\n")
        self.stops("run", "k.kc", "--global", "1", "y=zeros:u32:9", says="reads y[9]")

    def test_lowered_programs_have_probes_of_their_own(self):
        self.write("k.kc", "kernel void k(u32 n, u8 *y)\n"
                           "{ if (global_id(0) < n) y[global_id(0)] = (u8)7; }\n")
        self.good("run", "k.kc", "--global", "5", "n=5", "y=zeros:u8:5", "--lower", "all",
                  "--device", "reference")
        self.bad("run", "k.kc", "--global", "5", "n=5", "y=zeros:u8:5", "--lower", "all",
                 "--sanitize", says="not with --lower")


class Visible(cli.Case):
    """Nothing that comes from outside steers the terminal."""

    NAME = "a\n\x1b[31m\x9b"  # line feed, escape, and the C1 control that is "escape ["
    SHOWN = r"a\x0a\x1b[31m"

    def check(self, *args):
        result = self.run_command(*args)
        self.assertNotRegex(result.stdout + result.stderr, "[\x00-\x09\x0b-\x1f\x7f-\x9f]", args)
        self.assertIn(self.SHOWN, result.stdout + result.stderr, args)
        return result

    def test_arguments(self):
        for args in ([self.NAME], ["devices", self.NAME], ["run", self.NAME, "--global", "1"],
                     ["compile", "a.kc", self.NAME], ["compile", self.NAME],
                     ["compile", "saxpy.kc", "--emit", self.NAME],
                     ["compile", "saxpy.kc", "--after", self.NAME],
                     saxpy("--kernel", self.NAME), saxpy("--device", self.NAME),
                     saxpy("--lower", self.NAME), saxpy("--budget", self.NAME),
                     saxpy("--save", "y=" + self.NAME), saxpy(self.NAME), saxpy(a=self.NAME),
                     saxpy(x=self.NAME), saxpy(x=f"zeros:{self.NAME}:1"),
                     saxpy(x=f"@{self.NAME}.npy"), saxpy("-D" + self.NAME)):
            self.assertNotEqual(self.check(*args).returncode, 0)

    def test_names_of_files(self):
        self.path(self.NAME + ".npy")
        self.check(*saxpy("--save", f"y={self.NAME}.npy"))
        self.path(self.NAME + ".kc").write_text("kernel void k(u32 *y)\n{\n    y[0] = w;\n}\n")
        self.check("compile", self.NAME + ".kc")
        self.path(self.NAME + ".kc").write_text("kernel void k(u32 *y)\n{\n    y[3] = 1u;\n}\n")
        self.check("run", self.NAME + ".kc", "--global", "1", "y=zeros:u32:1", "--device",
                   "reference")
        self.check("run", self.NAME + ".kc", "--global", "1", "y=zeros:u32:1", "--sanitize")

    def test_caret_below_wide_text(self):
        self.write("k.kc", "kernel void k(u32 *y) { /* h\xe9llo \u20ac */ y[0] = wrong; }\n")
        lines = self.run_command("compile", "k.kc").stderr.splitlines()
        self.assertEqual(lines[2].index("^"), lines[1].index("wrong"))
        self.assertEqual(lines[2].strip(), "^~~~~")

    def test_contents_of_files(self):
        data = cli.npy_bytes([(self.NAME, "<f4")], (8,), bytes(32))
        self.path("x.npy").write_bytes(data.replace(b"\\n", b"\x7f").replace(b"\\x1b", b"\x1b"))
        result = self.run_command(*saxpy(x="@x.npy"))
        self.assertNotRegex(result.stderr, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")
        self.write("k.kc", f'#include "{self.NAME[2:]}"\n')
        self.assertNotRegex(self.run_command("compile", "k.kc").stderr,
                            "[\x00-\x09\x0b-\x1f\x7f-\x9f]")
        self.path("k.kc").write_bytes(bytes(range(1, 256)) * 3 + b"\n" + bytes(range(1, 256)))
        result = subprocess.run([cli.COMMAND, "compile", "k.kc"], cwd=self.folder,
                                capture_output=True)
        shown = result.stderr.decode()  # only whole characters are left
        self.assertNotRegex(shown, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")


class Devices(cli.Case):
    def test_unknown(self):
        self.bad(*saxpy("--device", "abacus"), says=["abacus", "reference"])

    def test_none_is_named(self):
        usable = "cannot be used" not in self.run_command(*saxpy("--device", "cpu")).stderr
        result = self.run_command(*saxpy())
        self.assertEqual((result.note, result.returncode), (not usable, 0))
        self.assertIn("on cpu in" if usable else "on reference in", result.stdout)
        self.assertFalse(self.run_command(*saxpy("--quiet")).note)
        self.assertFalse(self.run_command(*saxpy("--device", "reference")).note)
        for options in ["--sanitize"], ["--schedule", "reverse"]:  # ask for the reference themselves
            result = self.run_command(*saxpy(*options))
            self.assertFalse(result.note)
            self.assertIn("on reference in", result.stdout)

    def test_reference_only(self):
        self.bad(*saxpy("--device", "fault", "--sanitize"), says="--device reference")
        self.bad(*saxpy("--device", "fault", "--schedule", "reverse"), says="--device reference")

    def test_lowering(self):
        self.bad(*saxpy("--lower", "gravity"), says="gravity")

    def test_too_much_shared_memory(self):
        self.write("s.kc", "kernel void s(u32 *y) { shared u32 t[16384]; "
                           "t[local_index()] = 1u; barrier(); y[0] = t[5]; }\n")
        result = self.run_command("run", "s.kc", "--global", "1", "y=zeros:u32:1")
        if result.returncode:  # a device may have that much
            self.assertIn("shared", result.stderr)


class Saving(cli.Case):
    def test_names(self):
        self.bad(*saxpy("--save", "y"), says="NAME=FILE")
        self.bad(*saxpy("--save", "=y.npy"), says="NAME=FILE")
        self.bad(*saxpy("--save", "y="), says="NAME=FILE")
        self.bad(*saxpy("--save", "z=z.npy"), says=["'z'", "saxpy(u32 n"])
        self.bad(*saxpy("--save", "a=a.npy"), says="'a' is no buffer")
        self.bad(*saxpy("--save", "y=y.txt"), says=".npy, .pgm or .bin")
        self.bad(*saxpy("--save", "y=y.pgm"), says="u8")
        self.bad(*saxpy("--save", "y=o.npy", "--save", "x=o.npy"), says="'o.npy'")

    def test_missing_folder(self):
        self.bad(*saxpy("--save", "y=no/y.npy"), says="cannot write 'no/y.npy': No such file")

    def test_folder_as_file(self):
        self.path("d.npy").mkdir()
        self.bad(*saxpy("--save", "y=d.npy"), says="Is a directory")

    def test_one_bad_name_saves_nothing(self):
        self.bad(*saxpy("--save", "x=x.npy", "--save", "y=no/y.npy"), says="no/y.npy")

    def test_one_file_by_two_names(self):
        self.bad(*saxpy("--save", "x=o.npy", "--save", "y=./o.npy"), says="'./o.npy'")
        self.path("link.npy").symlink_to("o.npy")
        self.bad(*saxpy("--save", "x=link.npy"), says="a symbolic link that leads nowhere")
        self.write("o.npy", "old")
        self.bad(*saxpy("--save", "x=o.npy", "--save", "y=link.npy"), says="'link.npy'")
        self.bad(*saxpy("--save", "x=o.npy", "--trace", "o.npy"), says="and the trace")

    def test_program_is_not_overwritten(self):
        self.bad(*saxpy("--trace", "./saxpy.kc"), says="the program itself")
        self.bad("compile", "saxpy.kc", "-o", "./saxpy.kc", says="the program itself")
        self.path("saxpy.kc").rename(self.path("saxpy.bin"))
        self.bad("run", "saxpy.bin", *saxpy()[2:], "--save", "y=saxpy.bin",
                 says="the program itself")

    def test_trace_in_missing_folder(self):
        self.bad(*saxpy("--save", "y=y.npy", "--trace", "no/t.json"), says="no/t.json")

    def test_longest_name(self):
        self.good(*saxpy("--save", "y=" + "n" * 251 + ".npy"))
        self.bad(*saxpy("--save", "y=" + "n" * 252 + ".npy"), says="name too long")

    def test_pipe_as_output(self):
        text = self.good("compile", "saxpy.kc")
        self.assertEqual(self.good("compile", "saxpy.kc", "-o", "/dev/stdout"), text)
        self.assertIn("traceEvents", self.good(*saxpy("-q", "--trace", "/dev/stdout")))

    def test_closed_streams(self):
        """What is printed does not end up in the file that got the stream's number."""
        files = ["--save", "x=x.npy", "--save", "y=y.npy", "--save", "x=z.npy"]
        self.good(*saxpy(*files))
        good = [self.path(name).read_bytes() for name in ("x.npy", "y.npy", "z.npy")]
        for closed in range(1, 8):
            for name in "x.npy", "y.npy", "z.npy":
                self.path(name).unlink()
            args = [cli.COMMAND, *saxpy(*files, "--sanitize")]
            process = os.fork()
            if process == 0:
                os.chdir(self.folder)
                for fd in range(3):
                    if closed & 1 << fd:
                        os.close(fd)
                    elif fd:
                        os.dup2(os.open("/dev/null", os.O_WRONLY), fd)
                os.execv(args[0], args)
            code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            self.assertEqual(code, 1 if closed & 2 else 0, closed)
            self.assertEqual([self.path(name).read_bytes()
                              for name in ("x.npy", "y.npy", "z.npy")], good, closed)

    def test_old_file_stays_when_saving_fails(self):
        self.write("y.npy", "old")
        self.bad(*saxpy("--save", "y=y.npy", "--save", "x=no/x.npy"), says="no/x.npy")
        self.assertEqual(self.path("y.npy").read_text(), "old")

    def test_full_disk(self):
        self.path("full.npy").symlink_to("/dev/full")
        before = sorted(self.folder.iterdir())
        result = self.run_command(*saxpy("--save", "y=full.npy"))
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, r"^lockstep: cannot write 'full.npy': No space left.*\n$")
        self.assertEqual(sorted(self.folder.iterdir()), before)

    def test_write_that_fails_half_way(self):
        """A limit on the size of files stands for a disk that fills up."""
        before = sorted(self.folder.iterdir())
        result = self.run_command(
            *saxpy("--save", "y=y.npy", y="zeros:f32:100000"),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (150000, 150000)))
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, r"^lockstep: cannot write '.*y.npy': File too large\n$")
        self.assertEqual(sorted(self.folder.iterdir()), before)

    def test_disk_that_fills_up_at_the_last_file(self):
        """The second file is so small that it is written when the first is complete."""
        self.write("y.npy", "old")
        self.path("full.npy").symlink_to("/dev/full")
        self.bad(*saxpy("--save", "x=x.npy", "--save", "y=y.npy", "--save", "x=full.npy"),
                 says="No space left")
        self.assertFalse(self.path("x.npy").exists())
        self.assertEqual(self.path("y.npy").read_text(), "old")

    def test_full_disk_for_trace_and_ir(self):
        self.path("full.json").symlink_to("/dev/full")
        result = self.run_command(*saxpy("--trace", "full.json"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("No space left", result.stderr)
        result = self.run_command("compile", "saxpy.kc", "-o", "full.json")
        self.assertEqual(result.returncode, 1)
        self.assertIn("No space left", result.stderr)

    def test_full_standard_output(self):
        with open("/dev/full", "w") as full:
            for args in (["compile", "saxpy.kc"], saxpy(), ["devices"], ["--version"], ["--help"]):
                result = subprocess.run([cli.COMMAND, *args], cwd=self.folder, text=True,
                                        stdout=full, stderr=subprocess.PIPE)
                self.assertEqual(result.returncode, 1, args)
                self.assertIn("cannot write to standard output", result.stderr)


if __name__ == "__main__":
    cli.main()
