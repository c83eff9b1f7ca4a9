#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lockstep sim and lockstep cosim on a small netlist: what is written, to the byte, and errors."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

import cli

HEADER = """$timescale {} $end
$scope module counter $end
$var wire 1 ! clk $end
$var wire 1 " reset $end
$var wire 1 # enable $end
$var wire 8 $ count [7:0] $end
$var wire 1 % last $end
$upscope $end
$enddefinitions $end
"""


def values(text):
    """{time: values} of a waveform with the header above."""
    times, now, found = {}, {}, None
    for line in text.partition("$enddefinitions $end\n")[2].splitlines():
        if line.startswith("#"):
            found = times.setdefault(int(line[1:]), {})
        elif line[0] in "01":
            now[line[1:]] = int(line[0])
        elif line[0] == "b":
            digits, name = line[1:].split()
            now[name] = int(digits, 2)
        if found is not None:
            found.update(now)
    return times


class Sim(cli.Case):
    def sim(self, *options):
        self.good("sim", "counter.json", "stimulus.vcd", "out.vcd", *options)
        return self.path("out.vcd").read_text()

    def test_waveform_to_the_byte(self):
        self.assertEqual(self.sim(), HEADER.format("1 ns") + """#0
$dumpvars
0!
1"
0#
b0 $
0%
$end
#5
1!
#10
0!
0"
1#
#15
1!
b1 $
#20
0!
#25
1!
0#
b10 $
#30
0!
#35
1!
""")

    def test_data_that_changes_with_the_clock(self):
        # enable falls together with clk: seen, or not seen any more.
        self.assertEqual(values(self.sim())[35]["$"], 2)
        for options in ((), ("--clock", "clk")):
            after = values(self.sim("--sample", "after", *options))
            self.assertEqual(after[35]["$"], 1)

    def test_compat(self):
        # Rows at rising edges: what is seen there, with the time of the one before.
        bits = "".join(f"$var wire 1 {chr(33 + i)} count[{7 - i}] $end\n" for i in range(8))
        expected = ("$timescale 1 ns $end\n$scope module gem_top_module $end\n" + bits +
                    "$var wire 1 ) last $end\n$upscope $end\n$enddefinitions $end\n$dumpvars\n#5\n" +
                    "".join(f"0{chr(33 + i)}\n" for i in range(9)) + "#15\n1(\n")
        for batch in ("1", "2", "1000"):
            self.assertEqual(self.sim("--compat", "jacquard", "--batch", batch), expected)

    def test_windows(self):
        text = self.sim("--from", "11", "--to", "25")
        self.assertEqual(text.partition("$enddefinitions $end\n")[2],
                         '#15\n$dumpvars\n1!\n0"\n1#\nb1 $\n0%\n$end\n#20\n0!\n')

    def test_batches_make_no_difference(self):
        whole = self.sim()
        for batch in ("1", "3"):
            self.assertEqual(self.sim("--batch", batch), whole)

    def test_devices_make_no_difference(self):
        self.assertEqual(self.sim("--device", "reference"), self.sim())

    def test_selected_signals(self):
        self.assertNotIn("clk", self.sim("--trace", "outputs"))
        self.write("names", "count # the register\n\n")
        text = self.sim("--trace", "outputs", "--trace-signals", "names")
        self.assertEqual(text.count("$var"), 2)

    def test_one_variable_for_each_bit(self):
        text = self.path("stimulus.vcd").read_text()
        self.write("bits.vcd", text.replace("1 # enable ", "1 # enable [0] "))
        whole = self.sim()
        self.good("sim", "counter.json", "bits.vcd", "out.vcd")
        self.assertEqual(self.path("out.vcd").read_text(), whole)

    def test_bad_stimuli(self):
        text = self.path("stimulus.vcd").read_text()
        for old, new, says in (
                ("1 # enable", "1 # enabel", "lacks inputs in scope 'tb.dut': enable"),
                ("#10", "#1", "time goes back"),
                ("#35\n1!\n", "#35\n1!\nb101", "the file ends in the middle of a value"),
                ("$enddefinitions $end", "", "VCD: ")):
            self.write("bad.vcd", text.replace(old, new))
            before = self.run_command("sim", "counter.json", "bad.vcd", "out.vcd")
            self.assertEqual(before.returncode, 1)
            self.assertIn(says, before.stderr)
            self.assertEqual(len(before.stderr.splitlines()), 1, before.stderr)
        self.bad("sim", "counter.json", "stimulus.vcd", "out.vcd", "--input-vcd-scope", "tb.x",
                 says=["lacks inputs in scope 'tb.x'", "--input-vcd-scope"])
        self.bad("sim", "counter.json", "none.vcd", "out.vcd", says="none.vcd")
        self.bad("sim", "counter.json", "stimulus.vcd", "stimulus.vcd", says="read and written")
        self.bad("sim", "counter.json", "stimulus.vcd", says="three files", status=2)


