#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`lockstep cosim` with peripherals, on the example designs: what UARTs print, events and transfers on
buses to the byte, commands at their edges, live input, its record and replay, firmware that differs from
instance to instance, and a peripheral of a user's.

usage: test_command.py LOCKSTEP DESIGNS OUT
"""

import json
import pathlib
import shutil
import subprocess
import sys
import unittest

import designs

designs.need("yosys")
LOCKSTEP, DESIGNS, OUT = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
del sys.argv[1:4]


class Command(unittest.TestCase):
    def setUp(self):
        self.folder = OUT / self.id().rpartition(".")[2]
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def design(self, name, **changes):
        """The design in this test's folder, with fields of its configuration changed."""
        designs.build(DESIGNS, [name])
        for file in (DESIGNS / name).iterdir():
            shutil.copy(file, self.folder)
        config = json.loads((self.folder / "config.json").read_text())
        config.update(changes)
        self.write("config.json", config)

    def write(self, name, value):
        (self.folder / name).write_text(json.dumps(value))

    def run_cosim(self, *options, netlist="words.json", **arguments):
        arguments.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run([LOCKSTEP, "cosim", netlist, "--config", "config.json", "--quiet",
                               *map(str, options)], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=120, **arguments)

    def good(self, *options, **arguments):
        result = self.run_cosim(*options, **arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""), options)
        return result.stdout

    def bytes_of(self, name):
        return (self.folder / name).read_bytes()

    def events(self, name="events.json"):
        return json.loads(self.bytes_of(name))["events"]


