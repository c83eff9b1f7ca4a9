#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Netlists as Yosys writes them, read by us and compared with what the JSON says (read by Python) and with
what Yosys' own `flatten` makes of a hierarchy.

usage: test_yosys.py DUMP YOSYS FOLDER      FOLDER holds design.v; YOSYS may be "" (skipped)
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys

DUMP, YOSYS = sys.argv[1], sys.argv[2]
SOURCE = pathlib.Path(sys.argv[3])

CONTROLS = {"CLK": "clock", "EN": "enable", "SRST": "srst", "ARST": "arst", "ALOAD": "aload", "SET": "set",
            "CLR": "clear", "AD": "ad", "D": "d", "Q": "q"}
POLARITIES = {"CLK": "clock_rising", "EN": "enable_high", "SRST": "srst_high", "ARST": "arst_high",
              "ALOAD": "aload_high", "SET": "set_high", "CLR": "clear_high"}
GATE_FAMILIES = [  # of simcells.v: what the letters behind the name are, and the ports
    (r"\$_DFF_(?P<C>.)_", "C"), (r"\$_DFFE_(?P<C>.)(?P<E>.)_", "CE"),
    (r"\$_DFF_(?P<C>.)(?P<R>.)(?P<v>.)_", "CR"), (r"\$_DFFE_(?P<C>.)(?P<R>.)(?P<v>.)(?P<E>.)_", "CRE"),
    (r"\$_ALDFF_(?P<C>.)(?P<L>.)_", "CL"), (r"\$_ALDFFE_(?P<C>.)(?P<L>.)(?P<E>.)_", "CLE"),
    (r"\$_DFFSR_(?P<C>.)(?P<S>.)(?P<R>.)_", "CSR"), (r"\$_DFFSRE_(?P<C>.)(?P<S>.)(?P<R>.)(?P<E>.)_", "CSRE"),
    (r"\$_SDFF_(?P<C>.)(?P<R>.)(?P<v>.)_", "CR"), (r"\$_SDFFC?E_(?P<C>.)(?P<R>.)(?P<v>.)(?P<E>.)_", "CRE"),
    (r"\$_DLATCH_(?P<E>.)_", "E"), (r"\$_DLATCH_(?P<E>.)(?P<R>.)(?P<v>.)_", "ER"),
    (r"\$_DLATCHSR_(?P<E>.)(?P<S>.)(?P<R>.)_", "ESR"), (r"\$_SR_(?P<S>.)(?P<R>.)_", "SR")]
GATE_SLOTS = {"C": "clock", "E": "enable", "L": "aload", "S": "set", "D": "d", "Q": "q", "AD": "ad"}
FLAG_OF = {"clock": "clock_rising", "enable": "enable_high", "srst": "srst_high", "arst": "arst_high",
           "aload": "aload_high", "set": "set_high", "clear": "clear_high"}
MUX_DATA = {"$_MUX4_": ("ABCD", "ST"), "$_MUX8_": ("ABCDEFGH", "STU"), "$_MUX16_": ("ABCDEFGHIJKLMNOP", "STUV")}
SPECIAL_PORTS = {"$lcu": {"P": "a", "G": "b", "CI": "s", "CO": "y"}, "$fa": {"A": "a", "B": "b", "C": "s", "X": "x", "Y": "y"},
                 "$alu": {"A": "a", "B": "b", "CI": "s", "BI": "bi", "X": "x", "Y": "y", "CO": "co"},
                 "$tribuf": {"A": "a", "EN": "s", "Y": "y"}, "$_TBUF_": {"A": "a", "E": "s", "Y": "y"},
                 "$_AOI3_": {"A": "a", "B": "b", "C": "s", "Y": "y"}, "$_OAI3_": {"A": "a", "B": "b", "C": "s", "Y": "y"},
                 "$_AOI4_": {"A": "a", "B": "b", "C": "s", "D": "bi", "Y": "y"},
                 "$_OAI4_": {"A": "a", "B": "b", "C": "s", "D": "bi", "Y": "y"}}


def fail(text):
    sys.exit(f"FAIL: {text}")


def yosys(script):
    run = subprocess.run([YOSYS, "-q", "-p", script], capture_output=True, text=True)
    if run.returncode:
        fail(f"{YOSYS}: {script}\n{run.stdout}{run.stderr}")


