# SPDX-License-Identifier: Apache-2.0
"""Random Verilog designs: operators of all kinds, flip-flops, latches, memories and clock structures.

A design is a list of items in which each uses only signals of earlier ones, so there are no loops and
any item can be left out: what it gave is then 0. Inputs come in kinds, which say when a stimulus may
change them, so that no design races with its stimulus (see `Design.plan`).
"""

import random
import sys
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "icarus"))
import stimulus # noqa: E402


class Signal:
    """`latch` is the clock level at which a latch upstream is open: (clock, level) or None."""

    def __init__(self, name, width, signed=False, latch=None):
        self.name, self.width, self.signed, self.latch = name, width, signed, latch

    def declaration(self, kind):
        span = f"[{self.width - 1}:0] " if self.width > 1 else ""
        return f"{kind} {'signed ' if self.signed else ''}{span}{self.name}"


class Item:
    """Lines of Verilog, and the signals that they give to later items; inner ones are no outputs."""

    def __init__(self, gives, text, inner=()):
        self.gives, self.text, self.inner = gives, text, list(inner)

    def left_out(self):
        return "".join(f"    {signal.declaration('wire')} = 0;\n"
                       for signal in [*self.inner, *self.gives])


class Clock:
    """`base` is the input that its edges come from at once; None behind a flip-flop."""

    def __init__(self, name, base):
        self.name, self.base = name, base


class Limits:
    """How wide and how costly a design may be; what gates are made of must be small."""

    def __init__(self, rng, small):
        self.width = rng.choice([4, 8, 12] if small else [8, 33, 64, 70, 130])
        self.multiply = 5 if small else 70
        self.divide = 4 if small else 66
        self.power = 0 if small else 12
        self.shift = 16 if small else 130
        self.items = rng.randint(3, 10 if small else 14)
        self.memory_words = 8 if small else 32
        self.depth = rng.randint(1, 3 if small else 4)


BINARY = ["+", "-", "&", "|", "^", "~^", "==", "!=", "<", "<=", ">", ">=", "===", "!==", "&&", "||",
          "<<", ">>", "<<<", ">>>", "*", "/", "%", "**"]
UNARY = ["~", "-", "+", "!", "&", "|", "^", "~&", "~|", "~^"]