class Events(Command):
    def test_two_uarts(self):
        self.design("dual_uart")
        self.assertEqual(self.good(), "uart_0: Hi\nuart_1: OK\n")
        events = self.events()
        self.assertEqual([(e["peripheral"], chr(e["payload"])) for e in events],
                         [("uart_0", "H"), ("uart_1", "O"), ("uart_0", "i"), ("uart_1", "K")])
        self.assertTrue(all(e["time_ps"] == e["timestamp"] * 20000 for e in events))
        self.assertEqual(self.good("--console", "uart_1"), "OK")
        self.assertEqual(self.good("--console", "none"), "")

    def test_batches_of_compat(self):
        self.design("dual_uart")
        result = self.run_cosim("--compat", "jacquard")
        self.assertEqual((result.returncode, result.stderr), (0, "SIMULATION: PASSED\n"))
        entries = ",\n".join(
            f'    {{\n      "timestamp": {tick},\n      "peripheral": "uart_{uart}",\n'
            f'      "event": "tx",\n      "payload": {ord(letter)}\n    }}'
            for tick, uart, letter in ((4116, 0, "H"), (4116, 1, "O"), (8212, 0, "i"), (8212, 1, "K")))
        self.assertEqual(self.bytes_of("events.json").decode(),
                         '{\n  "events": [\n' + entries + "\n  ]\n}")

    def test_reference(self):
        self.design("dual_uart", output_events=None, events_reference="reference.json")

        def reference(text):
            self.write("reference.json", {"events": [
                {"peripheral": "uart_0", "event": "tx", "payload": ord(c)} for c in text]})
        for text in ("", "H", "Hi"):
            reference(text)
            self.good()
        for text, says in (("Ho", "event 2 of uart_0 tx is 105"), ("Hi!", "event 3 of uart_0 tx is missing")):
            reference(text)
            result = self.run_cosim()
            self.assertEqual(result.returncode, 1)
            self.assertIn(says, result.stderr)

    def test_bus(self):
        self.design("apb")
        for netlist, options, ticks in (("words.json", (), (23, 29, 35, 41)),
                                        ("gates.json", (), (23, 29, 35, 41)),
                                        ("words.json", ("--compat", "jacquard"), (24, 30, 36, 42))):
            self.run_cosim("--bus-trace-csv", "bus.csv", *options, netlist=netlist)
            rows = ["WR,0x0,0xCAFEBABE", "WR,0x4,0x12345678", "RD,0x0,0xCAFEBABE", "RD,0x4,0x12345678"]
            self.assertEqual(self.bytes_of("bus.csv").decode(),
                             "tick,bus,protocol,dir,addr,data,resp,burst\n" + "".join(
                                 f"{t},apb,apb3,{row},OK,\n" for t, row in zip(ticks, rows)))


    def test_jtag_replay(self):
        """Reads the identity that reset chooses, 32 bits from Shift-DR."""
        def clock(tms):
            return f"{2 * tms}{4 + 2 * tms}"
        session = clock(1) * 8 + "".join(map(clock, (0, 1, 0, 0))) + "0R4" * 32 + "\n" + clock(1) + "Q"
        self.design("jtag")
        (self.folder / "session").write_text(session)
        for options in ((), ("--jtag-hold-cycles", 9), ("--compat", "jacquard")):
            self.run_cosim("--jtag-replay", "session", "--events", "e.json", "--output-vcd", "o.vcd",
                           *options)
            if "--compat" in options:
                continue  # which has no such events
            events = self.events("e.json")
            bits = [e["payload"] for e in events if e["event"] == "tdo"]
            self.assertEqual(sum(bit << i for i, bit in enumerate(bits)), 0x1c0de001)
            self.assertEqual(events[-1]["event"], "end")
        self.write("config.json", {"clock": "tck", "num_cycles": 10})
        result = self.run_cosim("--jtag-replay", "session")
        self.assertEqual(result.returncode, 1)
        self.assertIn(".jtag is missing", result.stderr)

    def test_gpio(self):
        self.design("counter", constant_ports={}, num_cycles=50, gpios=[
            {"name": "pins", "signals": ["enable"], "watch": ["count[0]", "count[1]"]}])
        self.write("commands.json", {"commands": [
            {"type": "action", "peripheral": "pins", "event": "set", "payload": "1"},
            {"type": "wait", "peripheral": "pins", "event": "change", "payload": "11"},
            {"type": "action", "peripheral": "pins", "event": "set", "payload": "0"}]})
        self.good("--input-commands", "commands.json", "--events", "e.json")
        # enable falls together with the next rising edge, which does not see it yet
        self.assertEqual([e["payload"] for e in self.events("e.json")], ["01", "10", "11", "00"])
        self.design("counter", gpios=[{"watch": ["count"]}])
        result = self.run_cosim()
        self.assertEqual(result.returncode, 1)
        self.assertIn(".gpios[0].watch[0]: must be one bit", result.stderr)

    def test_transfers_of_a_flash_are_told_of(self):
        self.design("flash")
        config = json.loads((self.folder / "config.json").read_text())
        flashes, mapping = config["qspi_memory"], config["port_mapping"]

        def run(*options, **changes):
            self.write("config.json", {**config, **changes})
            result = self.run_cosim("--events", "e.json", *options)
            self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
            events = self.events("e.json")
            return result.stderr, [e for e in events if e["event"] == "transfer"]

        reporting = [dict(flash, report=True) for flash in flashes]
        told, events = run(qspi_memory=reporting)
        self.assertEqual(told, "")
        self.assertEqual({e["peripheral"] for e in events}, {"flash_0", "flash_1", "flash_2"})
        lines = "".join(
            "lockstep: edge {} ({} ps): {}: command 0x{:02X}, address 0x{:06X}, {} bytes\n".format(
                e["timestamp"], e["time_ps"], e["peripheral"], e["payload"]["command"],
                e["payload"]["address"], e["payload"]["bytes"]) for e in events)
        self.assertIn("command 0x03, address 0x000000, 4 bytes", lines)
        self.assertEqual(run("--flash-verbose", qspi_memory=reporting), (lines, events))
        self.assertEqual(run("--flash-verbose"), (lines, []))
        self.assertEqual(run(), ("", []))
        # The same as peripherals of the type.
        for report in 1, 0:
            own = [{"name": flash["name"], "type": "spi_flash", "parameters": {"report": report},
                    "image": flash["firmware"],
                    "pins": {"clk": mapping["outputs"][str(flash["clk_gpio"])],
                             "csn": mapping["outputs"][str(flash["csn_gpio"])],
                             "d0": mapping["outputs"][str(flash["d0_gpio"])],
                             "q1": mapping["inputs"][str(flash["d0_gpio"] + 1)]}}
                   for flash in flashes]
            self.assertEqual(run("--flash-verbose", qspi_memory=[], peripherals=own),
                             (lines, events if report else []))


