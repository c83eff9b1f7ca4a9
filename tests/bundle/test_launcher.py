#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`lockstep bundle` and the C it writes: the example is built with the launcher, and runs on every
device there is where libLLVM cannot be loaded.

usage: test_launcher.py ROOT BUILD LOCKSTEP "COMPILER COMMAND" SCRATCH [TEST...]
"""

import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import sys
import unittest

ROOT, BUILD, COMMAND = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
COMPILER = shlex.split(sys.argv[4])
SCRATCH = pathlib.Path(sys.argv[5]).resolve()
KERNEL = ROOT / "examples/kernels/saxpy.kc"
MANY = """
typedef struct { u32 a; f32 b; } pair;
kernel workgroup(32) void many(bool q, i8 c, u16 s, pair p, i64 l, f32 f, const u8 *x, f32 *error)
{
    if (global_id(0) == 0)
        error[0] = (q ? 1.0f : 0.0f) + (f32)c + (f32)s + (f32)p.a + p.b + (f32)l + f + (f32)x[0];
}
kernel void nothing()
{
}
"""
TWO = """
static const u32 ones[2] = {1, 1};
static noinline u32 times(u32 a, u32 b)
{
    return a * b * ones[a & 1];
}
kernel void squares(u32 *y)
{
    y[global_id(0)] = times(global_id(0), global_id(0));
}
kernel void cubes(u32 *y)
{
    y[global_id(0)] = times(times(global_id(0), global_id(0)), y[global_id(0)]);
}
"""


def run(*command, status=0, **environment):
    """All output; fails when the exit status is another."""
    result = subprocess.run([str(c) for c in command], env=dict(os.environ, **environment),
                            text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert result.returncode == status, f"{command}: {result.returncode}\n{result.stdout}"
    return result.stdout


def sanitizer():
    """What a program that links the library needs."""
    options = json.loads((BUILD / "meson-info/intro-buildoptions.json").read_text())
    kind = next(o["value"] for o in options if o["name"] == "b_sanitize")
    return [] if kind == "none" else [f"-fsanitize={kind}"]


def build(program, bundle, launcher):
    """A program of one C file and a launcher."""
    output = SCRATCH / "program"
    run(*COMPILER, "-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror", *sanitizer(),
        f"-I{bundle}", f"-I{ROOT / 'include'}", program, bundle / f"{launcher}.c", "-o", output,
        f"-L{BUILD}", "-llockstep", f"-Wl,-rpath,{BUILD}")
    return output


def without_llvm():
    """A machine without libLLVM 19: files of its names that are none."""
    folder = SCRATCH / "empty"
    folder.mkdir(exist_ok=True)
    for name in ("libLLVM.so.19.1", "libLLVM-19.so.1", "libLLVM-19.so"):
        (folder / name).write_bytes(b"")
    return {"LD_LIBRARY_PATH": os.pathsep.join(
        filter(None, [str(folder), os.environ.get("LD_LIBRARY_PATH")]))}


class Launcher(unittest.TestCase):
    """Each test has a bundle of its own."""

    @classmethod
    def setUpClass(cls):
        shutil.rmtree(SCRATCH, ignore_errors=True)
        SCRATCH.mkdir(parents=True)

    def bundle(self, name, kernel=KERNEL, *options):
        folder = SCRATCH / name
        run(COMMAND, "bundle", kernel, "-o", folder, *options)
        return folder

    def test_example(self):
        """On every device, with no compiler."""
        folder = self.bundle("saxpy")
        program = build(ROOT / "examples/bundle/saxpy.c", folder, "saxpy")
        environment = without_llvm()
        families = {code["family"] for code in json.loads((folder / "bundle.json").read_text())["code"]}
        devices = re.findall(r"^(\S+) +.*\n(?! +not usable)", run(COMMAND, "devices"), re.MULTILINE)
        ran = []
        for device in devices:
            family = device.partition(":")[0]
            if family in families | {"reference"} and (family != "vulkan" or ":" in device):
                self.assertEqual(run(program, folder, device, **environment),
                                 f"y[999] = 2997 on {device}\n")
                ran.append(device)
        self.assertIn("reference", ran)
        self.assertTrue(not any(name.startswith("cuda:") for name in devices) or "cuda:0" in ran)
        self.assertTrue("cpu" in ran or "cpu" not in families)
        # The machine really has no compiler; and the device asks for none.
        if "cpu" in families:
            text = run(COMMAND, "run", "--no-cache", KERNEL, "--device", "cpu", "--global", "1", "n=1",
                       "a=1", "x=iota:f32:1", "y=iota:f32:1", status=1, **environment)
            self.assertIn("libLLVM", text)
            loaded = run(program, folder, "cpu", LD_DEBUG="files")
            self.assertIn("liblockstep", loaded)
            self.assertNotIn("libLLVM", loaded)

    def test_another_bundle(self):
        """A launcher opens the bundle it was written with."""
        folder = self.bundle("one", KERNEL, "--target", "vulkan1.2")
        program = build(ROOT / "examples/bundle/saxpy.c", folder, "saxpy")
        other = self.bundle("other", KERNEL, "--target", "vulkan1.2,vulkan1.2+i8")
        text = run(program, other, "reference", status=1)
        self.assertIn("LS_E_FORMAT", text)
        self.assertIn("launcher", text)
        self.assertIn("LS_E_NOT_FOUND", run(program, SCRATCH / "none", "reference", status=1))
        text = run(program, folder, "cpu", status=1)
        self.assertIn("LS_E_UNSUPPORTED", text)
        self.assertIn("it has: vulkan1.2", text)

    def test_parameters(self):
        """All types of parameters; the launcher's own names are nobody's."""
        kernel = SCRATCH / "many.kc"
        kernel.write_text(MANY)
        folder = self.bundle("many.bundle", kernel, "--target", "vulkan1.2", "--name", "m")
        source = SCRATCH / "many.c"
        source.write_text(r"""