class Netlist:
    """What dump_netlist prints."""

    def __init__(self, path, top=None):
        run = subprocess.run([DUMP, path] + ([top] if top else []), capture_output=True, text=True)
        self.status, self.text = run.returncode, run.stdout
        if run.returncode not in (0, 1):
            fail(f"{path}: {run.stderr}")
        self.items = {"cell": {}, "register": {}, "memory": {}, "read": {}, "write": {}, "effect": [], "signal": {},
                      "warning": []}
        self.ports = []
        for line in run.stdout.splitlines() if run.returncode == 0 else []:
            words = line.split(" ")
            if words[0] == "top":
                self.top = words[1]
            elif words[0] in ("cell", "register"):
                self.items[words[0]][words[3]] = self.item(words[1:3], words[4:])
            elif words[0] == "memory":
                self.items["memory"][words[1]] = self.item([], words[2:])
            elif words[0] in ("read", "write"):
                self.items[words[0]].setdefault(words[1], []).append(self.item([], words[2:]))
            elif words[0] == "effect":
                entry = self.item(words[1:3], line.split(" format=")[0].split(" ")[3:])
                entry["format"] = line.split(" format=", 1)[1]
                self.items["effect"].append(entry)
            elif words[0] == "signal":
                self.items["signal"][words[2]] = self.item(words[1:2], words[3:])
                if words[1] != "wire":
                    self.ports.append(words[2])
            else:
                self.items["warning"].append(line)

    @staticmethod
    def item(kind, words):
        entry = {"kind": kind, "flags": set()}
        for word in words:
            key, equals, value = word.partition("=")
            if equals:
                entry[key] = value
            else:
                entry["flags"].add(key)
        return entry


def nets(entry, key):
    return [int(net) for net in entry[key].split(",")] if key in entry else []


class Bijection:
    def __init__(self):
        self.forth, self.back = {}, {}

    def same(self, left, right, what):
        if len(left) != len(right):
            fail(f"{what}: {left} and {right} differ in length")
        for a, b in zip(left, right):
            if self.forth.setdefault(a, b) != b or self.back.setdefault(b, a) != a:
                fail(f"{what}: {a} is {self.forth[a]}, not {b}")


def file_name(name):
    return re.sub(r"[\x00-\x20\x7f]", "_", name)


def number(value):
    if isinstance(value, int):
        return value
    return int(value, 2) if set(value) <= {"0", "1"} else 0


def expected_slots(kind, connections):
    """Slot to bits of the file."""
    slots = {}
    if kind in MUX_DATA:
        data, select = MUX_DATA[kind]
        return {"a": [connections[p][0] for p in data], "s": [connections[p][0] for p in select], "y": connections["Y"]}
    for port, bits in connections.items():
        slots[SPECIAL_PORTS.get(kind, {}).get(port, port.lower())] = bits
    return slots


def gate_register(kind):
    """Slot of each port and the flags, of a gate-level register."""
    for pattern, letters in GATE_FAMILIES:
        match = re.fullmatch(pattern, kind)
        if match:
            slots, flags = dict(GATE_SLOTS), set()
            slots["R"] = "clear" if "S" in letters else "srst" if "SDFF" in kind else "arst"
            for letter in letters:
                if match[letter] == "P":
                    flags.add(FLAG_OF[slots[letter]])
            if "SDFFCE" in kind:
                flags.add("srst_needs_enable")
            value = {slots["R"] + "_value": match["v"]} if "v" in match.groupdict() else {}
            return slots, flags, value
    return None


def word_register(kind, cell):
    flags = {flag for port, flag in POLARITIES.items()
             if port in cell["connections"] and number(cell["parameters"].get(port + "_POLARITY", 1))}
    if kind == "$sdffce":
        flags.add("srst_needs_enable")
    value = {}
    width = len(cell["connections"]["Q"])
    for reset in ("ARST", "SRST"):
        if reset in cell["connections"]:
            given = cell["parameters"][reset + "_VALUE"]
            value[reset.lower() + "_value"] = given if isinstance(given, str) else format(given % (1 << width), f"0{width}b")
    return CONTROLS, flags, value