class Design:
    def __init__(self, seed, small):
        self.rng = random.Random(seed)
        self.limits = Limits(self.rng, small)
        self.items, self.signals, self.children = [], [], []
        self.count = 0
        self.inputs = []            # Signal
        self.pads = []              # (Signal, direction) of tri-state pins
        self.levels = {}            # name of a set, clear or load: the value that asserts it
        self.kinds = {}             # name: clock, edge, between, choose, set, clear, load, reset...
        self.periods = {}
        self.clocks = []
        self.resets = []            # (name, value that asserts it, asynchronous)
        self.make_inputs()
        self.make_clocks()
        # A reset asserted together with the clock of a divider acts before the divided clock's flip-flops
        # look, as Verilog has it or not.
        if any(clock.base is None for clock in self.clocks):
            self.kinds["arst"] = "between"
        for _ in range(self.limits.items):
            self.make_item()

    # ---- names, widths, signals ----

    def new(self, stem, width, signed=False, latch=None):
        self.count += 1
        return Signal(f"{stem}{self.count}", width, signed, latch)

    def width(self, most=None):
        most = min(most or self.limits.width, self.limits.width)
        rng = self.rng
        kind = rng.random()
        if kind < 0.25 or most < 3:
            return rng.randint(1, max(1, min(most, 3)))
        if kind < 0.5:
            edges = [w for w in (7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 128, 129) if w <= most]
            return rng.choice(edges) if edges else rng.randint(1, most)
        return rng.randint(1, most)

    def make_inputs(self):
        rng = self.rng

        def add(name, kind, width=1, signed=False):
            self.inputs.append(Signal(name, width, signed))
            self.kinds[name] = kind
            return self.inputs[-1]

        for index in range(rng.choice([1, 1, 2, 2, 3])):
            name = f"clk{index}"
            add(name, "clock")
            self.periods[name] = rng.choice([20000, 20000, 40000, 30000, 60000])
        for index in range(rng.randint(2, 6)):
            self.signals.append(add(f"in{index}", "edge", self.width(), rng.random() < 0.4))
        add("rst", "edge")
        self.resets.append(("rst", rng.randint(0, 1), False))
        for name in ("arst", "brst"):
            add(name, "edge" if name == "arst" else "between")
            self.resets.append((name, rng.randint(0, 1), True))

    def special(self, name, width=1):
        """An input of a kind of its own, made when it is first wanted."""
        if name not in self.kinds:
            self.inputs.append(Signal(name, width))
            self.kinds[name] = name
        return name

    def control(self, name):
        """A special input that acts as soon as it is asserted: (name, its edge, condition)."""
        level = self.levels.setdefault(name, self.rng.randint(0, 1))
        self.special(name)
        return name, "posedge" if level else "negedge", name if level else f"!{name}"

    # ---- clocks ----

    def make_clocks(self):
        rng = self.rng
        inputs = [name for name, kind in self.kinds.items() if kind == "clock"]
        self.clocks = [Clock(name, name) for name in inputs]
        for _ in range(rng.choice([0, 0, 1, 1, 2, 3])):
            source = rng.choice(self.clocks)
            kind = rng.choice(["half", "third", "gate", "choose", "not"])
            made = self.new("c", 1)
            base = source.base
            edge = rng.choice(["posedge", "negedge"])
            if kind == "half":
                text = (f"    reg {made.name} = 1'b0;\n    always @({edge} {source.name})\n"
                        f"        {made.name} <= ~{made.name};\n")
                base = None
            elif kind == "third":
                text = (f"    reg {made.name} = 1'b0;\n    reg [1:0] {made.name}_n = 2'd0;\n"
                        f"    always @({edge} {source.name}) begin\n"
                        f"        {made.name}_n <= {made.name}_n == 2'd2 ? 2'd0 : "
                        f"{made.name}_n + 2'd1;\n"
                        f"        {made.name} <= {made.name}_n == 2'd2;\n    end\n")
                base = None
            elif kind == "gate":
                # Behind a flip-flop the latch closes at an instant after the inputs have changed: then
                # what it holds comes from one that is at rest.
                signals = self.usable(None) if base else [Signal(self.special("gate", 8), 8)]
                enable = self.expression(1, signals)
                text = (f"    reg {made.name}_l = 1'b0;\n    always @* if (!{source.name}) "
                        f"{made.name}_l = {enable};\n"
                        f"    wire {made.name} = {source.name} & {made.name}_l;\n")
            elif kind == "choose" and len(inputs) > 1 and base is not None:
                other = rng.choice(inputs)
                text = (f"    wire {made.name} = {self.special('choose')} ? {other} : "
                        f"{inputs[0]};\n")
                base = None
            else:
                text = f"    wire {made.name} = ~{source.name};\n"
            self.items.append(Item([made], text))
            self.clocks.append(Clock(made.name, base))

    # ---- expressions ----

    def usable(self, latch):
        """Signals that a flip-flop or latch may look at: not what a latch opens for at its own edge."""
        return [s for s in self.signals if s.latch is None or s.latch == latch]

    def constant(self, width, signed=False):
        rng = self.rng
        value = rng.choice([0, 1, (1 << width) - 1, 1 << width - 1, rng.getrandbits(width)])
        if rng.random() < 0.06:
            digits = "".join(rng.choice("01x") for _ in range(width))
            return f"{width}'{'s' if signed else ''}b{digits}"
        return f"{width}'{'s' if signed else ''}h{value % (1 << width):x}"

    def leaf(self, signals):
        rng = self.rng
        if not signals or rng.random() < 0.15:
            return self.constant(self.width(), rng.random() < 0.3)
        signal = rng.choice(signals[-8:] if rng.random() < 0.6 else signals)
        kind = rng.random()
        if kind < 0.2 and signal.width > 1:
            high = rng.randrange(signal.width)
            low = rng.randint(0, high)
            return f"{signal.name}[{high}:{low}]" if high > low else f"{signal.name}[{high}]"
        if kind < 0.3:
            return rng.choice(["$signed", "$unsigned"]) + f"({signal.name})"
        return signal.name

    def term(self, depth, signals, most=None):
        """An expression; `most` bounds the width of its operands by a part of the result."""
        if most is not None:
            text = self.term(depth, signals)
            name = self.new("t", self.rng.randint(1, min(most, self.limits.width)),
                            self.rng.random() < 0.4)
            self.items.append(Item([], f"    {name.declaration('wire')} = {text};\n", [name]))
            return name.name
        if depth <= 0:
            return self.leaf(signals)
        rng = self.rng
        kind = rng.random()
        if kind < 0.18:
            operator = rng.choice(UNARY)
            return f"({operator}({self.term(depth - 1, signals)}))"
        if kind < 0.28:
            return (f"({self.term(depth - 1, signals)} ? {self.term(depth - 1, signals)} : "
                    f"{self.term(depth - 1, signals)})")
        if kind < 0.36:
            parts = [self.leaf(signals) for _ in range(rng.randint(1, 3))]
            text = "{" + ", ".join(parts) + "}"
            return f"{{{rng.randint(1, 3)}{text}}}" if rng.random() < 0.3 else text
        if kind < 0.46 and signals:
            return self.selection(depth, signals)
        return self.binary(depth, signals)

    def binary(self, depth, signals):
        rng, limits = self.rng, self.limits
        operator = rng.choice(BINARY)
        if operator == "**" and not limits.power:
            operator = "*"
        bound = {"*": limits.multiply, "/": limits.divide, "%": limits.divide,
                 "**": limits.power}.get(operator)
        if bound:
            a, b = (self.term(depth - 1, signals, bound) for _ in range(2))
            if operator in "/%":
                return f"({b} == 0 ? {self.leaf(signals)} : {a} {operator} {b})"
            if operator == "**":
                return f"($unsigned({a}) {operator} $unsigned({b}))"
            return f"({a} {operator} {b})"
        if operator in ("<<", ">>", "<<<", ">>>"):
            return (f"({self.term(depth - 1, signals)} {operator} "
                    f"{self.term(depth - 1, signals, 9)})")
        return f"({self.term(depth - 1, signals)} {operator} {self.term(depth - 1, signals)})"

    def selection(self, depth, signals):
        """A part at a place that is computed. What lies beyond would be x, so it is not looked at."""
        rng = self.rng
        signals = [signal for signal in signals if signal.width > 1]
        if not signals:
            return self.constant(self.width())
        signal = rng.choice(signals)
        index = self.term(depth - 1, signals, 8)
        width = rng.randint(1, signal.width)
        last = signal.width - width
        return (f"($unsigned({index}) > {last} ? {self.constant(width)} : "
                f"{signal.name}[$unsigned({index}) +: {width}])")

    def expression(self, width, signals):
        """Text; operands of a width of their own become items before it."""
        text = self.term(self.limits.depth, signals)
        if width == 1 and self.rng.random() < 0.7:
            text = self.rng.choice(["^", "|", "&"]) + f"({text})"
        return text

    # ---- items ----

    def make_item(self):
        maker = self.rng.choices(
            [self.make_wire, self.make_case, self.make_flop, self.make_latch, self.make_memory,
             self.make_set_reset, self.make_load, self.make_partial, self.make_child, self.make_pad],
            [30, 12, 34, 6, 9, 4, 4, 6, 3, 2])[0]
        maker()

    def give(self, signals, text):
        self.items.append(Item(signals, text))
        self.signals += signals

    def make_wire(self):
        latch = self.rng.choice([None, None] + [s.latch for s in self.signals])
        out = self.new("w", self.width(), self.rng.random() < 0.4, latch)
        text = self.expression(out.width, self.usable(latch))
        self.give([out], f"    {out.declaration('wire')} = {text};\n")

    def make_case(self):
        """A process that computes by cases; with a default, so no latch."""
        rng = self.rng
        out = self.new("w", self.width(), rng.random() < 0.4)
        signals = self.usable(None)
        chooser = self.new("w", rng.randint(1, 4))
        head = f"    {chooser.declaration('wire')} = {self.expression(chooser.width, signals)};\n"
        keyword = rng.choice(["case", "case", "casez"])
        lines = [f"    {out.declaration('reg')};\n    always @*\n        {keyword} ({chooser.name})\n"]
        for value in rng.sample(range(1 << chooser.width),
                                rng.randint(1, min(8, 1 << chooser.width))):
            label = f"{value:0{chooser.width}b}"
            if keyword == "casez" and rng.random() < 0.4:
                place = rng.randrange(chooser.width)
                label = label[:place] + "?" + label[place + 1:]
            lines.append(f"            {chooser.width}'b{label}: {out.name} = "
                         f"{self.expression(out.width, signals)};\n")
        lines.append(f"            default: {out.name} = "
                     f"{self.expression(out.width, signals)};\n        endcase\n")
        self.give([chooser, out], head + "".join(lines))

    def latch_of(self, clock, edge):
        """Which latches are closed before this edge: those open at the level that it ends."""
        return (clock.base, 0 if edge == "posedge" else 1) if clock.name == clock.base else None

    def make_flop(self):
        rng = self.rng
        clock = rng.choice(self.clocks)
        edge = rng.choice(["posedge", "posedge", "negedge"])
        signals = self.usable(self.latch_of(clock, edge))
        out = self.new("r", self.width(), rng.random() < 0.4)
        name = out.name
        data = self.expression(out.width, signals)
        enable = self.expression(1, signals) if rng.random() < 0.5 else None
        kind = rng.choice(["none", "none", "sync", "sync", "async", "async"])
        asynchronous = kind == "async"
        events, chain = f"{edge} {clock.name}", []
        update = f"{name} <= {data};"
        if enable:
            update = f"if ({enable}) {update}"
        if kind != "none":
            reset, asserted, _ = rng.choice([r for r in self.resets if r[2] == asynchronous])
            if asynchronous:
                events += f" or {'posedge' if asserted else 'negedge'} {reset}"
            test = reset if asserted else f"!{reset}"
            value = f"{out.width}'h{rng.getrandbits(out.width):x}"
            if kind == "sync" and enable and rng.random() < 0.4:
                update = f"if ({enable}) if ({test}) {name} <= {value}; else {name} <= {data};"
            else:
                update = f"if ({test}) {name} <= {value}; else {update}"
        start = f" = {out.width}'h{rng.getrandbits(out.width):x}" if rng.random() < 0.5 else ""
        chain.append(f"    {out.declaration('reg')}{start};\n    always @({events})\n"
                     f"        {update}\n")
        self.give([out], "".join(chain))

    def make_latch(self):
        rng = self.rng
        clock = rng.choice([c for c in self.clocks if c.name == c.base])
        level = rng.randint(0, 1)
        if rng.random() < 0.5:
            # Opened by an input that changes between edges only: no edge is near.
            gate, latch = self.special("open"), None
            signals = self.usable(None)
        else:
            gate, latch = clock.name, (clock.name, level)
            signals = self.usable(latch)
        out = self.new("l", self.width(), rng.random() < 0.4, latch)
        data = self.expression(out.width, signals)
        start = f" = {out.width}'h{rng.getrandbits(out.width):x}" if rng.random() < 0.5 else ""
        self.give([out], f"    {out.declaration('reg')}{start};\n    always @* "
                         f"if ({gate if level else '!' + gate}) {out.name} = {data};\n")

    def make_set_reset(self):
        """Flip-flops with an asynchronous set and reset, which are never asserted together."""
        rng = self.rng
        clock = rng.choice(self.clocks)
        edge = rng.choice(["posedge", "negedge"])
        out = self.new("r", self.width())
        data = self.expression(out.width, self.usable(self.latch_of(clock, edge)))
        up, up_edge, is_up = self.control("set")
        down, down_edge, is_down = self.control("clear")
        self.give([out], f"    {out.declaration('reg')} = 0;\n"
                         f"    always @({edge} {clock.name} or {down_edge} {down} or {up_edge} {up})\n"
                         f"        if ({is_down}) {out.name} <= 0;\n"
                         f"        else if ({is_up}) {out.name} <= {{{out.width}{{1'b1}}}};\n"
                         f"        else {out.name} <= {data};\n")

    def make_load(self):
        """Flip-flops that are loaded asynchronously; what is loaded is at rest meanwhile."""
        rng = self.rng
        clock = rng.choice(self.clocks)
        edge = rng.choice(["posedge", "negedge"])
        load, load_edge, is_load = self.control("load")
        value = self.special("loaded", rng.randint(1, self.limits.width))
        width = next(s.width for s in self.inputs if s.name == value)
        out = self.new("r", rng.randint(1, width))
        data = self.expression(out.width, self.usable(self.latch_of(clock, edge)))
        self.give([out], f"    {out.declaration('reg')} = 0;\n"
                         f"    always @({edge} {clock.name} or {load_edge} {load})\n"
                         f"        if ({is_load}) {out.name} <= {value};\n"
                         f"        else {out.name} <= {data};\n")

    def make_partial(self):
        """A register of which an edge writes a part, at a place that is computed."""
        rng = self.rng
        clock = rng.choice(self.clocks)
        edge = rng.choice(["posedge", "negedge"])
        latch = self.latch_of(clock, edge)
        signals = self.usable(latch)
        out = self.new("r", max(2, self.width(self.limits.shift)))
        width = rng.randint(1, out.width - 1)
        index = self.new("w", rng.randint(1, 8), latch=latch)
        place = self.expression(index.width, signals)
        data, enable = self.expression(width, signals), self.expression(1, signals)
        self.give([index, out],
                  f"    {index.declaration('wire')} = {place};\n"
                  f"    {out.declaration('reg')} = 0;\n    always @({edge} {clock.name})\n"
                  f"        if ({enable}) {out.name}[{index.name} +: {width}] <= {data};\n")

    def make_memory(self):
        rng = self.rng
        clock = rng.choice(self.clocks)
        edge = rng.choice(["posedge", "posedge", "negedge"])
        two_edges = rng.random() < 0.3     # some ports write at the other edge of the clock
        latch = None if two_edges else self.latch_of(clock, edge)
        signals = self.usable(latch)
        width = self.width()
        # Of one bit all addresses may be constants, and Yosys makes a register a word of it, which cannot
        # have both edges.
        bits = rng.randint(2 if two_edges else 1, self.limits.memory_words.bit_length() - 1)
        words = 1 << bits
        name = self.new("m", width).name
        text = [f"    reg [{width - 1}:0] {name} [0:{words - 1}];\n    initial begin\n"]
        text += [f"        {name}[{i}] = {width}'h{rng.getrandbits(width):x};\n"
                 for i in range(words)]
        text.append("    end\n")
        body, gives, reads = [], [], []
        pins, other = [], []

        def pin(stem, size):
            wire = self.new(stem, size, latch=latch)
            pins.append(f"    {wire.declaration('wire')} = "
                        f"{self.expression(size, signals)};\n")
            gives.append(wire)
            return wire.name

        def neighbours():
            """Addresses of two words beside each other, which Yosys makes one wide port of."""
            if bits == 1:
                return ["1'd0", "1'd1"]
            upper = pin("a", bits - 1)
            return [f"{{{upper}, 1'b{low}}}" for low in (0, 1)]

        main = body
        for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
            body = other if two_edges and rng.random() < 0.5 else main
            enable = pin("e", 1)
            if rng.random() < 0.25:
                for address in neighbours():
                    body.append(f"        if ({enable}) {name}[{address}] <= {pin('d', width)};\n")
                continue
            address, data = pin("a", bits), pin("d", width)
            if width >= 2 and rng.random() < 0.4:
                lanes = rng.choice([n for n in range(1, width + 1) if width % n == 0])
                mask, lane = pin("b", width // lanes), lanes
                for i in range(width // lanes):
                    body.append(f"        if ({enable} & {mask}[{i}]) {name}[{address}]"
                                f"[{i * lane} +: {lane}] <= {data}[{i * lane} +: {lane}];\n")
            else:
                body.append(f"        if ({enable}) {name}[{address}] <= {data};\n")
        body = main
        for _ in range(rng.choice([1, 1, 2, 3])):
            out = self.new("q", width)
            kind = rng.choice(["now", "edge", "edge", "enabled", "newest", "reset", "wide", "wide now"])
            if kind.startswith("wide"):
                out = self.new("q", 2 * width, latch=latch if kind == "wide now" else None)
                words = ", ".join(f"{name}[{address}]" for address in reversed(neighbours()))
                text.append(f"    {out.declaration('wire' if kind == 'wide now' else 'reg')};\n")
                if kind == "wide now":
                    reads.append(f"    assign {out.name} = {{{words}}};\n")
                else:
                    body.append(f"        {out.name} <= {{{words}}};\n")
                gives.append(out)
                continue
            address = pin("a", bits)
            if kind == "now":
                out.latch = latch
                reads.append(f"    assign {out.name} = {name}[{address}];\n")
                text.append(f"    {out.declaration('wire')};\n")
            elif kind == "newest":
                held = self.new("h", bits)
                text.append(f"    {out.declaration('wire')};\n    {held.declaration('reg')} = 0;\n")
                body.append(f"        {held.name} <= {address};\n")
                reads.append(f"    assign {out.name} = {name}[{held.name}];\n")
                gives.append(held)
            else:
                text.append(f"    {out.declaration('reg')};\n")
                update = f"{out.name} <= {name}[{address}];"
                if kind == "enabled":
                    update = f"if ({pin('e', 1)}) {update}"
                if kind == "reset":
                    reset, asserted, asynchronous = rng.choice(self.resets)
                    value = f"{width}'h{rng.getrandbits(width):x}"
                    test = reset if asserted else "!" + reset
                    if asynchronous:
                        reads.append(
                            f"    always @({edge} {clock.name} or "
                            f"{'posedge' if asserted else 'negedge'} {reset})\n"
                            f"        if ({test}) {out.name} <= {value}; else {update}\n")
                        update = ""
                    else:
                        update = f"if ({test}) {out.name} <= {value}; else {update}"
                if update:
                    body.append(f"        {update}\n")
            gives.append(out)
        process = f"    always @({edge} {clock.name}) begin\n{''.join(main)}    end\n" if main else ""
        if other:
            edge = "negedge" if edge == "posedge" else "posedge"
            process += f"    always @({edge} {clock.name}) begin\n{''.join(other)}    end\n"
        self.give(gives, "".join(pins) + "".join(text) + process + "".join(reads))

    def make_pad(self):
        """A pin that one or two tri-state buffers drive, never both at once. What they put out stands in nets
        of the names that the simulator gives its ports for the pin."""
        rng = self.rng
        pad = self.new("pad", self.width())
        self.pads.append((pad, rng.choice(["inout", "inout", "output"])))
        wires, text, before = [], "", []
        off = f"{{{pad.width}{{1'bz}}}}"
        name = pad.name
        if rng.random() < 0.3:
            self.children.append(f"module cell_{name} (inout [{pad.width - 1}:0] p, input "
                                 f"[{pad.width - 1}:0] d, input e);\n    assign p = e ? d : {off};\n"
                                 "endmodule\n")
        for _ in range(rng.choice([1, 1, 2])):
            data, enable = self.new("d", pad.width), self.new("e", 1)
            text += f"    {data.declaration('wire')} = {self.expression(data.width, self.usable(None))};\n"
            test = " & ".join(["1'b1", *(f"~{other.name}" for other in before)])
            # Never a constant: Yosys would join what it drives and what drives it.
            text += (f"    {enable.declaration('wire')} = {test} & ({self.special('oe')} ^ "
                     f"(^({self.expression(1, self.usable(None))})));\n")
            before.append(enable)
            if f"module cell_{name} " in "".join(self.children):
                text += f"    cell_{name} i_{data.name} (.p({name}), .d({data.name}), .e({enable.name}));\n"
            else:
                text += f"    assign {name} = {enable.name} ? {data.name} : {off};\n"
            wires += [data, enable]
        parts = [f"({e.name} ? {d.name} : {pad.width}'b0)" for d, e in zip(wires[::2], wires[1::2])]
        any_on = " | ".join(enable.name for enable in before)
        seen = self.new("w", pad.width)
        text += (f"    (* keep *) wire [{pad.width - 1}:0] {name}__out = {' | '.join(parts)};\n"
                 f"    (* keep *) wire [{pad.width - 1}:0] {name}__oe = {{{pad.width}{{{any_on}}}}};\n"
                 f"    {seen.declaration('wire')} = {name};\n")
        self.give([*wires, seen], text)

    def make_child(self):
        """Two instances of a module of its own, with a flip-flop and some logic."""
        rng = self.rng
        clock = rng.choice(self.clocks)
        latch = self.latch_of(clock, "posedge")
        signals = self.usable(latch)
        width, other = self.width(), self.width()
        name = self.new("part", 1).name
        a, b = Signal("a", width, rng.random() < 0.4), Signal("b", other)
        # The child's own text knows its ports only.
        saved = self.items
        self.items = []
        data = self.expression(width, [a, b])
        result = self.expression(width, [a, b, Signal("q", width)])
        inner = "".join(item.text for item in self.items)
        self.items = saved
        self.children.append(
            f"module {name} (input clk, {a.declaration('input')}, {b.declaration('input')}, "
            f"output [{width - 1}:0] y);\n    reg [{width - 1}:0] q = {self.constant(width)};\n"
            f"{inner}    always @(posedge clk) q <= {data};\n    assign y = {result};\nendmodule\n")
        gives, text = [], ""
        for _ in range(2):
            out = self.new("y", width, latch=latch)
            wires = [self.new("p", width, latch=latch), self.new("p", other, latch=latch)]
            for wire in wires:
                text += (f"    {wire.declaration('wire')} = "
                         f"{self.expression(wire.width, signals)};\n")
            text += (f"    {out.declaration('wire')};\n    {name} i_{out.name} "
                     f"(.clk({clock.name}), .a({wires[0].name}), .b({wires[1].name}), "
                     f".y({out.name}));\n")
            gives += [*wires, out]
        self.give(gives, text)

    # ---- the result ----

    def verilog(self, without=()):
        """The text, without the items with these numbers."""
        without = set(without)
        ports = [signal.declaration("input") for signal in self.inputs]
        outputs = [s for item in self.items for s in item.gives]
        ports += [f"output [{s.width - 1}:0] out_{s.name}" for s in outputs]
        ports += [pad.declaration(way) for pad, way in self.pads]
        lines = ["module top (\n    " + ",\n    ".join(ports) + ");\n"]
        for number, item in enumerate(self.items):
            lines.append(item.left_out() if number in without else item.text)
        lines += [f"    assign out_{s.name} = {s.name};\n" for s in outputs]
        return "".join(self.children) + "".join(lines) + "endmodule\n"

    def plan(self, length):
        """When inputs change. Names of kinds: see stimulus.Plan."""
        plan = stimulus.Plan([(s.name, s.width) for s in self.inputs],
                             [name for name, kind in self.kinds.items() if kind == "clock"],
                             self.periods, {name: value for name, value, _ in self.resets},
                             [name for name, kind in self.kinds.items()
                              if kind in ("between", "open", "choose", "gate", "set", "clear", "load",
                                          "loaded")], {}, length)
        if "choose" in self.kinds:
            plan.only_while["choose"] = [(clock, 0) for clock in plan.clocks]
        if "load" in self.kinds:
            plan.only_while["loaded"] = [("load", 1 - self.levels["load"])]
        if "set" in self.kinds:
            plan.exclusive.append([(name, 1 - self.levels[name]) for name in ("clear", "set")])
        plan.ports += [(f"{pad.name}__in", pad.width) for pad, way in self.pads if way == "inout"]
        return plan
