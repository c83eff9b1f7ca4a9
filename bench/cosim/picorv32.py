# SPDX-License-Identifier: Apache-2.0
"""Commands that run PicoRV32 for a number of cycles, and the outputs of a run."""

import json

OUTPUTS = ["result", "count", "done", "trap", "mem_valid", "mem_addr", "mem_wdata", "mem_wstrb"]
CONFIG = {"clock": "clk", "clock_period_ps": 10000, "reset": "resetn", "reset_active_high": False,
          "reset_cycles": 10, "num_cycles": 10**12}


class Lockstep:
    def __init__(self, command, folder):
        self.command, self.folder = command, folder
        (folder / "config.json").write_text(json.dumps(CONFIG))

    def cosim(self, netlist, cycles, *options, threads=1, form="compiled"):
        return [self.command, "cosim", netlist, "--config", "config.json", "--quiet", "--form", form,
                "--cache", "cache", "--threads", threads, "--max-clock-edges", 2 * cycles + 1,
                *options]


def read_outputs(path):
    """The hash that verilator_main prints, of a waveform of lockstep."""
    names, values, last = {}, dict.fromkeys(OUTPUTS, 0), dict.fromkeys(OUTPUTS, 0)
    period, time, hashed = CONFIG["clock_period_ps"], 0, 0

    def close():
        nonlocal hashed, last
        if values != last:
            last = dict(values)
            for number in [(time - 1) // period, *(values[name] for name in OUTPUTS)]:
                hashed = (hashed ^ number) * 1099511628211 & (1 << 64) - 1

    with open(path, encoding="ascii") as file:
        for line in file:
            words = line.split()
            if line.startswith("$var"):
                names[words[3]] = words[4]
            elif line.startswith("#"):
                next_time = int(line[1:])
                if (next_time - 1) // period != (time - 1) // period and time > 0:
                    close()
                time = next_time
            elif line[0] in "b01":
                value, code = words if line[0] == "b" else (line[0], line[1:].strip())
                values[names[code]] = int(value.lstrip("b"), 2)
    close()
    return f"{hashed:016x}"
