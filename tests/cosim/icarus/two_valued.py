# SPDX-License-Identifier: Apache-2.0
"""Makes a Yosys JSON netlist two-valued, so that Icarus computes with 0 where it would have x.

Constants that are x or z, bits of parameters, and nets that nobody drives become 0; state without an
initial value gets 0; $shiftx, which is x beyond its operand, is $shift, which is 0 there. Tri-state pins
become nets that Verilog can resolve.
"""

import itertools
import json

import netlist

DEFINED = str.maketrans("xz", "00")
# A read port that has no clock has no enable either; Yosys wants to see it as always enabled.
ENABLES = {"RD_EN", "EN"}
BUFFERS = ("$tribuf", "$_TBUF_")


def direction_of(modules, cell, pin):
    if cell["type"] in modules:
        return modules[cell["type"]]["ports"][pin]["direction"]
    return cell.get("port_directions", {}).get(pin, "input")


def output_bits(modules, module):
    for cell in module["cells"].values():
        for pin, bits in cell["connections"].items():
            if direction_of(modules, cell, pin) != "input":
                yield from bits


def driven_bits(modules, module):
    driven = set(output_bits(modules, module))
    for port in module["ports"].values():
        if port["direction"] != "output":
            driven.update(port["bits"])
    return driven


def define(bits, driven, unknown="0"):
    return [bit if bit in ("0", "1") or bit in driven else
            (unknown if isinstance(bit, str) else "0") for bit in bits]


def state_bits(module):
    for cell in module["cells"].values():
        if netlist.is_state(cell["type"]) and not cell["type"].startswith("$mem"):
            yield from cell["connections"].get("Q", [])


def is_on_pad(modules, cell, pin):
    """Whether this pin must be on the net of a tri-state pin itself, not behind a buffer."""
    if cell["type"] in BUFFERS:
        return pin == "Y"
    return cell["type"] in modules and modules[cell["type"]]["ports"][pin]["direction"] != "input"


def separate_pads(modules, module):
    """All but ports and tri-state buffers look at a pin through a buffer: Verilog has no other names for a
    net, and what Yosys writes for them drives in one direction only."""
    pads = {bit for port in module["ports"].values() if port["direction"] == "inout"
            for bit in port["bits"]}
    pads |= {bit for cell in module["cells"].values() for pin, bits in cell["connections"].items()
             if cell["type"] in BUFFERS and pin == "Y" for bit in bits}
    pads |= {bit for cell in module["cells"].values() if cell["type"] in modules
             for pin, bits in cell["connections"].items()
             if modules[cell["type"]]["ports"][pin]["direction"] == "inout" for bit in bits}
    # What has another driver, a buffer that is always on, say, is no pad.
    pads -= {bit for port in module["ports"].values() if port["direction"] == "input" for bit in port["bits"]}
    pads -= {bit for cell in module["cells"].values() if cell["type"] not in BUFFERS
             for pin, bits in cell["connections"].items() if direction_of(modules, cell, pin) == "output"
             for bit in bits}
    pads = sorted(bit for bit in pads if not isinstance(bit, str))
    if not pads:
        return
    free = 1 + max(bit for net in module["netnames"].values() for bit in net["bits"]
                   if not isinstance(bit, str))
    behind = dict(zip(pads, itertools.count(free)))
    outer = set()   # ports that are a pad: one of them keeps the net, others are behind it
    for port in sorted(module["ports"].values(), key=lambda port: port["direction"] != "inout"):
        if outer.isdisjoint(port["bits"]) and not behind.keys().isdisjoint(port["bits"]):
            outer.update(port["bits"])
        else:
            port["bits"] = [behind.get(bit, bit) for bit in port["bits"]]
    for name, net in module["netnames"].items():
        if name not in module["ports"] or outer.isdisjoint(module["ports"][name]["bits"]):
            net["bits"] = [behind.get(bit, bit) for bit in net["bits"]]
    for cell in module["cells"].values():
        for pin, bits in cell["connections"].items():
            if not is_on_pad(modules, cell, pin):
                cell["connections"][pin] = [behind.get(bit, bit) for bit in bits]
    module["cells"]["behind_pads"] = {
        "hide_name": 0, "type": "$pos", "attributes": {},
        "parameters": {"A_SIGNED": f"{0:032b}", "A_WIDTH": f"{len(pads):032b}",
                       "Y_WIDTH": f"{len(pads):032b}"},
        "port_directions": {"A": "input", "Y": "output"},
        "connections": {"A": pads, "Y": [behind[bit] for bit in pads]}}


def convert_module(modules, module):
    separate_pads(modules, module)
    driven = driven_bits(modules, module)
    for port in module["ports"].values():
        port["bits"] = define(port["bits"], driven)
    for cell in module["cells"].values():
        if cell["type"] == "$shiftx":
            cell["type"] = "$shift"
        is_memory = cell["type"].startswith("$mem")
        for pin, bits in cell["connections"].items():
            unknown = "1" if is_memory and pin in ENABLES else "0"
            cell["connections"][pin] = define(bits, driven, unknown)
        for name, value in cell.get("parameters", {}).items():
            if isinstance(value, str) and value and not value.strip("01xz"):
                cell["parameters"][name] = value.translate(DEFINED)
    starts = {bit: "0" for bit in state_bits(module)}
    starts.update((bit, digit) for net in module["netnames"].values()
                  for bit, digit in zip(net["bits"], init_digits(net))
                  if digit in "01" and not isinstance(bit, str))
    for net in module["netnames"].values():
        net["bits"] = define(net["bits"], driven)
        net["attributes"].pop("init", None)
        if any(bit in starts for bit in net["bits"]):
            net["attributes"]["init"] = "".join(starts.get(bit, "x")
                                                for bit in reversed(net["bits"]))


def init_digits(net):
    """The initial value, lowest bit first."""
    init = net["attributes"].get("init", "")
    return list(reversed(f"{init:b}" if isinstance(init, int) else init))


def convert(source, target):
    with open(source, encoding="utf-8") as file:
        data = json.load(file)
    for module in data["modules"].values():
        convert_module(data["modules"], module)
    with open(target, "w", encoding="utf-8") as file:
        json.dump(data, file)
