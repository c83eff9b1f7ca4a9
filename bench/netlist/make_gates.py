#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a flat netlist of gates as write_json of Yosys would: rounds of 32 bits of xor, and-not and flip-flops.

usage: make_gates.py CELLS FILE
"""

import sys

CELL = """        "%s": {
          "hide_name": 1,
          "type": "%s",
          "parameters": {
          },
          "attributes": {
            "src": "gates.v:%d.5-%d.62"
          },
          "port_directions": {
%s
          },
          "connections": {
%s
          }
        }"""


def cell(name, kind, line, ports):
    sides = ",\n".join(f'            "{port}": "{"output" if port in "YQ" else "input"}"' for port in ports)
    pins = ",\n".join(f'            "{port}": [ {net} ]' for port, net in ports.items())
    return CELL % (name, kind, line, line, sides, pins)


def main(count, path):
    clock, word, free, made = 2, list(range(3, 35)), 35, 0
    inputs = list(word)
    nets = [("clk", [clock], 0), ("a", inputs, 0)]
    with open(path, "w") as file:
        file.write('{\n  "creator": "make_gates.py",\n  "modules": {\n    "gates": {\n      "attributes": {\n'
                   '        "top": "00000000000000000000000000000001"\n      },\n      "ports": {\n        "clk": {\n'
                   f'          "direction": "input",\n          "bits": [ {clock} ]\n        }},\n        "a": {{\n'
                   f'          "direction": "input",\n          "bits": [ {", ".join(map(str, inputs))} ]\n'
                   '        }\n      },\n      "cells": {\n')
        while made < count:
            gates, state = list(range(free, free + 96)), list(range(free + 96, free + 128))
            free += 128
            for i in range(32):
                mixed, kept, sum_ = gates[3 * i:3 * i + 3]
                for kind, ports in (
                        ("$_XOR_", {"A": word[i], "B": word[(i + 13) % 32], "Y": mixed}),
                        ("$_ANDNOT_", {"A": mixed, "B": state[(i + 5) % 32], "Y": kept}),
                        ("$_XNOR_", {"A": kept, "B": word[(i + 1) % 32], "Y": sum_}),
                        ("$_DFF_P_", {"C": clock, "D": sum_, "Q": state[i]})):
                    file.write((",\n" if made else "") +
                               cell(f"$auto$simplemap.cc:75:simplemap_bitop$%d" % made, kind, made % 900 + 1, ports))
                    made += 1
            nets.append((f"r{len(nets)}", state, 0))
            nets.extend((f"$auto$rtlil.cc:2560:Xor${net}", [net], 1) for net in gates[2::3])
            word = state
        file.write('\n      },\n      "netnames": {\n')
        file.write(",\n".join(f'        "{name}": {{\n          "hide_name": {hidden},\n          "bits": [ '
                              f'{", ".join(map(str, bits))} ],\n          "attributes": {{\n            "src": '
                              f'"gates.v:7.3-7.9"\n          }}\n        }}' for name, bits, hidden in nets))
        file.write("\n      }\n    }\n  }\n}\n")


main(int(sys.argv[1]), sys.argv[2])