def check_file(path):
    """A flat file: every cell, register and name against the JSON itself."""
    netlist = Netlist(path)
    if netlist.status:
        fail(f"{path}: {netlist.text}")
    modules = json.loads(pathlib.Path(path).read_text())["modules"]
    tops = [m for m in modules.values() if number(m["attributes"].get("top", 0))]
    module = tops[0] if tops else next(iter(modules.values()))
    nets_of = Bijection()
    nets_of.same(["0", "1"], [0, 1], "constants")
    if netlist.ports != [file_name(name) for name in module["ports"]]:
        fail(f"{path}: ports {netlist.ports}")
    for name, net in module["netnames"].items():
        name = file_name(net["attributes"].get("hdlname", "").replace(" ", ".") or name)
        signal = netlist.items["signal"].get(name)
        if not signal:
            fail(f"{path}: no signal {name}")
        real = [(b, n) for b, n in zip(net["bits"], nets(signal, "nets")) if b not in ("x", "z")]
        if len(net["bits"]) != len(nets(signal, "nets")):
            fail(f"{path}: width of {name}")
        nets_of.same([b for b, _ in real], [n for _, n in real], name)
        if int(signal["offset"]) != net.get("offset", 0) or ("upto" in signal["flags"]) != bool(net.get("upto")) \
                or ("signed" in signal["flags"]) != bool(net.get("signed")):
            fail(f"{path}: range of {name}")
        init = net["attributes"].get("init")
        if isinstance(init, str) and init.rjust(len(net["bits"]), "x") != signal.get("init"):
            fail(f"{path}: init of {name}")
    checked = 0
    for name, cell in module["cells"].items():
        kind, name = cell["type"], file_name(name)
        connections = {port: bits for port, bits in cell["connections"].items() if bits}
        if kind.startswith(("$mem", "$print", "$check", "$assert", "$assume", "$scopeinfo", "$cover", "$live", "$fair",
                            "$macc_v2", "$specify", "$specrule")):
            continue
        found = netlist.items["cell"].get(name)
        if found:
            slots, flags, value = expected_slots(kind, connections), set(), {}
            for flag in "a_signed", "b_signed":
                if number(cell["parameters"].get(flag.upper(), 0)):
                    flags.add(flag)
        else:
            found = netlist.items["register"].get(name)
            if not found:
                fail(f"{path}: no cell {name} of type {kind}")
            ports, flags, value = gate_register(kind) or word_register(kind, cell)
            slots = {ports[port]: bits for port, bits in connections.items()}
        for slot, bits in slots.items():
            got = nets(found, slot)
            pairs = [(b, n) for b, n in zip(bits, got) if b not in ("x", "z")]
            if len(got) != len(bits):
                fail(f"{path}: {name}: {slot} is {got}, not {bits}")
            nets_of.same([b for b, _ in pairs], [n for _, n in pairs], f"{path}: {name}.{slot}")
        if found["flags"] != flags:
            fail(f"{path}: {name} ({kind}): flags {found['flags']}, not {flags}")
        for key, bits in value.items():
            if found.get(key) != bits:
                fail(f"{path}: {name} ({kind}): {key} {found.get(key)}, not {bits}")
        if kind == "$lut" and number(found["table"]) != number(cell["parameters"]["LUT"]):
            fail(f"{path}: {name}: table")
        checked += 1
    total = len(netlist.items["cell"]) + len(netlist.items["register"])
    if total < checked:
        fail(f"{path}: {total} cells, {checked} in the file")
    return netlist, checked


def plain(name):
    """A name without what `flatten` puts in front: $flatten\\u.$x is u.$x. Numbers that it adds do not occur."""
    return name.replace("$flatten\\", "")