class Soc(Command):
    GREETING = "Lockstep SoC ready\r\nchecksum "

    def setUp(self):
        super().setUp()
        if not shutil.which("riscv64-unknown-elf-gcc"):
            self.skipTest("riscv64-unknown-elf-gcc is not installed")
        self.design("soc", num_cycles=30000)

    def test_prompt(self):
        text = self.good()
        self.assertTrue(text.replace("\n", "\r\n").startswith(self.GREETING) or
                        text.startswith(self.GREETING), text)
        self.assertTrue(text.endswith("> "))

    def commands(self, *items):
        self.write("commands.json", {"commands": items})
        return "--input-commands", "commands.json"

    def test_commands_act_at_their_edges(self):
        wait = {"type": "wait", "peripheral": "uart_0", "event": "tx"}
        send = {"type": "action", "peripheral": "uart_0", "event": "tx"}
        options = self.commands({**wait, "payload": ord(">")}, {**send, "payload": ord("h")},
                                {**send, "payload": ord("i")}, {**wait, "payload": ord("I")},
                                {"type": "stop", "reason": "echo"})
        files = ("events.json", "report.json", "out.vcd")
        before = None
        for batch in (100000, 997, 10):
            text = self.good(*options, "--report", "report.json", "--output-vcd", "out.vcd",
                             "--trace", "ports", "--batch", batch)
            self.assertTrue(text.endswith("> HI"), text)
            after = [self.bytes_of(name) for name in files]
            self.assertEqual(before or after, after, batch)
            before = after
        report = json.loads(self.bytes_of("report.json"))["instances"][0]
        self.assertEqual(report["stop"], "stop")
        events = self.events()
        prompt = next(e["timestamp"] for e in events if e["payload"] == ord(">"))
        sent = [e["timestamp"] for e in events if e["event"] == "rx"]
        self.assertEqual(sent[0], prompt + 1)  # handed over before the next edge
        self.assertEqual(report["edges"], events[-1]["timestamp"] + 1)

    def test_bad_commands(self):
        for item, says in (({"type": "go"}, ".commands[0]: type must be"),
                           ({"type": "wait", "peripheral": "uart_9", "event": "tx", "payload": 1},
                            ".commands[0]: there is no peripheral uart_9"),
                           ({"type": "wait", "peripheral": "uart_0", "event": "x", "payload": 1},
                            ".commands[0]: uart_0 has no event x"),
                           ({"type": "action", "peripheral": "flash_0", "event": "tx", "payload": 1},
                            ".commands[0]: flash_0 has no action tx"),
                           ({"type": "action", "peripheral": "uart_0", "event": "tx"},
                            ".commands[0].payload: is missing")):
            result = self.run_cosim(*self.commands(item))
            self.assertEqual(result.returncode, 1)
            self.assertIn(says, result.stderr)

    def test_live_input_replays(self):
        config = json.loads(self.bytes_of("config.json"))
        self.write("config.json", {**config, "num_cycles": 10000000})
        options = (*self.commands({"type": "wait", "peripheral": "uart_0", "event": "tx",
                                   "payload": ord("O")}, {"type": "stop"}), "--trace", "ports")
        live = subprocess.Popen([LOCKSTEP, "cosim", "words.json", "--config", "config.json", *options,
                                 "--input", "uart_0", "--record", "record.json", "--output-vcd",
                                 "a.vcd"], cwd=self.folder, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE)
        text = b""
        while not text.endswith(b"> "):
            letter = live.stdout.read(1)
            self.assertTrue(letter, text)
            text += letter
        rest = live.communicate(b"hello\n", timeout=60)[0]
        self.assertEqual((live.returncode, rest), (0, b"HELLO"))
        events = self.bytes_of("events.json")
        record = [json.loads(line) for line in self.bytes_of("record.json").splitlines()]
        self.assertEqual(bytes(r["payload"] for r in record), b"hello\n")
        for more in ((), ("--batch", 777)):
            self.good("--replay", "record.json", "--output-vcd", "b.vcd", *options, *more)
            self.assertEqual(self.bytes_of("a.vcd"), self.bytes_of("b.vcd"))
            self.assertEqual(events, self.bytes_of("events.json"))

    def test_firmware_of_its_own_for_each_instance(self):
        image = bytearray(self.bytes_of("flash.bin"))
        at = image.find(b"ready")
        for instance, letter in enumerate(b"rst"):
            image[at] = letter
            (self.folder / f"flash{instance}.bin").write_bytes(image)
        config = json.loads(self.bytes_of("config.json"))
        config["qspi_memory"][0]["firmware"] = "flash{instance}.bin"
        self.write("config.json", config)
        self.good("--instances", "3", "--events", "events{instance}.json", "--report", "report.json")
        texts = ["".join(chr(e["payload"]) for e in self.events(f"events{i}.json")) for i in range(3)]
        for text, word in zip(texts, ("ready", "seady", "teady")):
            self.assertIn(word, text)
        digests = {i["digest"] for i in json.loads(self.bytes_of("report.json"))["instances"]}
        self.assertEqual(len(digests), 3)

    def test_contents_of_memory(self):
        """The checksum that the firmware prints is of what it was loaded from."""
        image = bytearray(self.bytes_of("flash.bin"))
        first = self.good()
        image[image.find(b"ready")] ^= 1
        (self.folder / "flash.bin").write_bytes(image)
        second = self.good()
        self.assertNotEqual(first.split()[4], second.split()[4])


