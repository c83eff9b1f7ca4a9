#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lockstep chat: turns, commands, what is kept between turns, wrong input; line editing and Ctrl-C on a
pseudo-terminal."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import time

import cli

CHAT = ["chat", "-m", "model.gguf"]
SLOW = 300 if "SANITIZED" in os.environ else 60


class Pipe(cli.Case):
    def chat(self, text, *options, status=0):
        """(answers, messages on standard error)"""
        result = subprocess.run([cli.COMMAND, *CHAT, *options], cwd=self.folder, input=text.encode(),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SLOW)
        self.assertEqual(result.returncode, status, result)
        return result.stdout, re.sub(cli.NOTE, "", result.stderr.decode())

    def saved(self, name="saved.json"):
        return [(message["role"], message["content"]) for message in json.loads(self.path(name).read_text())]

    def test_an_answer_is_that_of_generate(self):
        options = ["-n", "7", "--temperature", "1.5", "--seed", "3", "--system", "world"]
        answers, _ = self.chat("Hello\n", *options)
        generated = subprocess.run([cli.COMMAND, "generate", "-m", "model.gguf", "--chat", "-p", "Hello", *options],
                                   cwd=self.folder, stdout=subprocess.PIPE, check=True).stdout
        self.assertEqual(answers, generated + b"\n")

    def test_only_what_is_new_is_computed(self):
        _, said = self.chat("Hello\nworld\n\nHello\n", "-n", "4", "-v", "--temperature", "0")
        new = [int(count) for count in re.findall(r"prompt: (\d+) new tokens", said)]
        # The model's tokens may be written down by others, so an answer can count anew, the messages cannot.
        self.assertEqual(len(new), 3)
        self.assertTrue(all(count <= 15 for count in new), new)

    def test_a_turn_has_the_bits_of_a_fresh_start(self):
        """What is kept between turns, and truncated, does not change what follows."""
        self.chat("Hello\nworld\n/regenerate\n/save saved.json\n", "-n", "9", "--temperature", "2")
        before = self.saved()
        self.path("start.json").write_text(json.dumps([{"role": role, "content": text} for role, text in before[:2]]))
        self.chat("world\n/save saved.json\n", "-n", "9", "--temperature", "2", "--seed", "1", "--load", "start.json",
                  "--threads", "1", "--chunk", "3")
        self.assertEqual(self.saved(), before)

    def test_messages_of_several_lines(self):
        self.chat('one\\\ntwo\\\nthree\n"""\na "quoted"\n\n  text"""\n"""x"""\n /help\n/save saved.json\n', "-n", "1")
        self.assertEqual([text for role, text in self.saved() if role == "user"],
                         ["one\ntwo\nthree", 'a "quoted"\n\n  text', "x", " /help"])

    def test_commands(self):
        _, said = self.chat("/help\n", "-n", "1")
        for command in ("/clear", "/system", "/regenerate", "/save", "/load", "/quit"):
            self.assertIn(command, said)
        self.chat("/system one\nHello\n/system two words\n/save a.json\n/clear\n/save b.json\n/system\n/save c.json\n"
                  "/load a.json\n/save d.json\n/quit\nnever\n", "-n", "2")
        self.assertEqual([self.saved(name)[0] for name in ("a.json", "b.json", "d.json")], 3 * [("system", "two words")])
        self.assertEqual([len(self.saved(name)) for name in ("a.json", "b.json", "c.json", "d.json")], [3, 1, 0, 3])

    def test_text_is_utf8(self):
        """The model's text is of single bytes, some of which are no UTF-8."""
        self.chat("Stop\n/save saved.json\n", "-n", "60", "--temperature", "3", "--top-k", "0")
        self.assertIn("\ufffd", self.saved()[1][1])
        self.chat("Hello\n", "-n", "2", "--load", "saved.json")

    def test_context(self):
        answers, said = self.chat("Hello\n" + "long " * 60 + "\nHello\n", "--context", "64", status=1)
        self.assertEqual(said.count("the context of 64 tokens is full"), 1, said)
        self.assertRegex(said, r"the conversation has \d+ tokens now, and the context is of 64.*/clear begins anew")
        answers, said = self.chat("Hello\n" + "long " * 60 + "\n/clear\nHello\n/save saved.json\n", "--context", "64",
                                  status=1)
        self.assertEqual([text for role, text in self.saved() if role == "user"], ["Hello"])

    def test_wrong_input(self):
        for line, says in {"/nothing": "there is no command /nothing", "/save": "/save needs the name of a file",
                           "/load absent.json": "absent.json", "/save absent/file": "absent",
                           "/save ./model.gguf": "both read and written",
                           "/load saxpy.kc": "no JSON list", "/regenerate": "there is no answer yet",
                           "/quit now": "there is no command", "a\0b": "zero byte"}.items():
            answers, said = self.chat(line + "\n/quit\n", status=1)
            self.assertIn(says, said)
            self.assertEqual((answers, said.count("\n")), (b"", 1))
        self.path("bad.json").write_text('[{"role": "user", "content": "x"}, {"role": "system", "content": "y"}]')
        self.bad(*CHAT, "--load", "bad.json", says=["message 1 has not", "bad.json"])
        self.bad(*CHAT, "text", says="'text' is not expected", status=2)
        self.bad("chat", says="a model is needed", status=2)
        self.bad("chat", "-m", "absent.gguf", says="absent.gguf")
        model = self.path("model.gguf").read_bytes()
        self.path("plain.gguf").write_bytes(model.replace(b"tokenizer.chat_template", b"tokenizer.chat_templatf"))
        self.bad("chat", "-m", "plain.gguf", says="no chat template")


