#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels that go wrong: findings of the sanitizer, traps, endless loops, Ctrl-C."""

import os
import pty
import re
import select
import signal
import subprocess
import time

import cli

SPIN = "kernel void spin(u32 *y) { y[0] = 1u; for (;;) y[1] += 1u; }\n"


class Sanitizer(cli.Case):
    def findings(self, text, *args):
        self.write("k.kc", text)
        result = self.run_command("run", "k.kc", "--sanitize", *args)
        self.assertEqual(result.returncode, 1, result)
        lines = result.stderr.splitlines()
        self.assertRegex(lines[-1], r"^lockstep: the sanitizer has \d+ findings?$")
        self.assertEqual(int(lines[-1].split()[4]), len(lines) - 1)
        return lines[:-1]

    def test_race(self):
        lines = self.findings("kernel void k(u32 *y)\n{\n    y[2] = global_id(0);\n}\n",
                              "--global", "64", "y=zeros:u32:4")
        self.assertRegex(lines[0], r"^k\.kc:3:\d+: .*race.*: kernel k, workgroup 0,0,0, lane \d+, "
                                   r"y\[2\] \(byte 8\); the other access: line 3, ")

    def test_out_of_bounds(self):
        lines = self.findings("kernel void k(const u32 *x, u32 *y)\n"
                              "{\n    if (global_id(0) == 70)\n        y[0] = x[9];\n}\n",
                              "--global", "128", "x=zeros:u32:8", "y=zeros:u32:4")
        self.assertRegex(lines[0], r"^k\.kc:4:\d+: .*bounds.*: kernel k, workgroup 1,0,0, lane 6, "
                                   r"x\[9\]")

    def test_clean(self):
        self.write("k.kc", "kernel void k(u32 *y) { y[global_id(0)] += 1u; }\n")
        out = self.good("run", "k.kc", "--sanitize", "--global", "64", "y=zeros:u32:64")
        self.assertIn("the sanitizer found nothing", out)

    def test_many_findings_are_cut(self):
        body = "".join(f"    y[{i}] = global_id(0);\n" for i in range(150))
        self.write("k.kc", "kernel void k(u32 *y)\n{\n" + body + "}\n")
        result = self.run_command("run", "k.kc", "--sanitize", "--global", "64", "y=zeros:u32:200")
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 101)
        self.assertIn("the first 100 are shown", lines[-1])


class Traps(cli.Case):
    def test_trap(self):
        self.write("t.kc", "kernel workgroup(4, 2) void t(u32 *y)\n"
                           "{ if (global_id(0) >= 5 && global_id(1) == 3) trap(42u);"
                           " y[0] = 1u; }\n")
        self.bad("run", "t.kc", "--global", "12,4", "y=zeros:u32:1", "--save", "y=y.npy",
                 says="kernel t trapped with code 42 in workgroup 1,1,0, lane 5")


class Endless(cli.Case):
    def setUp(self):
        super().setUp()
        self.write("spin.kc", SPIN)
        self.command = [cli.COMMAND, "run", "spin.kc", "--global", "1", "y=zeros:u32:2",
                        "--save", "y=y.npy"]

    def test_time_limit(self):
        start = time.monotonic()
        self.bad(*self.command[1:], "--time-limit", "0.2", says="time limit")
        self.assertLess(time.monotonic() - start, 20)

    def interrupt(self, number):
        before = sorted(self.folder.iterdir())
        process = subprocess.Popen(self.command, cwd=self.folder, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while process.poll() is None and sorted(self.folder.iterdir()) == before:
            time.sleep(0.01)  # until the output is open, which is just before the kernel starts
        time.sleep(0.1)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (128 + number, ""), err)
        self.assertRegex(re.sub(cli.NOTE, "", err), r"^lockstep: .*cancelled.*\n$")
        self.assertEqual(sorted(self.folder.iterdir()), before)

    def test_ctrl_c(self):
        self.interrupt(signal.SIGINT)

    def test_termination(self):
        self.interrupt(signal.SIGTERM)

    def test_ignored_signal_stays_ignored(self):
        """As under nohup."""
        process = subprocess.Popen(
            [*self.command, "--time-limit", "1"], cwd=self.folder, stderr=subprocess.PIPE,
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        time.sleep(0.5)
        process.send_signal(signal.SIGHUP)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertIn(b"time limit", err)

    def test_progress_on_a_terminal(self):
        ours, theirs = pty.openpty()
        process = subprocess.Popen([*self.command, "--time-limit", "1.5"], cwd=self.folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=theirs)
        os.close(theirs)
        text = b""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if not select.select([ours], [], [], 1)[0]:
                continue
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other side is closed
                break
            if not part:
                break
            text += part
        os.close(ours)
        self.assertEqual(process.wait(timeout=60), 1)
        self.assertIn(b"spin: running for 0.", text)
        self.assertIn(b"\x1b[K", text)
        self.assertIn(b"lockstep: ", text)


class Pipes(cli.Case):
    """Outputs that wait for a reader."""

    def setUp(self):
        super().setUp()
        os.mkfifo(self.path("p.npy"))
        self.command = [cli.COMMAND, "run", "saxpy.kc", "--global", "1", "n=1", "a=1",
                        "x=zeros:f32:100000", "y=zeros:f32:1", "--save", "x=p.npy",
                        "--save", "y=y.npy"]

    def start(self):
        return subprocess.Popen(self.command, cwd=self.folder, stderr=subprocess.PIPE)

    def check_end(self, process, code):
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, code)
        self.assertFalse(self.path("y.npy").exists())

    def test_nobody_reads(self):
        process = self.start()
        time.sleep(0.5)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.check_end(process, 130)

    def test_stopped_while_saving(self):
        for patient in True, False:
            reader = os.open(self.path("p.npy"), os.O_RDONLY | os.O_NONBLOCK)
            process = self.start()
            self.assertTrue(select.select([reader], [], [], 60)[0])
            process.send_signal(signal.SIGINT)
            if patient:
                os.set_blocking(reader, True)
                while os.read(reader, 65536):
                    pass
                self.check_end(process, 130)
            else:
                time.sleep(0.3)
                self.assertIsNone(process.poll())
                process.send_signal(signal.SIGINT)
                self.check_end(process, -signal.SIGINT)
            os.close(reader)


class Input(cli.Case):
    def test_stopped_while_waiting(self):
        """For a file that somebody has not written yet."""
        os.mkfifo(self.path("in.npy"))
        for command in (["cosim", "counter.json", "--config", "in.npy"],
                        ["sim", "counter.json", "in.npy", "out.vcd"],
                        ["perplexity", "-m", "model.gguf", "-f", "in.npy"],
                        ["chat", "-m", "model.gguf", "--load", "in.npy"]):
            process = subprocess.Popen([cli.COMMAND, *command], cwd=self.folder, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            with open(self.path("in.npy"), "wb"):  # it waits for the reader
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=300)
            self.assertEqual(process.returncode, 130, command)
            self.assertFalse(self.path("out.vcd").exists())


if __name__ == "__main__":
    cli.main()
