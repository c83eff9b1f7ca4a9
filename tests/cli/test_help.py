#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every example of --help, the man page and the README is run and works; the options agree."""

import os
import re
import shutil
import subprocess

import cli


class Help(cli.Case):
    def example(self, command):
        """Works, or is of a part that the build was made without, and says so."""
        if "spirv" in " ".join(command):
            result = self.run_command(*command)
            if "-Dvulkan=enabled" in result.stderr:
                return
        if command[0] == "verify" and "SANITIZED" in os.environ:
            return  # it runs on Vulkan, for which Mesa compiles minutes there
        if command[0] == "bundle":  # what this build cannot make code for is left out, with a note
            self.assertEqual(self.run_command(*command).returncode, 0, command)
            return
        self.good(*command, timeout=250 if command[0] == "verify" else 60)  # which compiles for all there is

    def texts(self):
        for command in ([], ["run"], ["tune"], ["compile"], ["bundle"], ["devices"], ["conform"], ["sim"], ["cosim"], ["generate"], ["chat"], ["verify"], ["perplexity"], ["bench-llm"], ["inspect"],
                        ["tokenize"]):
            yield " ".join(command) or "lockstep", self.good(*command, "--help")

    def test_examples_of_help_work(self):
        for name, text in self.texts():
            commands = cli.commands_in(text)
            self.assertGreaterEqual(len(commands), 2, name)
            for command in commands:
                with self.subTest(" ".join(command)):
                    self.example(command)

    def test_examples_of_the_manual_work(self):
        readme = (cli.ROOT / "README.md").read_text()
        manual = (cli.ROOT / "docs/lockstep.1").read_text().partition(".SH EXAMPLES")[2]
        texts = {"README.md": "\n".join(re.findall(r"^```sh\n(.*?)^```", readme, re.M | re.S)),
                 "docs/lockstep.1": manual.replace(r"\-", "-").replace("\\e\n", "\\\n")}
        for name, text in texts.items():
            text = re.sub(r"\S*/(?=lockstep |\w+\.kc)", "", text)
            commands = cli.commands_in(text)
            self.assertGreaterEqual(len(commands), 2, name)
            for command in commands:
                with self.subTest(f"{name}: {' '.join(command)}"):
                    self.example(command)

    def test_lines_fit_a_terminal(self):
        for name, text in self.texts():
            self.assertEqual([line for line in text.splitlines() if len(line) > 79], [], name)
            # argp moves a name that is too long to the right, and its text to the first column
            self.assertEqual(re.findall(r"(?m)^ {30,}--?\w.*", text), [], name)

    def test_man_page_and_completion_know_every_option(self):
        manual = (cli.ROOT / "docs/lockstep.1").read_text().replace(r"\-", "-")
        completion = (cli.ROOT / "tools/completion/lockstep.bash").read_text()
        for name, text in self.texts():
            for option in set(re.findall(r"--[a-z][a-z-]+", text)):
                self.assertIn(option, manual, name)
                self.assertIn(option, completion, name)

    def test_completion(self):
        if not shutil.which("bash"):
            self.skipTest("there is no bash")
        (self.folder / "in.npy").touch()
        (self.folder / "stuff").mkdir()
        words = {"lockstep r": "run", "lockstep run sax": "saxpy.kc",
                 "lockstep run --sched": "--schedule", "lockstep run --schedule = r": "reverse",
                 "lockstep run saxpy.kc x = @i": "@in.npy", "lockstep compile --emit ir": "ir irb",
                 "lockstep compile --emit s": "spirv spirv-text",
                 "lockstep compile --emit ptx --arch sm_8": "sm_80",
                 "lockstep compile --emit ptx --target sm_8": "sm_80",
                 "lockstep run saxpy.kc --kernel s": "saxpy", "lockstep run --cache st": "stuff"}
        for line, expected in words.items():
            script = (f"source {cli.ROOT}/tools/completion/lockstep.bash; COMP_WORDS=({line});"
                      'COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _lockstep; echo "${COMPREPLY[@]}"')
            out = subprocess.run(["bash", "-c", script], cwd=self.folder, text=True,
                                 stdout=subprocess.PIPE, check=True).stdout
            self.assertEqual(out.strip(), expected, line)


if __name__ == "__main__":
    cli.main()