class Cosim(cli.Case):
    def cosim(self, *options):
        return self.good("cosim", "counter.json", "--config", "config.json", *options)

    def config(self, **changes):
        config = json.loads(self.path("config.json").read_text())
        config.update(changes)
        self.write("config.json", json.dumps(config))

    def test_waveform(self):
        self.cosim("--output-vcd", "out.vcd")
        text = self.path("out.vcd").read_text()
        self.assertTrue(text.startswith(HEADER.format("1 ps") + '#0\n$dumpvars\n0!\n1"\n1#\nb0 $\n'))
        times = values(text)
        self.assertEqual(max(times), 300 * 40000 - 20000)
        for when, now in times.items():
            edges = max(0, (when - 60000) // 40000)  # rising edges after reset
            self.assertEqual(now["$"], edges % 256, when)

    def test_forms_devices_batches(self):
        self.cosim("--output-vcd", "a.vcd", "--report", "a.json")
        for options in (("--device", "reference"), ("--form", "table"), ("--batch", "7"),
                        ("--workgroups", "3"), ("--workgroups", "2", "--device", "reference"),
                        ("--threads", "2", "--batch", "100")):
            self.cosim("--output-vcd", "b.vcd", "--report", "b.json", *options)
            for file in ("vcd", "json"):
                self.assertEqual(self.path("a." + file).read_bytes(),
                                 self.path("b." + file).read_bytes(), options)

    def test_the_form_is_said(self):
        result = self.run_command("cosim", "counter.json", "--config", "config.json", "--verbose")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"lockstep: note: (table-driven|compiled)")

    def test_workgroups(self):
        for number, says in (("0", "from 1 on"), ("x", "takes a number"),
                             ("1025", "at most 1024 for an instance")):
            result = self.run_command("cosim", "counter.json", "--config", "config.json",
                                      "--workgroups", number)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(says, result.stderr)
        result = self.run_command("cosim", "counter.json", "--config", "config.json",
                                  "--workgroups", "2", "--form", "compiled")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("only the table-driven form", result.stderr)
        result = self.run_command("cosim", "counter.json", "--config", "config.json",
                                  "--workgroups", "2", "--verbose")
        self.assertIn("shared by 2 workgroups", result.stderr)

    def test_check_with(self):
        self.cosim("--check-with", "reference", "--batch", "50")

    def test_compat(self):
        result = self.run_command("cosim", "counter.json", "--config", "config.json", "--compat",
                                  "jacquard", "--output-vcd", "out.vcd")
        self.assertEqual((result.returncode, result.stderr), (0, "SIMULATION: PASSED\n"))
        bits = "".join(f"$var wire 1 {chr(33 + i)} count[{7 - i}] $end\n" for i in range(8))
        self.assertTrue(self.path("out.vcd").read_text().startswith(
            "$timescale 1 ps $end\n$scope module top $end\n" + bits + "$var wire 1 ) last $end\n"
            "$upscope $end\n$enddefinitions $end\n$dumpvars\n#0\n"
            "0!\n0\"\n0#\n0$\n0%\n0&\n0'\n0(\n0)\n#120000\n1(\n#160000\n1'\n0(\n"))

    def test_instances(self):
        self.cosim("--instances", "3", "--x-init", "random:1", "--report", "r.json")
        report = json.loads(self.path("r.json").read_text())["instances"]
        self.assertEqual([i["instance"] for i in report], [0, 1, 2])
        self.assertTrue(all(i["verdict"] == "passed" and i["edges"] == 600 for i in report))

    def test_an_instance_that_has_stopped_stands_still(self):
        # Each counts at edges of its own, and stops when it has reached its last number.
        self.config(constant_ports={}, num_cycles=3000, gpios=[{"name": "g", "watch": ["last"]}],
                    peripherals=[{"name": "r", "type": "random", "pins": {"p0": "enable"}}])
        self.write("commands", json.dumps({"commands": [
            {"type": "wait", "peripheral": "g", "event": "change", "payload": "1"},
            {"type": "stop"}]}))

        def run(instances, *options):
            self.cosim("--instances", str(instances), "--input-commands", "commands", "--report",
                       "r.json", "--output-vcd", "out.vcd", "--events", "e{instance}", *options)
            return json.loads(self.path("r.json").read_text())["instances"]

        one = run(1)
        wave = self.path("out.vcd").read_bytes()
        events = self.path("e0").read_bytes()
        all = run(40, "--cosim-perf-json", "p.json")
        self.assertEqual(all[0], one[0])
        edges = [instance["edges"] for instance in all]
        self.assertEqual({instance["stop"] for instance in all}, {"stop"})
        self.assertGreater(len(set(edges)), 20)
        self.assertLess(max(edges), 6000)
        self.assertEqual(json.loads(self.path("p.json").read_text())["edges"], sum(edges))
        for options in (("--batch", "7"), ("--batch", "500", "--form", "table"),
                        ("--workgroups", "2"), ("--form", "sliced"), ("--form", "compiled"), ("--check-with", "reference",
                                                                       "--batch", "900")):
            instances = 3 if options[1] == "7" else 40 # a launch every 7 edges
            self.assertEqual(run(instances, *options), all[:instances], options)
            self.assertEqual(self.path("out.vcd").read_bytes(), wave, options)
            self.assertEqual(self.path("e0").read_bytes(), events, options)

    def test_windows_and_inputs(self):
        self.cosim("--output-vcd", "out.vcd", "--from", "100000", "--to", "200000",
                   "--stimulus-vcd", "in.vcd")
        times = values(self.path("out.vcd").read_text())
        self.assertEqual((min(times), max(times)), (100000, 180000))
        text = self.path("in.vcd").read_text()
        self.assertEqual(text.count("$var"), 3)

    def test_performance_report(self):
        self.cosim("--cosim-perf-json", "p.json")
        self.assertEqual(json.loads(self.path("p.json").read_text())["edges"], 600)

    def test_bad_configurations(self):
        def bad(says, *options, **changes):
            self.config(**changes)
            self.bad("cosim", "counter.json", "--config", "config.json", *options, says=says)
            shutil.copy(cli.ROOT / "tests/cli/data/config.json", self.folder)
        bad(".clock", clock="clock")
        bad(".clock_period_ps: must be at least 2", clock_period_ps=0)
        bad(".uarts[0]: needs baud_rate", uarts=[{"tx": "last"}])
        bad("does not fit in 1 bits", constant_ports={"enable": 2})
        bad("lower.kc", peripherals=[{"type": "lower", "source": "lower.kc"}])
        bad(["--console", "uart_7"], "--console", "uart_7")
        bad(["--input", "uart_7"], "--input", "uart_7")
        bad("reset_active_high", reset_active_high=None)
        self.write("config.json", "{")
        self.bad("cosim", "counter.json", "--config", "config.json", says="config.json:1:")
        self.bad("cosim", "counter.json", says="--config", status=2)
        self.bad("cosim", "counter.json", "--config", "none.json", says="none.json")

    def test_unknown_keys_are_noted(self):
        self.config(colour=1)
        result = self.run_command("cosim", "counter.json", "--config", "config.json")
        self.assertEqual(result.returncode, 0)
        self.assertIn(".colour is not known and ignored", result.stderr)

    def test_no_file_is_written_that_is_read_or_written(self):
        self.config()
        command = ["cosim", "counter.json", "--config", "config.json", "--no-cache"]
        for name in ("counter.json", "config.json"):
            before = self.path(name).read_bytes()
            for option in ("--output-vcd", "--events", "--report", "--cosim-perf-json"):
                result = self.run_command(*command, option, name)
                self.assertEqual(result.returncode, 1)
                self.assertIn(f"'{name}' is both read and written", result.stderr)
            self.assertEqual(self.path(name).read_bytes(), before)
        result = self.run_command(*command, "--output-vcd", "out", "--events", "./out")
        self.assertEqual(result.returncode, 1)
        self.assertIn("'./out' is written twice", result.stderr)
        self.good(*command, "--output-vcd", "/dev/null", "--events", "/dev/null")

    def test_inputs_of_all_kinds_are_not_overwritten(self):
        self.write("i", '{"commands": []}')
        self.write("e", '{"events": []}')
        self.write("line", "")
        for key, value in (
                ("input_commands", "i"), ("events_reference", "e"),
                ("memories", [{"name": "m", "file": "line"}]),
                ("sram_init", {"elf_path": "line"}),
                ("peripherals", [{"type": "t", "source": "line"}]),
                ("peripherals", [{"type": "random", "image": "line"}]),
                ("qspi_memory", [{"clk": "last", "csn": "last", "d": ["last"], "q": ["enable"],
                                  "firmware": "{instance}ine"}]),
                ("jtag", {"tck": "clk", "tms": "enable", "tdi": "enable", "replay": "line"})):
            self.config(**{key: value})
            name = {"input_commands": "i", "events_reference": "e"}.get(key, "line")
            if key == "qspi_memory":
                name = "0ine"
                self.write(name, "")
            before = self.path(name).read_bytes()
            for option in "--output-vcd", "--report":
                result = self.run_command("cosim", "counter.json", "--config", "config.json",
                                          option, "./" + name)
                self.assertEqual(result.returncode, 1)
                self.assertIn(f"'./{name}' is both read and written", result.stderr, key)
            self.assertEqual(self.path(name).read_bytes(), before)
            shutil.copy(cli.ROOT / "tests/cli/data/config.json", self.folder)
        self.write("names", "count\n")
        for arguments in (("sim", "counter.json", "stimulus.vcd", "names"),
                          ("cosim", "counter.json", "--config", "config.json", "--output-vcd",
                           "names")):
            self.bad(*arguments, "--trace-signals", "names", says="'names' is both read and written")
        self.path("link.vcd").hardlink_to(self.path("stimulus.vcd"))
        self.bad("sim", "counter.json", "stimulus.vcd", "link.vcd",
                 says="'link.vcd' is both read and written")
        self.bad("cosim", "counter.json", "--config", "config.json", "--instances", "3",
                 "--events", "e{instance}", "--report", "e2", says="'e2' is written twice")

    def test_a_run_that_does_not_begin_empties_no_file(self):
        self.write("old", "what was here")
        for command in (("cosim", "counter.json", "--config", "config.json", "--workgroups", "100000",
                         "--output-vcd", "old"),
                        ("cosim", "counter.json", "--config", "config.json", "--workgroups", "100000",
                         "--stimulus-vcd", "old"),
                        ("cosim", "counter.json", "--config", "config.json", "--workgroups", "100000",
                         "--dump-dff", "old"),
                        ("sim", "counter.json", "stimulus.vcd", "old", "--workgroups", "100000")):
            result = self.run_command(*command)
            self.assertEqual(result.returncode, 1, command)
            self.assertIn("workgroups", result.stderr)
            self.assertEqual(self.path("old").read_text(), "what was here", command)

    def test_one_input_has_one_driver(self):
        def bad(says, **changes):
            self.config(**changes)
            self.bad("cosim", "counter.json", "--config", "config.json", says=says)
            shutil.copy(cli.ROOT / "tests/cli/data/config.json", self.folder)
        clocks = [{"signal": "clk", "period_ps": 40000}, {"signal": "clk", "period_ps": 10000}]
        bad(".clocks[0] and .clocks[1] are both the input clk", clocks=clocks)
        bad(".clock and .constant_ports.clk are both the input clk", constant_ports={"clk": 1})
        bad(".constant_inputs.3 and .constant_ports.enable are both the input enable",
            constant_inputs={"3": 1}, port_mapping={"inputs": {"3": "enable"}})
        bad(".clock and .reset are both the input clk", reset="clk")
        uart = {"name": "u", "rx": "enable", "baud_rate": 115200}
        bad(".uarts[0].rx and .gpios[0].pins[0] are both the input enable", constant_ports={},
            uarts=[uart], gpios=[{"signals": ["enable"]}])
        bad(".uarts[0] and .uarts[1] have the same name, u", constant_ports={},
            uarts=[uart, {"name": "u", "tx": "last", "baud_rate": 115200}])
        bad(".uart and .uarts[0] have the same name, u", constant_ports={},
            uart=uart, uarts=[{"name": "u", "tx": "last", "baud_rate": 115200}])
        bad(".clock and .uarts[0].rx are both the input clk", uarts=[dict(uart, rx="clk")])

    def test_what_may_be_meant_is_noted(self):
        def notes(**changes):
            self.config(num_cycles=4, **changes)
            result = self.run_command("cosim", "counter.json", "--config", "config.json",
                                      "--no-cache", "--form", "table")
            self.assertEqual(result.returncode, 0, result.stderr)
            shutil.copy(cli.ROOT / "tests/cli/data/config.json", self.folder)
            return result.stderr
        flash = {"clk": "count[0]", "csn": "count[1]", "d": ["count[2]"], "q": [None, "enable"]}
        self.assertIn(".constant_ports.enable and .qspi_memory[0].q[1] both drive enable",
                      notes(qspi_memory=[flash]))
        self.assertIn(".qspi_memory[0].q[1] and .qspi_memory[1].q[1] both drive enable",
                      notes(constant_ports={}, qspi_memory=[flash, flash]))
        # One bus, selected one at a time.
        self.assertEqual(notes(constant_ports={},
                               qspi_memory=[flash, dict(flash, csn="count[3]")]), "")
        # Both halves of a UART have one name.
        self.assertEqual(notes(constant_ports={}, uarts=[
            {"name": "u", "rx": "enable", "tx": "last", "baud_rate": 115200}]), "")

    def test_the_reference_is_read_before_the_run(self):
        def bad(says, *options):
            self.bad("cosim", "counter.json", "--config", "config.json", "--output-vcd", "o.vcd", "--report",
                     "r.json", *options, says=says)
        self.write("good.json", '{"events": []}')
        self.write("list.json", "[]")
        self.write("cut.json", '{"events": [')
        bad("cannot open 'none.json'", "--events-reference", "none.json")
        bad("list.json is no file of events: .events must be an array", "--events-reference", "list.json")
        bad("cut.json:1:", "--events-reference", "cut.json")
        for i in 0, 1:
            shutil.copy(self.path("good.json"), self.path(f"e{i}.json"))
        bad("cannot open 'e2.json'", "--events-reference", "e{instance}.json", "--instances", "3")
        self.cosim("--events-reference", "e{instance}.json", "--instances", "2")
        self.config(events_reference="list.json")
        bad("list.json is no file of events")
        self.cosim("--events-reference", "good.json")

    def test_files_have_limits(self):
        """Sparse files, which take no room."""
        with open(self.path("large"), "wb") as file:
            file.truncate((1 << 30) + 1)
        flash = {"clk": "count[0]", "csn": "count[1]", "d": ["count[2]"], "q": [None, "enable"],
                 "firmware": "large"}
        limit = "'large' has 1073741825 bytes, more than the limit of 1073741824"
        for place, changes in (
                (".qspi_memory[0].firmware: ", {"qspi_memory": [flash]}),
                (".peripherals[0].image: ", {"peripherals": [{"type": "random", "image": "large"}]}),
                (".jtag.replay: ", {"jtag": {"tck": "clk", "tms": "enable", "tdi": "enable",
                                             "replay": "large"}}),
                ("", {"events_reference": "large"}), ("", {"input_commands": "large"})):
            self.config(constant_ports={}, **changes)
            self.bad("cosim", "counter.json", "--config", "config.json", says=place + limit)
            shutil.copy(cli.ROOT / "tests/cli/data/config.json", self.folder)
        self.bad("cosim", "counter.json", "--config", "large", says=limit)
        self.config(constant_ports={}, qspi_memory=[dict(flash, firmware="none{instance}")])
        self.bad("cosim", "counter.json", "--config", "config.json",
                 says=".qspi_memory[0].firmware: cannot open 'none0'")

    def test_images_of_all_instances_have_a_limit(self):
        """4 GiB: that many of a file of 16 MiB; the others have a byte."""
        flash = {"clk": "count[0]", "csn": "count[1]", "d": ["count[2]"], "q": [None, "enable"],
                 "firmware": "f{instance}"}
        for i in range(257):
            with open(self.path(f"f{i}"), "wb") as file:
                file.truncate(1 if i else 1 << 24)
        self.config(constant_ports={}, qspi_memory=[flash])
        self.bad("cosim", "counter.json", "--config", "config.json", "--instances", "257",
                 says=".qspi_memory[0].firmware: the images of 257 instances have more than 4294967296 bytes")

    def test_memory_of_peripherals_has_a_limit(self):
        self.config(peripherals=[{"name": f"p{i}", "type": "random", "memory_words": 1 << 28,
                                  "pins": {}} for i in range(4)])
        self.bad("cosim", "counter.json", "--config", "config.json", "--device", "reference",
                 says="the memory of all peripherals is 4 GiB or more")

    def test_peripherals_of_users_on_one_input(self):
        self.write("drive.kc", "static void drive_step(struct drive_pins *pins, const struct drive_parameters "
                   "*parameters, const struct step *step, u32 *memory, const u8 *image, u64 image_bytes, u64 "
                   "*events) { pins->led = step->edge & 1ul; }\n")
        self.write("look.kc", "static void look_step(struct look_pins *pins, const struct look_parameters "
                   "*parameters, const struct step *step, u32 *memory, const u8 *image, u64 image_bytes, u64 "
                   "*events) { if (pins->led == memory[0]) memory[0] = 1u; /* pins->led = 1 */ }\n")

        def notes(*kinds, **changes):
            self.config(num_cycles=4, peripherals=[
                {"name": f"p{i}", "type": kind, "source": f"{kind}.kc", "pins": {"led": "enable"}}
                for i, kind in enumerate(kinds)], **changes)
            result = self.run_command("cosim", "counter.json", "--config", "config.json",
                                      "--no-cache", "--form", "table")
            self.assertEqual(result.returncode, 0, result.stderr)
            return result.stderr
        self.assertEqual(notes("drive", "drive", constant_ports={}),
                         "lockstep: note: config.json: .peripherals[0].pins.led and "
                         ".peripherals[1].pins.led both drive enable\n")
        for kinds in (("drive", "look"), ("look", "drive"), ("look", "look")):
            self.assertEqual(notes(*kinds, constant_ports={}), "", kinds)
        self.assertEqual(notes("look", constant_ports={"enable": 1}), "")
        self.assertIn(".constant_ports.enable and .peripherals[0].pins.led both drive enable",
                      notes("drive", constant_ports={"enable": 1}))

    def test_built_in_peripherals_look_at_inputs(self):
        """An input that a built-in type looks at is not driven by it: a clock, a line, a pin."""
        self.config(num_cycles=20, peripherals=[
            {"name": "bus", "type": "wishbone_trace",
             "pins": {"clk": "clk", "cyc": "enable", "stb": "enable", "we": "enable", "adr": "count",
                      "dat_w": "count", "dat_r": "count"}},
            {"name": "pins", "type": "gpio", "pins": {"in0": "clk", "in1": "enable"}},
            {"name": "line", "type": "uart_tx", "pins": {"tx": "reset"}, "parameters": {"bit_edges": 8}}])
        self.cosim("--bus-trace-csv", "bus.csv")
        rows = self.path("bus.csv").read_text().splitlines()[1:]
        self.assertGreater(len(rows), 10)
        self.assertTrue(all(",bus,wishbone,WR,0x" in row for row in rows), rows)
        self.assertEqual([int(row.split(",")[0]) % 2 for row in rows], [1] * len(rows)) # rising edges

    def test_what_sources_include_is_not_overwritten(self):
        self.path("sub").mkdir()
        self.write("sub/own.kc", "#include \"rules.kc\"\n")
        self.write("sub/rules.kc", '#include "deep.kc"\n')
        self.write("sub/deep.kc", "x")
        self.write("top.v", '`include "sub/defines.vh"\n// `include "free"\n'
                   'initial $readmemh ( "words.hex", ram);\n')
        for name in ("sub/defines.vh", "words.hex", "free"):
            self.write(name, "y")
        self.config(peripherals=[{"type": "own", "source": "sub/own.kc"}])
        for name in ("sub/rules.kc", "sub/deep.kc", "sub/defines.vh", "words.hex", "top.v"):
            for command in (("cosim", "top.v", "--config", "config.json", "--output-vcd", name),
                            ("sim", "top.v", "stimulus.vcd", name)):
                if command[0] == "cosim" or not name.endswith(".kc"):
                    self.bad(*command, says=f"'{name}' is both read and written")
        result = self.run_command("sim", "top.v", "stimulus.vcd", "free")
        self.assertNotIn("read and written", result.stderr)

    def test_outputs_are_each_for_itself(self):
        result = self.run_command("cosim", "counter.json", "--config", "config.json", "--no-cache",
                                  "--output-vcd", "/dev/full", "--stimulus-vcd", "in.vcd",
                                  "--events", "/dev/full", "--report", "r.json",
                                  "--bus-trace-csv", "b.csv")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr.count("cannot write '/dev/full'"), 2, result.stderr)
        report = json.loads(self.path("r.json").read_text())["instances"][0]
        self.assertEqual((report["edges"], report["verdict"]), (600, "passed"))
        self.assertTrue(self.path("b.csv").read_text().startswith("tick,"))
        self.cosim("--stimulus-vcd", "whole.vcd")
        self.assertEqual(self.path("in.vcd").read_bytes(), self.path("whole.vcd").read_bytes())
        result = self.run_command("sim", "counter.json", "stimulus.vcd", "/dev/full")
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot write '/dev/full'", result.stderr)

    def test_standard_output_that_cannot_be_written(self):
        # A line that toggles every clock is U, without an end.
        self.config(num_cycles=0, uarts=[{"tx": "count[0]", "cycles_per_bit": 1}])
        command = [cli.COMMAND, "cosim", "counter.json", "--config", "config.json", "--no-cache",
                   "--report", "r.json"]
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.assertEqual(process.stdout.read(3), b"UUU")
        process.stdout.close()
        error = process.stderr.read()
        self.assertEqual((process.wait(timeout=60), error), (128 + signal.SIGPIPE, b""))
        process.stderr.close()
        report = json.loads(self.path("r.json").read_text())["instances"][0]
        self.assertEqual((report["stop"], report["verdict"]), ("interrupted", "interrupted"))
        with open("/dev/full", "wb") as full:
            result = subprocess.run(command + ["--max-clock-edges", "3000"], cwd=self.folder,
                                    stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr.count("cannot write to standard output: No space"), 1)
        report = json.loads(self.path("r.json").read_text())["instances"][0]
        self.assertEqual((report["edges"], report["verdict"]), (3000, "passed"))

    def test_registers_of_the_first_edges(self):
        self.cosim("--dump-dff", "d.txt")
        expected = "".join(
            f"edge {e} ({e * 20000} ps)\ncount = 8'h{max(0, (e + 1) // 2 - 2):02x}\n"
            for e in range(40))
        self.assertEqual(self.path("d.txt").read_text(), expected)
        # Under other names, in part or whole, also before it in the file, it is the same register.
        netlist = json.loads(self.path("counter.json").read_text())
        nets = netlist["modules"]["counter"]["netnames"]
        bits = nets["count"]["bits"]
        netlist["modules"]["counter"]["netnames"] = {
            "$made": {"hide_name": 1, "bits": bits, "attributes": {}}, **nets,
            "core.count": {"hide_name": 0, "bits": bits, "attributes": {}},
            "low": {"hide_name": 0, "bits": bits[:3], "attributes": {}}}
        self.write("aliases.json", json.dumps(netlist))
        self.good("cosim", "aliases.json", "--config", "config.json", "--dump-dff", "a.txt")
        self.assertEqual(self.path("a.txt").read_text(), expected)
        for options in (("--form", "table"), ("--compat", "jacquard"), ("--instances", "3")):
            result = self.run_command("cosim", "counter.json", "--config", "config.json",
                                      "--dump-dff", "e.txt", "--dump-dff-cycles", "3", "--report",
                                      "r.json", *options)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(self.path("e.txt").read_text().splitlines(),
                             expected.splitlines()[:12], options)
            report = json.loads(self.path("r.json").read_text())["instances"][0]
            self.assertEqual(report["edges"], 600)
        result = self.run_command("cosim", "counter.json", "--config", "config.json", "--dump-dff",
                                  "/dev/full")
        self.assertEqual((result.returncode, result.stderr.count("cannot write '/dev/full'")), (1, 1))
        self.bad("cosim", "counter.json", "--config", "config.json", "--dump-dff-cycles", "3",
                 says="--dump-dff-cycles needs --dump-dff", status=2)
        self.bad("cosim", "counter.json", "--config", "config.json", "--dump-dff", "config.json",
                 says="read and written")

    def test_tiers(self):
        self.config(num_cycles=20000)
        for tier, optimized in ("quick", False), ("optimized", True):
            self.cosim("--tier", tier, "--form", "compiled", "--cosim-perf-json", "p.json",
                       "--output-vcd", tier + ".vcd", "--no-cache")
            if json.loads(self.path("p.json").read_text())["backend"] == "cpu":
                self.assertEqual(json.loads(self.path("p.json").read_text())["optimized"], optimized)
            self.good("sim", "counter.json", "stimulus.vcd", "s.vcd", "--tier", tier)
        self.assertEqual(self.path("quick.vcd").read_bytes(),
                         self.path("optimized.vcd").read_bytes())
        self.bad("cosim", "counter.json", "--config", "config.json", "--tier", "best",
                 says="--tier takes quick or optimized", status=2)

    def test_jitter_moves_times_only(self):
        def wave(*options, **clock):
            self.config(clocks=[{"signal": "clk", "period_ps": 40000, **clock}])
            self.cosim("--output-vcd", "o.vcd", *options)
            return values(self.path("o.vcd").read_text())

        exact = wave()
        moved = wave(jitter_ps=3000)
        self.assertEqual(list(moved.values()), list(exact.values()))
        off = [new - old for new, old in zip(moved, exact)]
        self.assertEqual(off[0], 0)
        self.assertTrue(all(abs(o) <= 3000 for o in off))
        self.assertTrue(min(off) < -2500 and max(off) > 2500 and len(set(off)) > 300, off)
        self.assertEqual(wave("--batch", "7", "--form", "table", jitter_ps=3000), moved)
        self.assertNotEqual(wave(jitter_ps=3000, name="other"), moved)
        # The seed is drawn once, and then read.
        drawn = wave("--run-params", "seed.json", jitter_ps=3000)
        seed = json.loads(self.path("seed.json").read_text())["master_seed"]
        self.assertNotEqual(drawn, moved)
        self.assertEqual(wave("--run-params", "seed.json", jitter_ps=3000), drawn)
        self.assertEqual(json.loads(self.path("seed.json").read_text()), {"master_seed": seed})
        self.write("seed.json", '{"master_seed": 0}')
        self.assertEqual(wave("--run-params", "seed.json", jitter_ps=3000), moved)
        self.write("seed.json", '{"master_seed": "x"}')
        self.bad("cosim", "counter.json", "--config", "config.json", "--run-params", "seed.json",
                 says=".master_seed: must be a number")
        self.config(clocks=[{"signal": "clk", "period_ps": 40000, "jitter_ps": 20000}])
        result = self.run_command("cosim", "counter.json", "--config", "config.json")
        self.assertIn(".clocks[0].jitter_ps: cut to 9999 ps", result.stderr)

    def test_ahb_transfers(self):
        # Bits of the counter stand for the signals of a bus; a model of the protocol says what is
        # transferred.
        signals = {"haddr": "count", "htrans": "count[1:0]", "hwrite": "count[2]",
                   "hwdata": "count[6:1]", "hrdata": "count[7:3]", "hready": "count[4]",
                   "hresp": "count[5]", "hburst": "count[3:1]"}
        for protocol in "ahb-lite", "ahb5":
            self.config(bus_traces=[{"name": "b", "protocol": protocol, "signals": signals}])
            self.cosim("--bus-trace-csv", "b.csv", "--events", "e.json")
            names = ["SINGLE", "INCR", "WRAP4", "INCR4", "WRAP8", "INCR8", "WRAP16", "INCR16"]
            rows, events, pending = [], [], None
            for edge in range(1, 600, 2):  # rising ones, with the counter from before
                count = max(0, (edge + 1) // 2 - 3) % 256
                if not count >> 4 & 1:
                    continue
                if pending:
                    address, write, burst = pending
                    data = count >> 1 & 63 if write else count >> 3 & 31
                    error = count >> 5 & 1
                    rows.append(f"{edge},b,{protocol},{'WR' if write else 'RD'},0x{address:X},"
                                f"0x{data:X},{'ERR' if error else 'OK'},{burst}")
                    events.append((edge, ("write" if write else "read") + "_error" * error,
                                   {"addr": address, "data": data, "burst": burst}))
                active = count >> 1 & 1
                pending = (count, count >> 2 & 1, names[count >> 1 & 7]) if active else None
            self.assertGreater(len(rows), 60)
            self.assertEqual(self.path("b.csv").read_text().splitlines(),
                             ["tick,bus,protocol,dir,addr,data,resp,burst"] + rows)
            self.assertEqual([(e["timestamp"], e["event"], e["payload"]) for e in json.loads(
                self.path("e.json").read_text())["events"]], events)
        # A burst is a part of what is waited for.
        edge, name, payload = next(e for e in events if e[2]["burst"] == "INCR8")
        self.write("commands", json.dumps({"commands": [
            {"type": "wait", "peripheral": "b", "event": name, "payload": payload},
            {"type": "stop"}]}))
        self.cosim("--input-commands", "commands", "--report", "r.json")
        report = json.loads(self.path("r.json").read_text())["instances"][0]
        self.assertEqual((report["stop"], report["edges"]), ("stop", edge + 1))
        del signals["htrans"]
        self.config(bus_traces=[{"protocol": "ahb-lite", "signals": signals}])
        self.bad("cosim", "counter.json", "--config", "config.json",
                 says=".bus_traces[0]: htrans")

    def test_full_disk_leaves_whole_steps(self):
        self.config(num_cycles=100000)

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (300000, 300000))
        result = self.run_command("cosim", "counter.json", "--config", "config.json", "--no-cache",
                                  "--output-vcd", "out.vcd", preexec_fn=limit)
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot write 'out.vcd'", result.stderr)
        text = self.path("out.vcd").read_text()
        self.assertTrue(text.endswith("\n") and len(text) > 10000)
        values(text)

    def test_ctrl_c_leaves_whole_steps(self):
        self.config(num_cycles=0)
        process = subprocess.Popen([cli.COMMAND, "cosim", "counter.json", "--config", "config.json",
                                    "--output-vcd", "out.vcd", "--batch", "1000",
                                    "--report", "r.json"],
                                   cwd=self.folder, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and (not self.path("out.vcd").exists() or
                                               self.path("out.vcd").stat().st_size < 1000):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        error = process.communicate(timeout=30)[1]
        self.assertEqual(process.returncode, 130, error)
        report = json.loads(self.path("r.json").read_text())["instances"][0]
        self.assertEqual((report["stop"], report["verdict"]), ("interrupted", "interrupted"))
        text = self.path("out.vcd").read_text()
        self.assertTrue(text.endswith("\n"))
        values(text)

    def test_verilog(self):
        if not shutil.which("yosys"):
            self.skipTest("there is no yosys")
        shutil.copy(cli.ROOT / "examples/cosim/counter/counter.v", self.folder)
        result = self.run_command("cosim", "counter.v", "--config", "config.json", "--output-vcd",
                                  "v.vcd")
        self.assertEqual((result.returncode, result.stderr),
                         (0, "lockstep: note: Yosys makes the netlist\n"))
        self.cosim("--output-vcd", "j.vcd")
        self.assertEqual(self.path("v.vcd").read_bytes(), self.path("j.vcd").read_bytes())
        self.bad("cosim", "counter.json", "counter.v", "--config", "config.json",
                 says="only Verilog may be several files")

    def test_netlists_of_verilog_have_a_limit(self):
        """16 GiB, by what calls itself Yosys and writes a sparse file."""
        self.path("bin").mkdir()
        yosys = self.path("bin/yosys")
        yosys.write_text(f"""#!{sys.executable}
import re, sys
name = re.search('write_json "(.*)"', sys.argv[3])[1]
open(name, "r+b").truncate((1 << 34) + 1)
""")
        yosys.chmod(0o700)
        self.write("top.v", "")
        env = dict(os.environ, PATH=f"{self.path('bin')}:{os.environ['PATH']}", TMPDIR=str(self.folder))
        result = self.run_command("cosim", "top.v", "--config", "config.json", env=env)
        if "cannot" in result.stderr and "File too large" in result.stderr:
            self.skipTest("files of 16 GiB cannot be written here")
        self.assertEqual(result.returncode, 1)
        self.assertIn("has 17179869185 bytes, more than the limit of 17179869184", result.stderr)
        self.assertEqual([p for p in self.folder.iterdir() if p.name.startswith("lockstep-")], [])


if __name__ == "__main__":
    cli.main()
