# SPDX-License-Identifier: Apache-2.0
"""Designs of single cells in RTLIL: each with ports of its own, random widths and random parameters.

A design holds either combinational cells, for which Icarus takes the models that come with Yosys, or
registers and memories, which Yosys turns into Verilog.
"""

import pathlib
import random
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "icarus"))
import stimulus # noqa: E402

MODELS = pathlib.Path("/usr/share/yosys")
UNARY = ["$not", "$pos", "$neg", "$reduce_and", "$reduce_or", "$reduce_xor", "$reduce_xnor",
         "$reduce_bool", "$logic_not"]
BINARY = ["$and", "$or", "$xor", "$xnor", "$shl", "$shr", "$sshl", "$sshr", "$shift", "$shiftx", "$lt",
          "$le", "$eq", "$ne", "$eqx", "$nex", "$ge", "$gt", "$add", "$sub", "$mul", "$div", "$mod",
          "$divfloor", "$modfloor", "$pow", "$logic_and", "$logic_or"]
OTHER = ["$fa", "$lcu", "$alu", "$macc", "$slice", "$concat", "$mux", "$bmux", "$pmux", "$demux",
         "$lut", "$sop"]
REGISTERS = ["$sr", "$dff", "$dffe", "$dffsr", "$dffsre", "$adff", "$adffe", "$aldff", "$aldffe",
             "$sdff", "$sdffe", "$sdffce", "$dlatch", "$adlatch", "$dlatchsr"]
MEMORIES = ["$mem_v2", "$memrd_v2", "$memwr_v2", "$meminit_v2"]
# A flip-flop of a global clock, and drivers that only top-level pins may have.
NOT_TESTED = {"$_FF_", "$_TBUF_"}
GATE = re.compile(r"^module \\(\$_\w+_) \(([^)]*)\);(.*?)^endmodule", re.MULTILINE | re.DOTALL)


def gates():
    """{type: ([input pins], output pin)} of all cells in simcells.v."""
    text = (MODELS / "simcells.v").read_text(encoding="utf-8")
    found = {}
    for name, _, body in GATE.findall(text):
        inputs = re.search(r"input ([^;]*);", body)[1].replace(" ", "").split(",")
        found[name] = (inputs, re.search(r"output (?:reg )?(\w+);", body)[1])
    return {name: pins for name, pins in found.items() if name not in NOT_TESTED}


def documented():
    """All types that cases should come to."""
    return set(UNARY + BINARY + OTHER + REGISTERS + MEMORIES) | set(gates())


def is_register_gate(name):
    return re.match(r"\$_(S?DFF|ALDFF|DLATCH|SR_)", name) is not None


class Cell:
    """`pins` are (pin, width) of inputs, `outputs` of outputs; `roles` say what a pin does."""

    def __init__(self, kind, parameters, pins, outputs, roles=None, inactive=None, init=False,
                 memory=None):
        self.kind, self.parameters, self.pins, self.outputs = kind, parameters, pins, outputs
        self.roles = roles or {}            # pin: clock, gate, any, between, set, clear, load, loaded
        self.inactive = inactive or {}      # pin: its value when it does nothing
        self.init, self.memory = init, memory


class Port:
    """Of a memory. `wide` is the logarithm of how many words it has."""

    def __init__(self, clocked, clock, edge, wide):
        self.clocked, self.clock, self.edge, self.wide = clocked, clock, edge, wide
        self.values = {}

    def meets(self, other):
        return (self.clock, self.edge) == (other.clock, other.edge)


class Memory:
    def __init__(self, width, size, bits, offset, init, lanes, reads, writes, apart):
        self.width, self.size, self.bits, self.offset = width, size, bits, offset
        self.init, self.lanes, self.apart = init, lanes, apart
        self.reads, self.writes = reads, writes


