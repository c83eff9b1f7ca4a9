# SPDX-License-Identifier: Apache-2.0
"""What the tests of the example kernels share: running a kernel by the command in its own comment,
on every usable device and in every order, and requiring the same bytes each time."""

import shutil

import cli


class Case(cli.Case):
    def setUp(self):
        super().setUp()
        for script in (cli.ROOT / "examples" / "kernels").glob("*_data.py"):
            shutil.copy(script, self.folder)
        self.devices = []  # usable ones that may be chosen for their speed
        for line in self.good("devices").splitlines():
            words = line.split()
            if words[:2] == ["not", "usable:"]:
                self.devices.pop()
            else:
                self.devices.append(words[:2])
        self.devices = [name for name, kind in self.devices if kind in ("cpu", "gpu")]

    def command(self, name):
        commands = cli.commands_in(self.path(name).read_text())
        self.assertEqual(len(commands), 1, name)
        return commands[0]

    def run_with(self, command, *extra, lanes=None, **changes):
        """The command with values replaced gives equal files under every schedule and on every
        device, and is clean under the sanitizer."""
        words = []
        for word in command:
            name = word.split("=")[0]
            is_value = name in changes and words[-1] != "--save"
            is_lanes = lanes is not None and words and words[-1] == "--global"
            if is_lanes:
                word = str(lanes)
            words.append(f"{name}={changes[name]}" if is_value else word)
        saved = [words[i + 1].split("=")[1] for i, w in enumerate(words) if w == "--save"]
        saved += [extra[i + 1].split("=")[1] for i, w in enumerate(extra) if w == "--save"]
        reference = ["--device", "reference"]
        first = None
        for options in (reference, reference + ["--schedule", "reverse"],
                        reference + ["--schedule", "seed:9"], reference + ["--sanitize"],
                        *(["--device", name] for name in self.devices)):
            self.good(*words, *extra, *options)
            result = [self.path(name).read_bytes() for name in saved]
            first = first or result
            self.assertEqual(result, first, options)

    def values(self, name):
        """The values of a saved .npy file."""
        return cli.read_npy(self.path(name))[2]