def check_hierarchy(hierarchical, flat):
    """Our flattening against Yosys'."""
    left, right = Netlist(hierarchical), Netlist(flat)
    for netlist in left, right:
        if netlist.status:
            fail(netlist.text)
    names = {plain(name): entry for name, entry in right.items["signal"].items()}
    same = Bijection()
    compared = 0
    for name, entry in left.items["signal"].items():
        if name not in names:
            fail(f"{flat}: no signal {name}")
        same.same(nets(entry, "nets"), nets(names[name], "nets"), name)
        if entry.get("init") != names[name].get("init"):
            fail(f"init of {name}")
    for kind in "cell", "register":
        others = {plain(name): entry for name, entry in right.items[kind].items()}
        if set(others) != set(left.items[kind]):
            fail(f"{kind}s differ: {sorted(set(others) ^ set(left.items[kind]))[:8]}")
        for name, entry in left.items[kind].items():
            other = others[name]
            for key in set(entry) | set(other):
                if re.fullmatch(r"[\d,]+", str(entry.get(key))) and key not in ("offset", "depth", "table") and \
                        not key.endswith("_value"):
                    same.same(nets(entry, key), nets(other, key), f"{name}.{key}")
                elif entry.get(key) != other.get(key):
                    fail(f"{name}.{key}: {entry.get(key)} and {other.get(key)}")
            compared += 1
    for kind in "read", "write":
        others = {plain(name): entry for name, entry in right.items[kind].items()}
        if set(others) != set(left.items[kind]):
            fail(f"memories differ: {sorted(others)} {sorted(left.items[kind])}")
        for name, ports in left.items[kind].items():
            if len(ports) != len(others[name]):
                fail(f"{kind} ports of {name}")
            for port, other in zip(sorted(ports, key=lambda p: p["data"]), others[name]):
                if len(ports) == 1:
                    same.same(nets(port, "data"), nets(other, "data"), name)
                    same.same(nets(port, "address"), nets(other, "address"), name)
    for name, entry in left.items["memory"].items():
        other = {plain(n): e for n, e in right.items["memory"].items()}[name]
        if entry != other:
            fail(f"memory {name}: {entry} and {other}")
    return compared


def check_design():
    forms = {"word": "", "memory": "; memory_collect", "gates": "; memory_map; simplemap; techmap"}
    front = "read_verilog design.v; hierarchy -top top; proc; tribuf; opt_clean"
    for form, passes in forms.items():
        yosys(f"{front}{passes}; write_json {form}_h.json; flatten; write_json {form}_f.json; "
              f"write_json -compat-int {form}_c.json")
        _, checked = check_file(f"{form}_f.json")
        check_file(f"{form}_c.json")
        as_bits, as_integers = Netlist(f"{form}_f.json"), Netlist(f"{form}_c.json")
        if as_bits.text != as_integers.text:
            fail(f"{form}: -compat-int reads differently")
        compared = check_hierarchy(f"{form}_h.json", f"{form}_f.json")
        if checked < 20 or compared != checked:
            fail(f"{form}: {checked} cells in the file, {compared} in both")
        print(f"{form}: {checked} cells")
    word = Netlist("word_h.json")
    ram, rom = word.items["memory"]["mems.ram"], word.items["memory"]["mems.table_"]
    if (ram["width"], ram["depth"], ram["start"]) != ("8", "24", "3"):
        fail(f"memory: {ram}")
    if not ram["init"].endswith("01011010" + "x" * 8):
        fail(f"init of the ram: {ram['init']}")
    values = [int(rom["init"][-8 * (i + 1):len(rom["init"]) - 8 * i], 2) for i in range(20)]
    if values != [i * 7 % 256 for i in range(20)]:
        fail(f"init of the rom: {values}")
    packed = Netlist("memory_h.json").items["memory"]["mems.ram"]
    if packed["init"].lstrip("x") != ram["init"].lstrip("x"):
        fail("packed and loose initial values differ")
    if "pad" not in word.ports or word.items["signal"]["pad"]["kind"] != ["inout"]:
        fail("the inout port")
    tribufs = [c for c in word.items["cell"].values() if c["kind"][0] == "TRIBUF"]
    if len(tribufs) != 2 or nets(tribufs[0], "y") != nets(word.items["signal"]["pad"], "nets") and \
            nets(tribufs[1], "y") != nets(word.items["signal"]["pad"], "nets"):
        fail("the tri-state buffer of the pad")