class Terminal(cli.Case):
    def start(self, *options):
        environment = dict(os.environ, TERM="xterm", XDG_STATE_HOME=str(self.folder), LC_ALL="C.UTF-8")
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve(cli.COMMAND, [cli.COMMAND, *CHAT, *options], environment)
        self.pid, self.shown = pid, b""
        self.addCleanup(self.stop)
        self.wait_for(b"> ")

    def stop(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            os.close(self.terminal)

    def wait_for(self, text):
        """Reads until the text is shown, and forgets all up to there."""
        end = time.monotonic() + SLOW
        while text not in self.shown:
            ready, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
            self.assertTrue(ready, (text, self.shown))
            self.shown += os.read(self.terminal, 4096)
        self.shown = self.shown.partition(text)[2]

    def type(self, text):
        os.write(self.terminal, text.encode())

    def say(self, text):
        """A line; returns at the prompt behind what it gives. The line is drawn anew while it is typed, prompt and all,
        and Ctrl-D is no key before a prompt is there."""
        self.type(text + "\r")
        self.wait_for(b"\n")
        self.wait_for(b"> ")

    def finish(self):
        end = time.monotonic() + SLOW
        while time.monotonic() < end:
            if select.select([self.terminal], [], [], 0.05)[0]:
                try:
                    os.read(self.terminal, 4096)
                except OSError:
                    pass
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                os.close(self.terminal)
                return os.waitstatus_to_exitcode(status)
        self.fail("it does not end")

    def saved(self):
        """The messages, through /save."""
        self.say("/save saved.json")
        messages = json.loads(self.path("saved.json").read_text())
        self.path("saved.json").unlink()
        return messages

    def test_editing_and_history(self):
        self.start("-n", "1")
        self.say("Hllo \u00fcx\x7f\x01\x06e")  # back over x, to the beginning, one on
        self.assertEqual(self.saved()[0], {"role": "user", "content": "Hello \u00fc"})
        self.type("\x04")
        self.assertEqual(self.finish(), 0)
        history = self.path("lockstep/chat_history")
        self.assertEqual(history.stat().st_mode & 0o77, 0)
        self.start("-n", "1")
        self.say("\x10\x10")  # the one before the last: /save was the last
        self.assertEqual(self.saved()[0]["content"], "Hello \u00fc")
        self.type("/quit\r")
        self.assertEqual(self.finish(), 0)

    def test_no_history(self):
        self.start("-n", "1", "--no-history")
        self.say("secret")
        self.type("\x04")
        self.assertEqual(self.finish(), 0)
        self.assertFalse(self.path("lockstep").exists())

    def test_ctrl_c_at_the_prompt(self):
        self.start("-n", "1")
        self.type("junk")
        self.wait_for(b"junk")
        self.type("\x03")
        self.wait_for(b"> ")
        self.type("Hello\\\r")
        self.wait_for(b"... ")
        self.type("\x03")
        self.wait_for(b"> ")
        self.say("world")
        self.assertEqual([message["content"] for message in self.saved() if message["role"] == "user"], ["world"])
        self.type("\x04")
        self.assertEqual(self.finish(), 0)

    def test_ctrl_c_stops_the_answer(self):
        self.start("--device", "reference", "--temperature", "2")  # which is slow to fill the context
        for _ in range(2):
            self.type("Hello\r")
            self.wait_for(b"\n")
            while not self.shown:  # what the answer begins with
                self.shown = os.read(self.terminal, 4096)
            self.type("\x03")
            self.wait_for(b"(stopped)")
            self.wait_for(b"> ")
        self.assertEqual(len(self.saved()), 4)
        self.type("\x04")
        self.assertEqual(self.finish(), 0)

    def test_signals_end_it(self):
        self.start("-n", "1")
        os.kill(self.pid, signal.SIGTERM)
        self.assertEqual(self.finish(), 128 + signal.SIGTERM)


if __name__ == "__main__":
    cli.main()