#include "m.h"
#include <stdio.h>
int main(int argc, char **argv)
{
    (void)argc;
    ls_error error = {0};
    ls_device *device = NULL;
    ls_stream *stream = NULL;
    ls_buffer *x = NULL, *y = NULL;
    m_bundle m;
    ls_device_params open = LS_DEVICE_PARAMS_INIT;
    ls_buffer_params buffer = LS_BUFFER_PARAMS_INIT;
    open.name = "reference";
    buffer.size_bytes = 64;
    const uint32_t lanes[3] = {32, 1, 1};
    const struct { uint32_t a; float b; } p = {1000, 0.5f};
    const uint8_t in[64] = {7};
    float out = 0;
    if (ls_device_open(&open, &device, &error) || m_open(argv[1], device, &m, &error) ||
        ls_stream_create(device, &stream, &error) || ls_buffer_create(device, &buffer, &x, &error) ||
        ls_buffer_create(device, &buffer, &y, &error) ||
        ls_buffer_write(x, 0, LS_MEM_NONE, in, sizeof in, &error) ||
        m_launch_many(&m, stream, lanes, true, -3, 300, &p, 20000, 0.25f, (ls_range){x, 0, LS_WHOLE},
                      (ls_range){y, 0, LS_WHOLE}, &error) ||
        m_launch_nothing(&m, stream, lanes, &error) ||
        ls_buffer_read(y, 0, LS_MEM_NONE, &out, sizeof out, &error)) {
        printf("%s\n", error.message);
        return 1;
    }
    printf("%g\n", (double)out);
    /* Arguments are checked as everywhere. */
    ls_status status = m_launch_many(&m, stream, lanes, true, -3, 300, &p, 20000, 0.25f,
                                     (ls_range){x, 0, 65}, (ls_range){y, 0, LS_WHOLE}, &error);
    printf("%s\n", ls_status_name(status));
    status = m_launch_many(&m, stream, lanes, true, -3, 300, &p, 20000, 0.25f,
                           (ls_range){x, 0, LS_WHOLE}, (ls_range){x, 0, LS_WHOLE}, &error);
    printf("%s\n", ls_status_name(status));
    ls_buffer_destroy(&x);
    ls_buffer_destroy(&y);
    ls_stream_destroy(&stream, NULL);
    m_close(&m);
    return ls_device_destroy(&device, &error) != LS_OK;
}
""")
        lines = run(build(source, folder, "m"), folder).split()
        self.assertEqual(lines[0], "21305.8")
        self.assertEqual(lines[1:], ["LS_E_INVALID_ARGUMENT", "LS_E_INVALID_ARGUMENT"])

    def test_description(self):
        """What bundle.json says is so."""
        kernel = ROOT / "examples/kernels/prefix_scan.kc"
        folder = self.bundle("scan", kernel, "-DROWS=8", "--target", "vulkan")
        text = json.loads((folder / "bundle.json").read_text())
        self.assertEqual((text["format"], text["name"], text["spec"], text["source"]),
                         ("lockstep bundle", "prefix_scan", {"ROWS": 8}, "prefix_scan.kc"))
        scan = text["kernels"][0]
        self.assertEqual((scan["name"], scan["workgroup"]), ("prefix_scan", [32, 1, 1]))
        self.assertEqual([p["name"] for p in scan["parameters"]], ["n", "x", "totals", "y"])
        self.assertEqual([p.get("access") for p in scan["parameters"]],
                         [None, "read", "read and write", "read and write"])
        self.assertEqual(text["left_out"], [])
        for name, file in text["files"].items():
            data = (folder / name).read_bytes()
            self.assertEqual((len(data), hashlib.sha256(data).hexdigest()),
                             (file["bytes"], file["sha256"]), name)
        listed = {*text["files"], "bundle.json", "prefix_scan.c"}
        self.assertEqual({path.name for path in folder.iterdir()}, listed)
        self.assertEqual(run(COMMAND, "compile", folder / "program.irb"),
                         (folder / "program.ir").read_text())
        again = self.bundle("again", kernel, "-DROWS=8", "--target", "vulkan")
        for path in folder.iterdir():
            self.assertEqual(path.read_bytes(), (again / path.name).read_bytes(), path.name)

    def test_one_kernel(self):
        """-k: the kernel, what it uses, and nothing else."""
        kernel = SCRATCH / "two.kc"
        kernel.write_text(TWO)
        folder = self.bundle("two", kernel, "--target", "vulkan1.2", "-k", "cubes")
        names = [k["name"] for k in json.loads((folder / "bundle.json").read_text())["kernels"]]
        self.assertEqual(names, ["cubes"])
        self.assertNotIn("squares", (folder / "program.ir").read_text() + (folder / "two.h").read_text())
        results = []
        for file in (kernel, folder / "program.irb"):
            run(COMMAND, "run", file, "-k", "cubes", "--device", "reference", "--global", "64",
                "y=iota:u32:64", "--save", f"y={SCRATCH / 'y.bin'}")
            results.append(struct.unpack("<64I", (SCRATCH / "y.bin").read_bytes()[-256:]))
        self.assertEqual(results, [tuple(n ** 3 for n in range(64))] * 2)
        self.assertIn("squares, cubes", run(COMMAND, "bundle", kernel, "-o", SCRATCH / "x", "-k", "none",
                                           status=1))

    def test_command(self):
        """What it says when it cannot."""
        folder = self.bundle("command", KERNEL, "--target", "vulkan1.2")
        self.assertIn("all files are as", run(COMMAND, "bundle", "--check", folder))
        (folder / "saxpy.spv").write_bytes(b"")
        self.assertIn("saxpy.spv", run(COMMAND, "bundle", "--check", folder, status=1))
        (folder / "mine").write_text("")
        text = run(COMMAND, "bundle", KERNEL, "-o", folder, "--target", "vulkan1.2", status=1)
        self.assertIn("other files: 'mine'", text)
        for option in ("--target", "--arch"):
            text = run(COMMAND, "bundle", KERNEL, "-o", SCRATCH / "x", option, "sse9", status=1)
            self.assertIn("no target 'sse9'", text)
            self.assertIn("vulkan1.2", text)
        text = run(COMMAND, "bundle", KERNEL, "-o", SCRATCH / "x", "--name", "a-b", status=1)
        self.assertIn("'a-b'", text)
        self.assertFalse((SCRATCH / "x").exists())
        run(COMMAND, "bundle", KERNEL, status=2)
        run(COMMAND, "bundle", "-o", SCRATCH / "x", status=2)
        run(COMMAND, "bundle", KERNEL, "--check", folder, status=2)
        self.assertEqual([p for p in SCRATCH.iterdir() if ".part" in p.name], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[6:])