def check_gates():
    """Every cell of simcells.v."""
    share = subprocess.run([YOSYS, "-q", "-p", "read_verilog -lib +/simcells.v; write_json simcells.json"],
                           capture_output=True, text=True)
    if share.returncode:
        fail(share.stderr)
    modules = json.loads(pathlib.Path("simcells.json").read_text())["modules"]
    text, count, refused = [], 0, 0
    for name, module in modules.items():
        name = name.removeprefix("\\")
        if name == "$_FF_":
            continue
        ports = list(module["ports"])
        wires = " ".join(f"wire c{count}_{p};" for p in ports)
        pins = ", ".join(f".{p}(c{count}_{p})" for p in ports)
        text.append(f"(* keep *) {wires} (* keep *) \\{name} cell{count} ({pins});")
        count += 1
    pathlib.Path("gates.v").write_text("module top; " + "\n".join(text) + "\nendmodule\n")
    yosys("read_verilog -icells gates.v; hierarchy -top top; write_json gates.json")
    netlist, checked = check_file("gates.json")
    if checked != count or count < 148:
        fail(f"{checked} of {count} cells of simcells.v")
    pathlib.Path("ff.v").write_text("module top(input a, output b, c, d); \\$_FF_ f(.D(a), .Q(b)); \\$_FF_ "
                                    "g(.D(a), .Q(c)); Other h(.A(a), .B(d)); endmodule\n")
    yosys("read_verilog -icells ff.v; write_json ff.json")
    refused = Netlist("ff.json")
    if refused.status != 1 or "LS_E_UNSUPPORTED" not in refused.text or "$_FF_ (2)" not in refused.text or \
            "Other (1)" not in refused.text:
        fail(f"$_FF_: {refused.text}")
    print(f"simcells.v: {count} cells")


WORDS = [  # type, parameters, widths of ports
    ("$buf", dict(WIDTH=3), dict(A=3, Y=3)),
    ("$pos", dict(A_SIGNED=1, A_WIDTH=3, Y_WIDTH=5), dict(A=3, Y=5)),
    ("$slice", dict(OFFSET=2, A_WIDTH=5, Y_WIDTH=3), dict(A=5, Y=3)),
    ("$concat", dict(A_WIDTH=2, B_WIDTH=3), dict(A=2, B=3, Y=5)),
    ("$pmux", dict(WIDTH=3, S_WIDTH=2), dict(A=3, B=6, S=2, Y=3)),
    ("$bmux", dict(WIDTH=2, S_WIDTH=3), dict(A=16, S=3, Y=2)),
    ("$demux", dict(WIDTH=2, S_WIDTH=3), dict(A=2, S=3, Y=16)),
    ("$bwmux", dict(WIDTH=3), dict(A=3, B=3, S=3, Y=3)),
    ("$bweqx", dict(WIDTH=3), dict(A=3, B=3, Y=3)),
    ("$lut", dict(WIDTH=3, LUT="8'b10010110"), dict(A=3, Y=1)),
    ("$sop", dict(WIDTH=2, DEPTH=2, TABLE="8'b01101001"), dict(A=2, Y=1)),
    ("$fa", dict(WIDTH=3), dict(A=3, B=3, C=3, X=3, Y=3)),
    ("$lcu", dict(WIDTH=3), dict(P=3, G=3, CI=1, CO=3)),
    ("$alu", dict(A_SIGNED=1, B_SIGNED=1, A_WIDTH=3, B_WIDTH=4, Y_WIDTH=5), dict(A=3, B=4, CI=1, BI=1, X=5, Y=5, CO=5)),
    ("$macc", dict(A_WIDTH=5, B_WIDTH=2, Y_WIDTH=6, CONFIG_WIDTH=16, CONFIG="16'b00_10_0_0_01_10_0_1_0010"),
     dict(A=5, B=2, Y=6)),
    ("$tribuf", dict(WIDTH=3), dict(A=3, EN=1, Y=3)),
    ("$sr", dict(WIDTH=2, SET_POLARITY=0, CLR_POLARITY=1), dict(SET=2, CLR=2, Q=2)),
    ("$dffsr", dict(WIDTH=2, CLK_POLARITY=0, SET_POLARITY=1, CLR_POLARITY=0), dict(CLK=1, SET=2, CLR=2, D=2, Q=2)),
    ("$dffsre", dict(WIDTH=2, CLK_POLARITY=1, SET_POLARITY=1, CLR_POLARITY=0, EN_POLARITY=0),
     dict(CLK=1, SET=2, CLR=2, EN=1, D=2, Q=2)),
    ("$aldff", dict(WIDTH=2, CLK_POLARITY=1, ALOAD_POLARITY=0), dict(CLK=1, ALOAD=1, AD=2, D=2, Q=2)),
    ("$aldffe", dict(WIDTH=2, CLK_POLARITY=1, ALOAD_POLARITY=1, EN_POLARITY=0), dict(CLK=1, ALOAD=1, AD=2, EN=1, D=2, Q=2)),
    ("$adffe", dict(WIDTH=2, CLK_POLARITY=0, ARST_POLARITY=1, EN_POLARITY=0, ARST_VALUE="2'b1x"),
     dict(CLK=1, ARST=1, EN=1, D=2, Q=2)),
    ("$sdffce", dict(WIDTH=2, CLK_POLARITY=0, SRST_POLARITY=1, EN_POLARITY=0, SRST_VALUE="2'b10"),
     dict(CLK=1, SRST=1, EN=1, D=2, Q=2)),
    ("$adlatch", dict(WIDTH=2, EN_POLARITY=0, ARST_POLARITY=0, ARST_VALUE="2'b01"), dict(EN=1, ARST=1, D=2, Q=2)),
    ("$dlatchsr", dict(WIDTH=2, EN_POLARITY=1, SET_POLARITY=0, CLR_POLARITY=1), dict(EN=1, SET=2, CLR=2, D=2, Q=2)),
]


