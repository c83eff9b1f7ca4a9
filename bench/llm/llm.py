#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast language models run, against llama.cpp, in one run: the tables of docs/benchmarks.md.

usage: llm.py OURS CACHE MODEL.gguf ... --llama FOLDER --include FOLDER ... [--threads 1,2] [--turns N]
              [--prompt N] [--generate N] [--depths 0,2048] [--chunk N]

OURS is llm_ours of the build folder. --llama is the folder of libllama.so, built Release with native flags, and
--include are those of its headers; without them only our numbers are printed. Both keep the model loaded and take
turns; a number is the median of the turns, in tokens a second of wall time and of processor time (on a machine that
does other work, look at the latter). llama.cpp runs with flash attention and without; the faster one is the peer.
"""

import argparse
import pathlib
import statistics

import servers


class Contender(servers.Server):
    """One that is measured; it keeps its times."""

    def __init__(self, name, command):
        super().__init__(*command)
        self.name, self.times = name, {}

    def turn(self, what, depth, count):
        wall, processor = self.numbers(what, depth, count)
        self.times.setdefault((what, depth), []).append((wall / count, processor / count))

    def rate(self, key, clock):
        return 1 / statistics.median(times[clock] for times in self.times[key])


def contest(model, theirs, threads, options):
    depths = [int(depth) for depth in options.depths.split(",")]
    context = max(depths) + max(options.prompt, options.generate) + 4  # as many as memory() adds
    ours = [options.ours, model, threads, context, options.chunk, options.cache]
    contenders = [Contender("lockstep", [*ours, "rewind"])]
    for flash in (0, 1) if theirs else ():
        contenders.append(Contender(f"llama.cpp, flash attention {'on' if flash else 'off'}",
                                    [theirs, model, threads, context, 512, flash]))
    works = [("prompt", depth, options.prompt) for depth in depths] + \
            [("generate", depth, options.generate) for depth in depths]
    for work in works:
        for _ in range(options.turns):
            for contender in contenders:
                contender.turn(*work)
    print(f"\n{model.name}, {threads} thread(s): tokens/s by wall time, by processor time, ratio to the faster peer")
    for what, depth, count in works:
        key = (what, depth)
        print(f"  {what} {count} at depth {depth}")
        for contender in contenders:
            print(f"    {contender.name:<32} {contender.rate(key, 0):10.1f} {contender.rate(key, 1):10.1f}")
        if theirs:
            ratios = [contenders[0].rate(key, clock) / max(peer.rate(key, clock) for peer in contenders[1:])
                      for clock in (0, 1)]
            print(f"    {'ratio':<32} {ratios[0]:10.2f} {ratios[1]:10.2f}")
    for contender in contenders:
        contender.end()
    memory([("lockstep", ours)] + [(contender.name, contender.command) for contender in contenders[1:]], options)


def memory(commands, options):
    """Of each alone: two that map one file would share it. After a prompt and a few tokens."""
    sizes = []
    for name, command in commands:
        contender = Contender(name, command)
        contender.turn("prompt", 0, options.prompt)
        contender.turn("generate", options.prompt, 4)
        sizes.append(int(contender.numbers("memory")[0]))
        contender.end()
        print(f"  memory (PSS), {name}: {sizes[-1] / 1e6:.0f} MB")
    if len(sizes) > 1:
        print(f"  ratio {sizes[0] / min(sizes[1:]):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    servers.add_options(parser)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--generate", type=int, default=128)
    parser.add_argument("--depths", default="0,2048")
    parser.add_argument("--chunk", type=int, default=64, help="tokens that we compute together")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    theirs = servers.build_theirs(options) if options.llama else None
    for model in options.models:
        for threads in options.threads.split(","):
            contest(model, theirs, threads, options)


if __name__ == "__main__":
    main()
