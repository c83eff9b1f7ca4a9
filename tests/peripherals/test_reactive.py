#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Designs that answer to their peripherals: what drives their inputs is recorded, and Icarus Verilog,
given the same inputs, must find the same values of all nets at all edges. And devices and forms must
give the same bytes.

usage: test_reactive.py LOCKSTEP DESIGNS OUT
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cosim"))
import designs # noqa: E402
sys.path.insert(0, str(HERE.parent / "cosim" / "icarus"))
import compare_vcd # noqa: E402
import run_icarus # noqa: E402

designs.need("yosys", "iverilog")
LOCKSTEP, DESIGNS, OUT = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
del sys.argv[1:4]

MEMORY = {"clk": "sck", "d": [f"d[{i}]" for i in range(4)], "q": [f"q[{i}]" for i in range(4)],
          "writable": True, "size_bytes": 1 << 23}
CONFIGS = {
    "memories": {
        "clock": "clk", "reset": "reset_n", "reset_active_high": False, "reset_cycles": 4,
        "num_cycles": 700, "clock_period_ps": 10000,
        "qspi_memory": [{"name": "a", "csn": "csn0", **MEMORY}, {"name": "b", "csn": "csn1", **MEMORY}]},
    "counter": {
        "clock": "clk", "reset": "reset", "reset_active_high": True, "reset_cycles": 2, "num_cycles": 500,
        "clock_period_ps": 10000,
        "peripherals": [{"name": "noise", "type": "random", "pins": {"p0": "enable"},
                         "parameters": {"seed": 7, "period": 6, "phase": 3}}]},
}


class Reactive(unittest.TestCase):
    def setUp(self):
        self.folder = OUT / self.id().rpartition(".")[2]
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def example(self, name):
        """Copies a built example; answers the name of its netlist."""
        designs.build(DESIGNS, [name])
        for file in (DESIGNS / name).iterdir():
            shutil.copy(file, self.folder)
        if name in CONFIGS:
            (self.folder / "config.json").write_text(json.dumps(CONFIGS[name]))
        return "words.json"

    def netlist_of(self, source, top):
        subprocess.run(["yosys", "-q", "-p", f"read_verilog {source}; hierarchy -check -top {top};"
                        f" proc; opt; memory -nomap; opt_clean; write_json {top}.json"],
                       cwd=self.folder, check=True, timeout=60)
        return f"{top}.json"

    def cosim(self, netlist, *options):
        result = subprocess.run(
            [LOCKSTEP, "cosim", netlist, "--config", "config.json", "--quiet", *map(str, options)],
            cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200,
            env=dict(os.environ, XDG_CACHE_HOME=str(OUT / "cache")))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def check(self, netlist, top, edges, few=400):
        """Against Icarus; then a few edges in both forms and on the reference, and compat."""
        text = self.cosim(netlist, "--max-clock-edges", edges, "--stimulus-vcd", "inputs.vcd", "--output-vcd",
                          "ours.vcd", "--trace", "all", "--events", "events.json")
        theirs = self.folder / "theirs.vcd"
        run_icarus.run(self.folder / netlist, self.folder / "inputs.vcd", theirs, top=top)
        try:
            compare_vcd.compare(theirs, self.folder / "ours.vcd", compare_vcd.Options())
        except compare_vcd.Mismatch as mismatch:
            self.fail(str(mismatch))
        for compat in [], ["--compat", "jacquard"]:
            files = {}
            for device, form in ("cpu", "compiled"), ("cpu", "table"), ("reference", "compiled"):
                self.run_quietly(netlist, few, device, ["--form", form, *compat])
                files[device, form] = [(self.folder / f"{device}.{end}").read_bytes()
                                       for end in ("vcd", "json")]
            for each in files:
                self.assertEqual(files[each], files["cpu", "compiled"], (each, compat))
        return text

    def run_quietly(self, netlist, edges, device, options):
        """With compat the verdict is printed."""
        result = subprocess.run(
            [LOCKSTEP, "cosim", netlist, "--config", "config.json", "--quiet", "--max-clock-edges",
             str(edges), "--device", device, "--output-vcd", f"{device}.vcd", "--events",
             f"{device}.json", *options], cwd=self.folder, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=200,
            env=dict(os.environ, XDG_CACHE_HOME=str(OUT / "cache")))
        self.assertEqual(result.returncode, 0, result.stderr)

    def events(self):
        return json.loads((self.folder / "events.json").read_text())["events"]

    def final(self, name):
        """A signal's last value in ours.vcd."""
        with open(self.folder / "ours.vcd", encoding="ascii") as file:
            code, value = None, None
            for line in file:
                if line.startswith("$var") and line.split()[4] == name:
                    code = line.split()[3]
                elif code and line.rstrip("\n").endswith(code) and line[0] in "01b":
                    value = line.split()[0][1:] if line[0] == "b" else line[0]
        return value

    def test_soc(self):
        netlist = self.example("soc")
        text = self.check(netlist, "soc", 16500, 200)
        self.assertTrue(text.startswith("Lockstep SoC"), text)

    def test_dual_uart(self):
        netlist = self.example("dual_uart")
        self.check(netlist, "dual_uart", 10000)
        said = {}
        for event in self.events():
            said.setdefault(event["peripheral"], []).append(chr(event["payload"]))
        self.assertEqual({name: "".join(text) for name, text in said.items()},
                         {"uart_0": "Hi", "uart_1": "OK"})

    def test_flash(self):
        netlist = self.example("flash")
        self.check(netlist, "flash", 1500)
        self.assertEqual(self.final("all_match"), "1")

    def test_two_memories_on_one_bus(self):
        (self.folder / "config.json").write_text(json.dumps(CONFIGS["memories"]))
        netlist = self.netlist_of(HERE / "memories.v", "memories")
        self.check(netlist, "memories", 1400)
        self.assertEqual((self.final("done"), self.final("ok")), ("1", "1"))

    def test_a_users_peripherals(self):
        for file in (designs.EXAMPLES / "peripheral").iterdir():
            shutil.copy(file, self.folder)
        netlist = self.netlist_of("fan.v", "fan")
        self.check(netlist, "fan", 12000, 1100)
        self.assertEqual(len(self.events()), 7)

    def test_jtag(self):
        netlist = self.example("jtag")
        config = json.loads((self.folder / "config.json").read_text())
        config["jtag"].update({"replay": "session.txt", "hold_edges": 2})
        (self.folder / "config.json").write_text(json.dumps(config))
        (self.folder / "session.txt").write_text(designs.jtag_session(0xcafebabe))
        self.check(netlist, "jtag", 1200)
        answers = [event["payload"] for event in self.events() if event["event"] == "tdo"]
        self.assertEqual(sum(bit << i for i, bit in enumerate(answers)), 0x1c0de001)
        self.assertEqual(int(self.final("data"), 2), 0xcafebabe)

    def test_random_stimulus(self):
        netlist = self.example("counter")
        self.check(netlist, "counter", 1000)
        with open(self.folder / "inputs.vcd", encoding="ascii") as file:
            self.assertGreater(sum(line.startswith(("0", "1")) for line in file), 1050)


if __name__ == "__main__":
    unittest.main(warnings="ignore")