def check_words(newer):
    text = []
    for i, (kind, parameters, widths) in enumerate(WORDS):
        if kind in ("$buf", "$bwmux", "$bweqx") and not newer:
            continue
        wires = " ".join(f"wire [{w - 1}:0] c{i}_{p};" for p, w in widths.items())
        values = ", ".join(f".{k}({v})" for k, v in parameters.items())
        pins = ", ".join(f".{p}(c{i}_{p})" for p in widths)
        text.append(f"{wires} (* keep *) \\{kind} #({values}) cell{i} ({pins});")
    pathlib.Path("words.v").write_text("module top; " + "\n".join(text) + "\nendmodule\n")
    yosys("read_verilog -icells words.v; hierarchy -top top; write_json words.json; write_json -compat-int words_c.json")
    netlist, checked = check_file("words.json")
    check_file("words_c.json")
    if checked != len(text):
        fail(f"{checked} of {len(text)} word-level cells")
    cells = netlist.items["cell"]
    by_type = {entry["kind"][1]: entry for entry in cells.values()}
    if by_type["$slice"]["offset"] != "2" or by_type["$sop"]["depth"] != "2" or by_type["$sop"]["table"] != "01101001":
        fail("parameters of $slice or $sop")
    if by_type["$macc"]["table"] != "0010000110010010":
        fail(f"CONFIG of $macc: {by_type['$macc']['table']}")
    print(f"word-level: {checked} cells")


