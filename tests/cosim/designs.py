# SPDX-License-Identifier: Apache-2.0
"""What the tests of the example designs share: where they are, which tools they need, how they are
built, and how their inputs move."""

import fcntl
import pathlib
import random
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "cosim"
BENCHES = ROOT / "tests" / "cosim" / "benches"

sys.path.insert(0, str(EXAMPLES))
import build as builder # noqa: E402
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "icarus"))
import netlist # noqa: E402
import stimulus # noqa: E402

NAMES = builder.NAMES
# Which value asserts the reset, and inputs that are not to change together with an edge or at all.
RESETS = {"counter": {"reset": 1}, "dual_uart": {"reset_n": 0}, "apb": {"reset_n": 0},
          "flash": {"reset_n": 0}, "jtag": {"trst_n": 0}, "unreset": {"reset": 1},
          "clocks": {"reset_n": 0}, "memory": {"reset": 1}, "soc": {"reset": 1}}
BETWEEN = {"clocks": ["choose", "hold"]}
CONSTANT = {"clocks": {"set": 0}}


def need(*tools):
    """Skips the test when one of these programs is missing."""
    for tool in tools:
        if shutil.which(tool) is None:
            print(f"SKIP: {tool} is not installed")
            sys.exit(77)


def build(out, names=NAMES):
    """Builds these designs into a folder each under `out`, unless they are there. Tests that run at the
    same time share `out`: the first one builds, the others wait. They write elsewhere."""
    out = pathlib.Path(out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    for name in names:
        with open(out / f"{name}.lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            builder.build(name, out / name)


def write_stimulus(name, json_path, path, length):
    """A random one; the same for a design every time."""
    modules = netlist.load(json_path)
    between = BETWEEN.get(name, [])
    clocks = [clock for clock in netlist.clocks(modules, name) if clock not in between]
    plan = stimulus.Plan(netlist.ports(modules, name, "input"), clocks,
                         {clock: 20000 + 10000 * i for i, clock in enumerate(clocks)},
                         RESETS[name], between, CONSTANT.get(name, {}), length)
    with open(path, "w", encoding="ascii") as file:
        stimulus.write(plan, file, name, random.Random(name))


def jtag_session(data):
    """Reads the identification, then writes the data register (examples/cosim/jtag), as a
    session for its replay."""
    def clock(tms, tdi=0, ask=""):
        return f"{tms * 2 + tdi}{ask}{4 + tms * 2 + tdi}"

    def go(path):
        return "".join(clock(int(bit)) for bit in path)

    def shift(value, bits, ask=""):
        return "".join(clock(i == bits - 1, value >> i & 1, ask) for i in range(bits))

    idle = "10" # from Exit1 through Update
    return "\n".join([go("111110"), go("100"), shift(0, 32, "R"), go(idle), go("1100"), shift(2, 4),
                      go(idle), go("100"), shift(data, 32), go(idle), "Q"])
