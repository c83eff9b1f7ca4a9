# SPDX-License-Identifier: Apache-2.0
"""What a test bench must know of a Yosys JSON netlist: its top, its ports, and which inputs are clocks."""

import json
import re

# Pins that act at an edge or open a latch, by the start of a cell's type. Gates name them C and E.
WORD_PINS = {"$dff": ["CLK"], "$adff": ["CLK"], "$sdff": ["CLK"], "$aldff": ["CLK"],
             "$dlatch": ["EN"], "$adlatch": ["EN"], "$mem": ["RD_CLK", "WR_CLK"],
             "$memrd": ["CLK"], "$memwr": ["CLK"]}
GATE_FLOP = re.compile(r"\$_(S?DFF|ALDFF|DFFSR|SDFFCE)")
GATE_LATCH = re.compile(r"\$_DLATCH")


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)["modules"]


def attribute_is_set(module, name):
    value = module.get("attributes", {}).get(name, 0)
    return bool(int(value, 2)) if isinstance(value, str) and value.strip("01") == "" and value \
        else bool(value)


def find_top(modules, name=None):
    if name is not None:
        return name
    tops = [key for key, module in modules.items() if attribute_is_set(module, "top")]
    if len(tops) == 1:
        return tops[0]
    used = {cell["type"] for module in modules.values() for cell in module["cells"].values()}
    tops = [key for key, module in modules.items()
            if key not in used and not attribute_is_set(module, "blackbox")]
    if len(tops) != 1:
        raise ValueError(f"which of these is the top: {', '.join(tops)}")
    return tops[0]


def ports(modules, top, direction):
    """[(name, width)] of the inputs, outputs or inouts of the top."""
    return [(name, len(port["bits"])) for name, port in modules[top]["ports"].items()
            if port["direction"] == direction]


def has_buffers(modules):
    """Whether there are tri-state buffers."""
    return any(cell["type"] in ("$tribuf", "$_TBUF_") for module in modules.values()
               for cell in module["cells"].values())


def pads_without_buffers(modules, top):
    """Pins named pad... that no tri-state buffer drives: Yosys found that they have one value, and took the
    buffers for wires."""
    def may_be_buffer(cell, pin):
        ports = modules[cell["type"]]["ports"] if cell["type"] in modules else {}
        return cell["type"] in ("$tribuf", "$_TBUF_") or \
            (pin in ports and ports[pin]["direction"] == "inout")

    buffered = {bit for cell in modules[top]["cells"].values()
                for pin, bits in cell["connections"].items() if may_be_buffer(cell, pin)
                for bit in bits if isinstance(bit, int)}
    return [name for name, port in modules[top]["ports"].items()
            if name.startswith("pad") and not buffered.intersection(port["bits"])]


def clock_pins(kind):
    if GATE_FLOP.match(kind):
        return ["C"]
    if GATE_LATCH.match(kind):
        return ["E"]
    for start in sorted(WORD_PINS, key=len, reverse=True):
        if kind.startswith(start) and (kind[len(start):] in ("", "e", "ce", "sr", "sre", "_v2")):
            return WORD_PINS[start]
    return []


def is_state(kind):
    return bool(clock_pins(kind)) or kind in ("$sr",) or kind.startswith("$_SR_")


class Cones:
    """Finds what the clock pins of a hierarchy hang on, through combinational cells and ports."""

    def __init__(self, modules, top):
        self.modules, self.inputs, self.seen = modules, set(), set()
        self.drivers = {name: self.find_drivers(name) for name in modules}
        self.parents = {name: [] for name in modules}
        for name, module in modules.items():
            for cell in module["cells"].values():
                if cell["type"] in modules:
                    self.parents[cell["type"]].append((name, cell))
        self.top = top
        for name, module in modules.items():
            for cell in module["cells"].values():
                for pin in clock_pins(cell["type"]):
                    for bit in cell["connections"].get(pin, []):
                        self.follow(name, bit)

    def find_drivers(self, name):
        drivers = {}
        module = self.modules[name]
        for port, data in module["ports"].items():
            if data["direction"] != "output":
                for index, bit in enumerate(data["bits"]):
                    drivers[bit] = ("port", port, index)
        for cell in module["cells"].values():
            for pin, bits in cell["connections"].items():
                directions = cell.get("port_directions", {})
                if cell["type"] in self.modules:
                    direction = self.modules[cell["type"]]["ports"][pin]["direction"]
                else:
                    direction = directions.get(pin, "input")
                if direction == "output":
                    for index, bit in enumerate(bits):
                        drivers[bit] = ("cell", cell, pin, index)
        return drivers

    def follow(self, name, bit):
        work = [(name, bit)]
        while work:
            module, net = work.pop()
            if (module, net) in self.seen or isinstance(net, str):
                continue
            self.seen.add((module, net))
            driver = self.drivers[module].get(net)
            if driver is None:
                continue
            if driver[0] == "port":
                if module == self.top:
                    self.inputs.add(driver[1])
                for parent, cell in self.parents[module]:
                    work.append((parent, cell["connections"][driver[1]][driver[2]]))
                continue
            cell, pin, index = driver[1:]
            if cell["type"] in self.modules:
                work.append((cell["type"],
                             self.modules[cell["type"]]["ports"][pin]["bits"][index]))
            elif not is_state(cell["type"]):
                for other, bits in cell["connections"].items():
                    if cell.get("port_directions", {}).get(other, "input") == "input":
                        work += [(module, source) for source in bits]


def clocks(modules, top):
    """The inputs that clock pins and latch enables hang on, by name."""
    return sorted(Cones(modules, top).inputs)


def rename_automatic(source, target):
    """Writes the netlist with other names for nets that Yosys named itself (`$..`), which some simulators
    do not write into their dumps under these names."""
    with open(source, encoding="utf-8") as file:
        data = json.load(file)
    for module in data["modules"].values():
        names = {}
        for name, net in module["netnames"].items():
            if name.startswith("$"):
                name = f"automatic_{len(names)}"
            names[name] = net
        module["netnames"] = names
    with open(target, "w", encoding="utf-8") as file:
        json.dump(data, file)