def check_memory_ports():
    """Every parameter of the two newer forms, and the older ones, from one source."""
    pathlib.Path("ports.v").write_text("""
module top(input clk, clk2, input [1:0] en, input [3:0] a, b, input [7:0] d, e, output [7:0] q, output [7:0] r,
           output [15:0] w, input s, t);
  \\$memwr_v2 #(.MEMID("\\\\m"), .ABITS(4), .WIDTH(8), .CLK_ENABLE(1), .CLK_POLARITY(0), .PORTID(0), .PRIORITY_MASK(0))
    w0 (.CLK(clk), .EN({8{en[0]}}), .ADDR(a), .DATA(d));
  \\$memwr_v2 #(.MEMID("\\\\m"), .ABITS(4), .WIDTH(16), .CLK_ENABLE(1), .CLK_POLARITY(1), .PORTID(1), .PRIORITY_MASK(0))
    w1 (.CLK(clk2), .EN({16{en[1]}}), .ADDR({b[3:1], 1'b0}), .DATA({d, e}));
  \\$memwr_v2 #(.MEMID("\\\\m"), .ABITS(4), .WIDTH(8), .CLK_ENABLE(1), .CLK_POLARITY(1), .PORTID(2), .PRIORITY_MASK(3'b010))
    w2 (.CLK(clk2), .EN({8{en[1]}}), .ADDR(a), .DATA(e));
  \\$memrd_v2 #(.MEMID("\\\\m"), .ABITS(4), .WIDTH(8), .CLK_ENABLE(1), .CLK_POLARITY(1), .TRANSPARENCY_MASK(3'b010),
    .COLLISION_X_MASK(3'b000), .ARST_VALUE(8'h12), .SRST_VALUE(8'h34), .INIT_VALUE(8'h56), .CE_OVER_SRST(1))
    r0 (.CLK(clk2), .EN(en[0]), .ADDR(b), .DATA(q), .ARST(s), .SRST(t));
  \\$memrd_v2 #(.MEMID("\\\\m"), .ABITS(4), .WIDTH(8), .CLK_ENABLE(1), .CLK_POLARITY(1), .TRANSPARENCY_MASK(3'b000),
    .COLLISION_X_MASK(3'b010), .ARST_VALUE(8'hx), .SRST_VALUE(8'hx), .INIT_VALUE(8'hx), .CE_OVER_SRST(0))
    r2 (.CLK(clk2), .EN(1'b1), .ADDR(b), .DATA(r), .ARST(1'b0), .SRST(1'b0));
  \\$memrd_v2 #(.MEMID("\\\\m"), .ABITS(4), .WIDTH(16), .CLK_ENABLE(0), .CLK_POLARITY(1), .TRANSPARENCY_MASK(3'b000),
    .COLLISION_X_MASK(3'b000), .ARST_VALUE(16'hx), .SRST_VALUE(16'hx), .INIT_VALUE(16'hx), .CE_OVER_SRST(0))
    r1 (.CLK(1'bx), .EN(1'b1), .ADDR({a[3:1], 1'b0}), .DATA(w), .ARST(1'b0), .SRST(1'b0));
  \\$meminit_v2 #(.MEMID("\\\\m"), .ABITS(4), .WIDTH(8), .WORDS(2), .PRIORITY(1))
    i0 (.ADDR(4'd5), .DATA(16'h4321), .EN(8'h0f));
  \\$meminit #(.MEMID("\\\\m"), .ABITS(4), .WIDTH(8), .WORDS(1), .PRIORITY(2)) i1 (.ADDR(4'd6), .DATA(8'hx7));
  reg [7:0] m [2:15];
  wire [7:0] unused = m[3];
endmodule
""")
    yosys("read_verilog -icells ports.v; write_json ports.json; memory_collect; write_json packed.json")
    for path in "ports.json", "packed.json":
        netlist = Netlist(path)
        if netlist.status:
            fail(netlist.text)
        signals = {name: nets(entry, "nets") for name, entry in netlist.items["signal"].items()}
        memory = netlist.items["memory"]["m"]
        if (memory["width"], memory["depth"], memory["start"]) != ("8", "14", "2"):
            fail(f"{path}: {memory}")
        if not memory["init"].lstrip("x") == "0111" + "xxxx0001" + "x" * 24 and not memory["init"].endswith(
                "xxxx0111" + "xxxx0001" + "x" * 24):
            fail(f"{path}: init {memory['init']}")
        writes = netlist.items["write"]["m"]
        if len(writes) != 4 or [("clock_rising" in w["flags"]) for w in writes] != [False, True, True, True]:
            fail(f"{path}: write ports {writes}")
        if [nets(w, "data") for w in writes] != [signals["d"], signals["e"], signals["d"], signals["e"]]:
            fail(f"{path}: data of write ports")
        if [nets(w, "address")[0] for w in writes] != [signals["a"][0], 0, 1, signals["a"][0]]:
            fail(f"{path}: addresses of write ports")
        if [w["priority"] for w in writes] != ["0000", "0000", "0000", "0110"]:
            fail(f"{path}: priorities {[w['priority'] for w in writes]}")
        reads = {tuple(nets(r, "data")): r for r in netlist.items["read"]["m"]}
        clocked = reads[tuple(signals["q"])]
        expected = dict(transparent="0110", collision_x="0000", arst_value="00010010", srst_value="00110100",
                        init_value="01010110")
        for key, value in expected.items():
            if clocked[key] != value:
                fail(f"{path}: {key} is {clocked[key]}, not {value}")
        if clocked["flags"] != {"clock_rising", "srst_needs_enable"} or nets(clocked, "clock") != signals["clk2"] or \
                nets(clocked, "arst") != signals["s"] or nets(clocked, "srst") != signals["t"]:
            fail(f"{path}: the clocked read port {clocked}")
        if reads[tuple(signals["r"])]["collision_x"] != "0110":
            fail(f"{path}: collision_x")
        for half in 0, 1:
            wide = reads[tuple(signals["w"][8 * half:8 * half + 8])]
            if "clock" in wide or nets(wide, "address")[:4] != [half] + signals["a"][1:]:
                fail(f"{path}: the wide read port {wide}")
    print("memory ports: loose and packed")


