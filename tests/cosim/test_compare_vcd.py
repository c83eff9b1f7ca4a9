#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_vcd.py finds what differs, and nothing else.

usage: test_compare_vcd.py OUT
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "icarus"))
import compare_vcd # noqa: E402

HEAD = "$timescale 1ns $end\n$scope module bench $end\n$scope module dut $end\n"
END = "$upscope $end\n$upscope $end\n$enddefinitions $end\n"
BUS = HEAD + ("$var wire 1 ! clk $end\n$scope module part $end\n$var reg 4 # count [3:0] $end\n"
              "$upscope $end\n") + END
BUS_VALUES = "#0\n0!\nbx #\n#10\n1!\nb0 #\n#20\n0!\n#30\n1!\nb101 #\nb110 #\n"
BITS = ("$timescale 1 ps $end\n$scope module top $end\n$var wire 1 a clk $end\n"
        + "".join(f"$var wire 1 b{i} part.count[{i}] $end\n" for i in range(4))
        + "$upscope $end\n$enddefinitions $end\n")
BITS_VALUES = ("$dumpvars\n0a\n0b0\n0b1\n0b2\n0b3\n#0\n#10000\n1a\n#20000\n0a\n"
               "#30000\n1a\n1b1\n1b2\n")


def outcome(folder, theirs, ours, **options):
    (folder / "theirs.vcd").write_text(theirs)
    (folder / "ours.vcd").write_text(ours)
    options.setdefault("max_skipped", 100)
    try:
        compare_vcd.compare(folder / "theirs.vcd", folder / "ours.vcd",
                            compare_vcd.Options(**options))
        return "equal"
    except compare_vcd.Mismatch as mismatch:
        return str(mismatch)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    theirs = BUS + BUS_VALUES
    ours = BITS + BITS_VALUES
    skipped = BITS.replace("part.count[3]", "part.other")
    cases = [
        ("a bus agrees with its bits", theirs, ours, {}, "equal"),
        ("what is overwritten within a time does not count", theirs,
         ours.replace("1b1\n", "0b1\n1b1\n"), {}, "equal"),
        ("a bit that differs", theirs, ours.replace("1b1\n", "1b0\n"), {}, "at 30000000 fs: part.count"),
        ("a change that comes late", theirs, ours.replace("1b1\n", "#30001\n1b1\n"), {},
         "at 30000000 fs: part.count"),
        ("a change that comes early", theirs, ours.replace("#20000\n", "#19999\n"), {},
         "at 19999000 fs: clk"),
        ("a change too many at the end", theirs, ours + "#40000\n0a\n", {}, "at 40000000 fs: clk"),
        ("a change that is missing at the end", theirs + "#40\n0!\n", ours, {},
         "at 40000000 fs: clk"),
        ("x in ours", theirs, ours.replace("1b1\n", "xb1\n"), {}, "at 30000000 fs: part.count"),
        ("x in ours, allowed", theirs, ours.replace("1b1\n", "xb1\n"), {"allow_unknown": True},
         "equal"),
        ("x in theirs", theirs.replace("b110 #", "b1x0 #"), ours.replace("1b1\n", ""), {}, "equal"),
        ("too much x in theirs", theirs.replace("b0 #", ""), ours, {"max_skipped": 5},
         "% of the bits were unknown"),
        ("x before everything is settled", theirs, ours, {"max_skipped": 5, "settled": 10 ** 7},
         "equal"),
        ("a net that only one has", theirs, skipped + BITS_VALUES, {}, "equal"),
        ("a net that must be there", theirs, ours, {"require": ["part.count", "part.missing"]},
         "not in both dumps: part.missing"),
        ("nothing in common", theirs.replace("clk", "k").replace("count", "c"), ours, {},
         "the dumps share no net"),
    ]
    failed = 0
    for name, a, b, options, expected in cases:
        got = outcome(folder, a, b, **options)
        if expected not in got:
            failed += 1
            print(f"{name}: expected '{expected}', got '{got}'")
    print(f"{len(cases)} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