class Design:
    def __init__(self, seed):
        self.rng = random.Random(f"cells {seed}")
        self.next_gate = 7 * seed
        self.gates = gates()
        self.cells = []
        self.commands = set()       # passes of Yosys
        self.combinational = self.rng.random() < 0.5
        choice = [self.word_gate, self.word_register, self.memory]
        for _ in range(self.rng.randint(6, 16)):
            if self.combinational:
                self.cells.append(self.combinational_cell())
            else:
                maker = self.rng.choices(choice, [10, 8, 3])[0]
                self.cells.append(maker())
        self.inits = {(index, pin): self.rng.getrandbits(width)
                      for index, cell in enumerate(self.cells) for pin, width in cell.outputs
                      if cell.init}

    def width(self, most=130):
        rng = self.rng
        if rng.random() < 0.4:
            return rng.randint(1, min(most, 8))
        if rng.random() < 0.4:
            return min(most, rng.choice([31, 32, 33, 63, 64, 65, 127, 128, 129]))
        return rng.randint(1, most)

    # ---- combinational ----

    def combinational_cell(self):
        rng = self.rng
        kind = rng.random()
        if kind < 0.35:
            name = rng.choice([name for name in self.gates if not is_register_gate(name)])
            inputs, output = self.gates[name]
            return Cell(name, {}, [(pin, 1) for pin in inputs], [(output, 1)])
        if kind < 0.5:
            name = rng.choice(UNARY)
            a, y = self.width(), self.width()
            return Cell(name, {"A_SIGNED": rng.randint(0, 1), "A_WIDTH": a, "Y_WIDTH": y},
                        [("A", a)], [("Y", y)])
        if kind < 0.8:
            return self.binary()
        return getattr(self, rng.choice(OTHER)[1:] + "_cell")()

    def binary(self):
        rng = self.rng
        name = rng.choice(BINARY)
        most = {"$pow": 14, "$div": 70, "$mod": 70, "$divfloor": 60, "$modfloor": 60}.get(name, 130)
        a, b, y = self.width(most), self.width(most), self.width()
        signed = rng.randint(0, 1)
        signs = (signed, signed)
        if name in ("$shl", "$shr", "$sshl", "$sshr"):
            b, signs = self.width(9), (signed, 0)
        elif name == "$shift":
            b, signs = self.width(9), (signed, rng.randint(0, 1))
        elif name == "$shiftx":
            b, signs = self.width(9), (0, signed)
        elif name == "$pow":
            b, signs = self.width(6), (0, 0)
        return Cell(name, {"A_SIGNED": signs[0], "B_SIGNED": signs[1], "A_WIDTH": a, "B_WIDTH": b,
                           "Y_WIDTH": y}, [("A", a), ("B", b)], [("Y", y)])

    def fa_cell(self):
        w = self.width()
        return Cell("$fa", {"WIDTH": w}, [("A", w), ("B", w), ("C", w)], [("X", w), ("Y", w)])

    def lcu_cell(self):
        w = self.width()
        return Cell("$lcu", {"WIDTH": w}, [("P", w), ("G", w), ("CI", 1)], [("CO", w)])

    def alu_cell(self):
        a, b, y, signed = self.width(), self.width(), self.width(), self.rng.randint(0, 1)
        return Cell("$alu", {"A_SIGNED": signed, "B_SIGNED": signed, "A_WIDTH": a, "B_WIDTH": b,
                             "Y_WIDTH": y}, [("A", a), ("B", b), ("CI", 1), ("BI", 1)],
                    [("X", y), ("Y", y), ("CO", y)])

    def macc_cell(self):
        """Products and sums of the parts of A, and of the bits of B; CONFIG describes the parts."""
        rng = self.rng
        parts = [(rng.randint(0, 1), rng.randint(0, 1), rng.randint(1, 20),
                  rng.choice([0, rng.randint(1, 20)])) for _ in range(rng.randint(1, 5))]
        bits = max(max(a, b).bit_length() for _, _, a, b in parts)
        config = f"{bits:04b}"
        for signed, subtract, a, b in parts:
            config = f"{b:0{bits}b}{a:0{bits}b}{subtract}{signed}" + config
        a, b, y = sum(p[2] + p[3] for p in parts), rng.randint(0, 3), self.width(70)
        return Cell("$macc", {"A_WIDTH": a, "B_WIDTH": b, "Y_WIDTH": y, "CONFIG": config,
                              "CONFIG_WIDTH": len(config)}, [("A", a), ("B", b)], [("Y", y)])

    def slice_cell(self):
        a = self.width()
        y = self.rng.randint(1, a)
        return Cell("$slice", {"A_WIDTH": a, "Y_WIDTH": y, "OFFSET": self.rng.randint(0, a - y)},
                    [("A", a)], [("Y", y)])

    def concat_cell(self):
        a, b = self.width(), self.width()
        return Cell("$concat", {"A_WIDTH": a, "B_WIDTH": b}, [("A", a), ("B", b)], [("Y", a + b)])

    def mux_cell(self):
        w = self.width()
        return Cell("$mux", {"WIDTH": w}, [("A", w), ("B", w), ("S", 1)], [("Y", w)])

    def bmux_cell(self):
        w, s = self.width(70), self.rng.randint(1, 5)
        return Cell("$bmux", {"WIDTH": w, "S_WIDTH": s}, [("A", w << s), ("S", s)], [("Y", w)])

    def pmux_cell(self):
        w, s = self.width(70), self.rng.randint(1, 4)
        return Cell("$pmux", {"WIDTH": w, "S_WIDTH": s}, [("A", w), ("B", w * s), ("S", s)],
                    [("Y", w)])

    def demux_cell(self):
        w, s = self.width(70), self.rng.randint(1, 5)
        return Cell("$demux", {"WIDTH": w, "S_WIDTH": s}, [("A", w), ("S", s)], [("Y", w << s)])

    def lut_cell(self):
        w = self.rng.randint(1, 8)
        return Cell("$lut", {"WIDTH": w, "LUT": f"{self.rng.getrandbits(1 << w):0{1 << w}b}"},
                    [("A", w)], [("Y", 1)])

    def sop_cell(self):
        w, depth = self.rng.randint(1, 8), self.rng.randint(1, 6)
        pairs = "".join(self.rng.choice(["00", "01", "10"]) for _ in range(w * depth))
        return Cell("$sop", {"WIDTH": w, "DEPTH": depth, "TABLE": pairs}, [("A", w)], [("Y", 1)])

    # ---- registers ----

    def word_gate(self):
        """A register of one bit. What its letters mean stands in its name."""
        rng = self.rng
        # All in turn: there are more than a hundred.
        names = [name for name in self.gates if is_register_gate(name)]
        name = names[self.next_gate % len(names)]
        self.next_gate += 1
        inputs, output = self.gates[name]
        is_latch = name.startswith(("$_DLATCH", "$_SR"))
        letters = name.strip("$_").split("_", 1)[1]
        kind = name.strip("$_").split("_", 1)[0]
        order = {"SR": "SR", "DFF": "CR", "DFFE": "CE", "ALDFF": "CL", "ALDFFE": "CLE",
                 "DFFSR": "CSR", "DFFSRE": "CSRE", "SDFF": "CR", "SDFFE": "CRE", "SDFFCE": "CRE",
                 "DLATCH": "ER", "DLATCHSR": "ESR"}[kind]
        if kind == "DFFE" and len(letters) == 4:
            order = "CR E"
        levels = dict(zip(order, letters.replace("0", " ").replace("1", " ")
                          if "R E" in order else letters))
        if order == "CRE" or order == "CR E":
            levels = {"C": letters[0], "R": letters[1], "E": letters[3] if len(letters) > 3 else "P"}
        inactive = {pin: 0 if level == "P" else 1 for pin, level in levels.items()}
        roles = {"C": "clock"} if "C" in inputs else {}
        if "S" in inputs and "R" in inputs and not is_latch:
            roles.update({"S": "set", "R": "clear"})
        elif is_latch:
            roles.update({pin: "between" for pin in inputs if pin in "ESR"})
            if kind == "SR":
                roles = {"S": "between", "R": "between"}
        elif kind.startswith("ALDFF"):
            roles.update({"L": "load", "AD": "loaded"})
        return Cell(name, {}, [(pin, 1) for pin in inputs], [(output, 1)], roles, inactive,
                    rng.random() < 0.5)

    def word_register(self):
        rng = self.rng
        kind = rng.choice(REGISTERS)
        w = self.width()
        parameters, pins, roles, inactive = {"WIDTH": w}, [], {}, {}

        def pin(name, width, polarity, role):
            level = rng.randint(0, 1)
            parameters[polarity] = level
            pins.append((name, width))
            roles[name] = role
            inactive[name] = 0 if level else (1 << width) - 1

        is_latch = "latch" in kind or kind == "$sr"
        if not is_latch:
            pin("CLK", 1, "CLK_POLARITY", "clock")
        if "latch" in kind or kind in ("$dffe", "$dffsre", "$adffe", "$aldffe", "$sdffe", "$sdffce"):
            pin("EN", 1, "EN_POLARITY", "between" if is_latch else "any")
        if kind in ("$sr", "$dffsr", "$dffsre", "$dlatchsr"):
            pin("SET", w, "SET_POLARITY", "between" if is_latch else "set")
            pin("CLR", w, "CLR_POLARITY", "between" if is_latch else "clear")
        if kind in ("$adff", "$adffe", "$adlatch"):
            pin("ARST", 1, "ARST_POLARITY", "between" if is_latch else "any")
            parameters["ARST_VALUE"] = f"{rng.getrandbits(w):0{w}b}"
        if kind.startswith("$sdff"):
            pin("SRST", 1, "SRST_POLARITY", "any")
            parameters["SRST_VALUE"] = f"{rng.getrandbits(w):0{w}b}"
        if kind.startswith("$aldff"):
            pin("ALOAD", 1, "ALOAD_POLARITY", "load")
            pins.append(("AD", w))
            roles["AD"] = "loaded"
        if kind != "$sr":
            pins.append(("D", w))
        return Cell(kind, parameters, pins, [("Q", w)], roles, inactive, rng.random() < 0.5)

    # ---- memories ----

    def memory(self):
        """A memory in one cell, or one whose ports are cells of their own (`memory` is its shape). Ports may
        be wide, of several words beside each other, and have one of two clocks, whose edges never meet."""
        rng = self.rng
        width, size = self.width(70), rng.choice([1, 2, 3, 4, 7, 8, 13, 16, 32])
        bits = max(1, (size - 1).bit_length() + rng.choice([0, 0, 0, 1]))
        offset = rng.choice([0, 0, 0, 1, 5]) if rng.random() < 0.3 else 0
        widest = min(2, bits) if rng.random() < 0.4 and offset == 0 else 0

        def ports(count, unclocked):
            return [Port(clocked=int(not unclocked or rng.random() < 0.5),
                         clock=rng.choice([0, 0, 1]), edge=rng.randint(0, 1),
                         wide=rng.randint(0, widest)) for _ in range(count)]

        reads, writes = ports(rng.randint(1, 3), True), ports(rng.randint(0, 3), False)
        if rng.random() < 0.6:      # all of one clock, so that they may see each other
            for port in reads + writes:
                port.clock, port.edge = 0, reads[0].edge
        # A read port may see at once only what a write port of the same clock writes.
        for read in reads:
            read.sees = [int(read.clocked and read.meets(write) and rng.random() < 0.5) for write in writes]
            read.reset, read.over = rng.choice(["", "ARST", "SRST"]), rng.randint(0, 1)
            for name in ("ARST", "SRST", "INIT"):
                read.values[name] = rng.getrandbits(width << read.wide)
        if widest or any(any(read.sees) for read in reads):
            # A word that does not exist is neither written nor read; Verilog would pass it through.
            size, offset = 1 << bits, 0
        # Without priority, two ports that write one word at once race in Verilog.
        for index, write in enumerate(writes):
            write.over_others = [int(write.meets(other)) for other in writes[:index]]
        init = "".join(f"{rng.getrandbits(width):0{width}b}" for _ in range(size))
        lanes = rng.choice([n for n in range(1, width + 1) if width % n == 0])
        pins = [("CLK", 1), ("CLK2", 1)]
        for kind, list_of in ("R", reads), ("W", writes):
            for index, port in enumerate(list_of):
                port.name = f"{kind}{index}"
                pins.append((f"{port.name}_ADDR", bits - port.wide))
                if kind == "W":
                    pins += [(f"{port.name}_EN", (width << port.wide) // lanes),
                             (f"{port.name}_DATA", width << port.wide)]
                elif port.clocked:
                    pins += [(f"{port.name}_EN", 1), (f"{port.name}_{port.reset}", int(port.reset != ""))]
        outputs = [(f"{port.name}_DATA", width << port.wide) for port in reads]
        shape = Memory(width, size, bits, offset, init, lanes, reads, writes, rng.random() < 0.5)
        self.commands |= {"memory_collect"} if not shape.apart else set()
        return Cell("memory", {}, pins, outputs, {"CLK": "clock", "CLK2": "clock2"}, {}, False, shape)

    def memory_text(self, index, cell):
        """As single ports: $memrd_v2, $memwr_v2, $meminit_v2, which memory_collect makes one $mem_v2 of."""
        shape = cell.memory
        name = f"\\c{index}_memory"
        common = {"MEMID": f'"{name}"'.replace("\\", "\\\\"), "ABITS": shape.bits}
        text = [f"  memory width {shape.width} size {shape.size} offset {shape.offset} {name}\n"]

        def clock(port):
            return f"\\c{index}_CLK{'2' if port.clock else ''}"

        def address(port):
            low = f" {port.wide}'{'0' * port.wide}" if port.wide else ""
            if port.wide == shape.bits:
                return low.strip()
            return f"{{ \\c{index}_{port.name}_ADDR{low} }}"

        def if_used(port, pin, condition, default):
            return f"\\c{index}_{port.name}_{pin}" if port.clocked and condition else default

        for port in shape.reads:
            width = shape.width << port.wide
            text.append(cell_text("$memrd_v2", f"\\c{index}_{port.name}", {
                **common, "WIDTH": width, "CLK_ENABLE": port.clocked, "CLK_POLARITY": port.edge,
                "TRANSPARENCY_MASK": bit_string(port.sees),
                "COLLISION_X_MASK": "0" * max(1, len(shape.writes)),
                **{f"{key}_VALUE": f"{value:0{width}b}" for key, value in port.values.items()},
                "CE_OVER_SRST": port.over}, {
                    "CLK": clock(port) if port.clocked else "1'x",
                    "EN": if_used(port, "EN", True, "1'1"),
                    "ARST": if_used(port, "ARST", port.reset == "ARST", "1'0"),
                    "SRST": if_used(port, "SRST", port.reset == "SRST", "1'0"),
                    "ADDR": address(port), "DATA": f"\\c{index}_{port.name}_DATA"}))
        for number, port in enumerate(shape.writes):
            width = shape.width << port.wide
            # Enables are few: each stands for as many bits of the word as a lane has.
            enables = " ".join(f"\\c{index}_{port.name}_EN [{bit // shape.lanes}]"
                               for bit in reversed(range(width)))
            text.append(cell_text("$memwr_v2", f"\\c{index}_{port.name}", {
                **common, "WIDTH": width, "CLK_ENABLE": 1, "CLK_POLARITY": port.edge, "PORTID": number,
                "PRIORITY_MASK": bit_string(port.over_others)}, {
                    "CLK": clock(port), "EN": f"{{ {enables} }}", "ADDR": address(port),
                    "DATA": f"\\c{index}_{port.name}_DATA"}))
        text.append(cell_text("$meminit_v2", f"\\c{index}_init", {
            **common, "WIDTH": shape.width, "WORDS": shape.size, "PRIORITY": 0}, {
                "ADDR": f"{shape.bits}'{shape.offset:0{shape.bits}b}",
                "DATA": f"{shape.width * shape.size}'{shape.init}", "EN": f"{shape.width}'{'1' * shape.width}"}))
        return "".join(text)

    # ---- the result ----

    def rtlil(self, without=()):
        without = set(without)
        lines = ["attribute \\top 1\nmodule \\top\n"]
        port = 0
        for index, cell in enumerate(self.cells):
            for pin, width in cell.pins:
                if width:
                    port += 1
                    lines.append(f"  wire width {width} input {port} \\c{index}_{pin}\n")
            if index in without:
                continue
            for pin, width in cell.outputs:
                port += 1
                if (index, pin) in self.inits:
                    lines.append(f"  attribute \\init {width}'"
                                 f"{self.inits[index, pin]:0{width}b}\n")
                lines.append(f"  wire width {width} output {port} \\c{index}_{pin}\n")
        for index, cell in enumerate(self.cells):
            if index in without:
                continue
            if cell.memory:
                lines.append(self.memory_text(index, cell))
            else:
                lines.append(cell_text(cell.kind, f"\\c{index}", cell.parameters, {
                    pin: f"\\c{index}_{pin}" if width else "{ }"
                    for pin, width in cell.pins + cell.outputs}))
        return "".join(lines) + "end\n"

    def plan(self, length):
        plan = stimulus.Plan([], [], length=length)
        for index, cell in enumerate(self.cells):
            prefix = f"c{index}_"
            plan.ports += [(prefix + pin, width) for pin, width in cell.pins if width]
            roles = {}
            for pin, role in cell.roles.items():
                roles[role] = prefix + pin
                if role == "clock":
                    plan.clocks.append(prefix + pin)
                    plan.periods[prefix + pin] = (20000, 40000, 30000)[index % 3]
                elif role == "clock2":  # of a memory; its edges lie between those of the first one
                    plan.clocks.append(prefix + pin)
                    plan.periods[roles["clock"]] = plan.periods[prefix + pin] = 40000
                    plan.phases[prefix + pin] = 10000
                elif role != "any":
                    plan.between.add(prefix + pin)
            levels = {prefix + pin: value for pin, value in cell.inactive.items()}
            if "load" in roles:
                plan.only_while[roles["loaded"]] = [(roles["load"], levels[roles["load"]])]
            if "set" in roles:
                plan.exclusive.append([(roles["clear"], levels[roles["clear"]]),
                                       (roles["set"], levels[roles["set"]])])
        return plan


def bit_string(bits):
    return "".join(str(bit) for bit in reversed(bits)) or "0"


def cell_text(kind, name, parameters, connections):
    lines = [f"  cell {kind} {name}\n"]
    for key, value in parameters.items():
        if isinstance(value, str) and not value.startswith('"'):
            value = f"{len(value)}'{value}"
        lines.append(f"    parameter \\{key} {value}\n")
    lines += [f"    connect \\{pin} {value}\n" for pin, value in connections.items()]
    return "".join(lines) + "  end\n"