def check_old_memory():
    """$mem, as Yosys wrote it before 0.10."""
    cell = {"type": "$mem", "connections": {
        "RD_CLK": [2, "x"], "RD_EN": ["1", "1"], "RD_ADDR": [3, 4, 3, 4], "RD_DATA": [5, 6, 7, 8], "WR_CLK": [2, 9],
        "WR_EN": [10, 10, 11, 11], "WR_ADDR": [3, 4, 12, 13], "WR_DATA": [14, 15, 16, 17]},
        "parameters": {"MEMID": "\\old", "WIDTH": 2, "SIZE": 4, "ABITS": 2, "OFFSET": 0, "INIT": "x", "RD_PORTS": 2,
                       "WR_PORTS": 2, "RD_CLK_ENABLE": "01", "RD_CLK_POLARITY": "11", "RD_TRANSPARENT": "11",
                       "WR_CLK_ENABLE": "11", "WR_CLK_POLARITY": "11"}}
    pathlib.Path("old.json").write_text(json.dumps({"modules": {"m": {"cells": {"c": cell}}}}))
    netlist = Netlist("old.json")
    if netlist.status:
        fail(netlist.text)
    reads, writes = netlist.items["read"]["old"], netlist.items["write"]["old"]
    if [w["priority"] for w in writes] != ["00", "01"] or "init" in netlist.items["memory"]["old"]:
        fail(f"$mem: {netlist.text}")
    if reads[0]["transparent"] != "01" or reads[1]["transparent"] != "00" or "clock" in reads[1] or \
            nets(reads[1], "enable") != [1]:
        fail(f"$mem: {reads}")


def check_effects():
    pathlib.Path("effects.v").write_text("""
module top(input clk, rst, input [7:0] a, input en);
  initial $display("start %d", 8'd3);
  always @(posedge clk or negedge rst) if (en) $display("a=%h %s", a, "01");
  always @(posedge clk) if (en) assert(a != 3);
  always @(*) assume(a != 4);
  always @(posedge clk) cover(a == 9);
endmodule
""")
    yosys("read_verilog -sv -formal effects.v; proc; opt_clean; write_json effects.json")
    netlist = Netlist("effects.json")
    if netlist.status:
        fail(netlist.text)
    signals = {name: nets(entry, "nets") for name, entry in netlist.items["signal"].items()}
    kinds = sorted(effect["kind"][0] for effect in netlist.items["effect"])
    if kinds != ["ASSERT", "ASSUME", "PRINT", "PRINT"]:
        fail(f"effects: {netlist.text}")
    for effect in netlist.items["effect"]:
        if effect["kind"][0] == "PRINT":
            if ("initial" in effect["flags"]) != effect["format"].startswith("start"):
                fail(f"initial: {effect}")
            if "initial" not in effect["flags"] and (
                    nets(effect, "triggers") not in (signals["clk"] + signals["rst"], signals["rst"] + signals["clk"]) or
                    not {"rising", "falling"} <= effect["flags"] or nets(effect, "arguments")[:8] != signals["a"]):
                fail(f"print: {effect}")
        elif len(nets(effect, "condition")) != 1:
            fail(f"assert: {effect}")
    print("effects")


def main():
    if not YOSYS or not shutil.which(YOSYS):
        print("SKIP: this Yosys is not installed")
        return 77
    version = subprocess.run([YOSYS, "-V"], capture_output=True, text=True).stdout
    newer = tuple(int(part) for part in re.findall(r"\d+", version)[:2]) >= (0, 41)
    print(version.strip())
    scratch = pathlib.Path("yosys_newer" if newer else "yosys_older")
    scratch.mkdir(exist_ok=True)
    shutil.copy(SOURCE / "design.v", scratch)
    global DUMP
    DUMP = str(pathlib.Path(DUMP).resolve())
    import os
    os.chdir(scratch)
    check_design()
    check_gates()
    check_words(newer)
    check_memory_ports()
    check_old_memory()
    if newer:
        check_effects()
    return 0


sys.exit(main())