class Assertions(Command):
    """A counter that must not be 5."""
    SOURCE = """
    module top (input clk, input up, output reg [3:0] count = 0);
        always @(posedge clk) begin
            count <= count + up;
            assert (count != 4'd5);
        end
    endmodule
    """
    STIMULUS = ("$timescale 1 ns $end $scope module top $end $var wire 1 ! clk $end "
                "$var wire 1 @ up $end $upscope $end $enddefinitions $end\n#0 0! 1@\n" +
                "".join(f"#{10 * i + 5} 1! #{10 * i + 10} 0!\n" for i in range(8)))

    def test_assertions(self):
        (self.folder / "top.v").write_text(self.SOURCE)
        (self.folder / "in.vcd").write_text(self.STIMULUS)
        for up, status in ((1, 1), (0, 0)):
            self.write("config.json", {"clock": "clk", "clock_period_ps": 10000, "num_cycles": 20,
                                       "constant_ports": {"up": up}})
            result = self.run_cosim("--report", "r.json", netlist="top.v")
            self.assertEqual(result.returncode, status)
            report = json.loads(self.bytes_of("r.json"))["instances"][0]
            self.assertEqual((report["failed_asserts"], report["verdict"]),
                             (up, "failed" if up else "passed"))
            self.assertEqual("edge 11 (55000 ps): failed: assertion" in result.stderr, bool(up))
        self.write("config.json", {"clock": "clk", "clock_period_ps": 10000, "num_cycles": 20,
                                   "constant_ports": {"up": 1}, "stop_on_assert": True})
        self.run_cosim("--report", "r.json", netlist="top.v")
        report = json.loads(self.bytes_of("r.json"))["instances"][0]
        self.assertEqual((report["stop"], report["edges"]), ("assert", 12))
        result = subprocess.run([LOCKSTEP, "sim", "top.v", "in.vcd", "out.vcd", "--quiet"],
                                cwd=self.folder, stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertIn("time 55: failed: assertion", result.stderr)


class Own(Command):
    SOURCE = """
    static void strobe_step(struct strobe_pins *pins, const struct strobe_parameters *parameters,
                            const struct step *step, u32 *memory, const u8 *image, u64 image_bytes,
                            u64 *events)
    {
        if (pins->count % parameters->every == 0ul && pins->count != (u64)memory[0])
            emit_event(events, 7u, pins->count, step->edge);
        memory[0] = (u32)pins->count;
        pins->enable = step->edge / 64ul % 2ul;
    }
    """

    def test_peripheral_of_a_user(self):
        self.design("counter", constant_ports={}, peripherals=[{
            "name": "strobe", "type": "strobe", "source": "strobe.kc", "memory_words": 1,
            "pins": {"count": "count", "enable": "enable"}, "parameters": {"every": 10},
            "events": {"7": "round"}}])
        (self.folder / "strobe.kc").write_text(self.SOURCE)
        texts = set()
        for options in ((), ("--device", "reference"), ("--batch", 5)):
            self.good("--events", "events.json", *options)
            texts.add(self.bytes_of("events.json"))
        self.assertEqual(len(texts), 1)
        events = self.events()
        self.assertGreater(len(events), 3)
        for event in events:
            self.assertEqual(event["event"], "round")
            self.assertEqual(event["payload"][0] % 10, 0)
            self.assertEqual(event["payload"][1], event["timestamp"])

    def test_errors_in_its_source(self):
        self.design("counter", peripherals=[{"type": "strobe", "source": "strobe.kc"}])
        (self.folder / "strobe.kc").write_text("static void strobe_step(u32 x) { y = 1; }\n")
        result = self.run_cosim()
        self.assertEqual(result.returncode, 1)
        self.assertIn("strobe.kc:1:", result.stderr)


if __name__ == "__main__":
    ran = unittest.main(exit=False)
    if ran.result.wasSuccessful() and ran.result.skipped:
        print("SKIP:", ran.result.skipped[0][1])
        sys.exit(77)
    sys.exit(not ran.result.wasSuccessful())
