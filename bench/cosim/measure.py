# SPDX-License-Identifier: Apache-2.0
"""Times processes: processor time, wall time and peak memory; medians of turns."""

import os
import statistics
import subprocess
import sys
import time


class Run:
    """One run of a command to its end."""

    def __init__(self, command, folder):
        start = time.monotonic()
        process = subprocess.Popen([str(word) for word in command], cwd=folder, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
        self.text = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        self.wall = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        self.processor = usage.ru_utime + usage.ru_stime
        self.peak = usage.ru_maxrss * 1024
        if process.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}\n{self.text[-2000:]}")


class Contender:
    """`command` makes a command of a number of cycles. What a cycle takes is the difference between a
    long and a short run, so that starting does not count."""

    def __init__(self, name, command, cycles, folder, scale=1):
        self.name, self.command, self.folder = name, command, folder
        self.short, self.long = max(cycles // 10, 1), cycles
        self.scale = scale  # cycles that one cycle of the run counts as
        self.processor, self.wall = [], []

    def turn(self):
        few, many = (Run(self.command(n), self.folder) for n in (self.short, self.long))
        cycles = (self.long - self.short) * self.scale
        self.processor.append((many.processor - few.processor) / cycles)
        self.wall.append((many.wall - few.wall) / cycles)

    def rate(self, kind="processor"):
        """Cycles a second."""
        return 1 / max(statistics.median(getattr(self, kind)), 1e-12)


def take_turns(contenders, turns):
    for contender in contenders:
        Run(contender.command(contender.short), contender.folder)
    for _ in range(turns):
        for contender in contenders:
            contender.turn()


def spread(values):
    middle = statistics.median(values)
    return f"{min(values) / middle:.2f} to {max(values) / middle:.2f}"
