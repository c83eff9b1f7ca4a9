#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The JSON schema of configurations: it knows the keys that the reader knows, no others, and holds
for the configurations of the examples.

usage: test_schema.py ROOT
"""

import json
import pathlib
import re
import sys
import unittest

try:
    import jsonschema
except ImportError:
    jsonschema = None

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
SCHEMA = json.loads((ROOT / "docs/cosim-config.schema.json").read_text())
# Tables of src/testbench/config.c, and where the schema has the same.
PLACES = {"top": [], "port_mapping": ["port_mapping"], "clock": ["clocks", "items"],
          "flash": ["qspi_memory", "items"], "uart": ["uarts", "items"], "gpio": ["gpios", "items"],
          "jtag": ["jtag"], "bus": ["bus_traces", "items"], "peripheral": ["peripherals", "items"],
          "memory": ["memories", "items"], "register": ["reg_init", "items"],
          "sram": ["sram_init"]}


def at(place):
    schema = SCHEMA
    for step in place:
        schema = schema[step] if step == "items" else schema["properties"][step]
    return schema


def tables():
    text = (ROOT / "src/testbench/config.c").read_text()
    for name, body in re.findall(r"const (\w+)_keys\[\] = \{(.*?)\};", text, re.S):
        yield name, set(re.findall(r'"(\w+)"', body))


class Schema(unittest.TestCase):
    def test_keys_are_those_of_the_reader(self):
        found = dict(tables())
        self.assertEqual(set(found), set(PLACES))
        for name, keys in found.items():
            self.assertEqual(keys, set(at(PLACES[name])["properties"]), name)

    def test_older_forms_are_the_same(self):
        self.assertEqual(at(["flash"]), at(["qspi_memory", "items"]))
        self.assertEqual(at(["uart"]), at(["uarts", "items"]))

    def test_everything_is_described(self):
        for place in PLACES.values():
            for key, value in at(place)["properties"].items():
                self.assertTrue(value.get("description"), key)

    def validator(self):
        if jsonschema is None:
            self.skipTest("python3-jsonschema is not installed")
        return jsonschema.Draft202012Validator(SCHEMA)

    def test_examples_are_valid(self):
        validator = self.validator()
        configs = sorted((ROOT / "examples/cosim").glob("*/*config*.json"))
        self.assertGreater(len(configs), 5)
        for path in configs:
            validator.validate(json.loads(path.read_text()))

    def test_faults_are_not(self):
        validator = self.validator()
        for fault in ({}, {"clock": 3}, {"clock": "c", "uarts": [{"parity": "x"}]},
                      {"clock": "c", "port_mapping": {"inputs": {"x": "y"}}},
                      {"clock": "c", "peripherals": [{}]}, {"clock_gpio": -1}):
            self.assertFalse(validator.is_valid(fault), fault)


if __name__ == "__main__":
    ran = unittest.main(exit=False)
    if ran.result.wasSuccessful() and ran.result.skipped:
        print("SKIP:", ran.result.skipped[0][1])
        sys.exit(77)
    sys.exit(not ran.result.wasSuccessful())
