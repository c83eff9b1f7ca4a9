#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The templates of styles/*.txt on random conversations: our renderer against Jinja2.

usage: test_styles.py RENDER_LINES FOLDER [COUNT [SEED]]     COUNT conversations for each template
"""

import json
import pathlib
import random
import sys

import chat

WORDS = ["Hello", "weather", "it's", '"quoted"', "<b>&amp;</b>", "naïve", "日本語", "😀", "e\u0301", "ß", "x\ty",
         "\\n", "{{ x }}", "{% if %}", "</think>", "<think>", "/no_think", "/think", "<result>", "100%", "a\u00a0b",
         "ΑΣ", "İ", "\x7f", "\u2028", "'", '"', "\\", "", "#}", "null", "3.0"]
SPACES = [" ", " ", " ", "\n", "\n\n", "  ", "\t", "\r\n"]


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def chance(self, part):
        return self.random.random() < part

    def text(self, longest=8):
        count = self.random.randrange(longest)
        out = "".join(self.random.choice(WORDS) + self.random.choice(SPACES) for _ in range(count))
        if self.chance(0.15):
            out = "<think>\n" + out + "\n</think>\n\n" + self.random.choice(WORDS)
        return self.random.choice(["", "", " ", "\n"]) + out

    def name(self):
        return self.random.choice(["get_weather", "search", "f", "add2", "schön", "A"])

    def value(self, depth=0):
        kind = self.random.randrange(9 if depth < 3 else 6)
        if kind < 2:
            return self.text(4)
        if kind < 6:
            return self.random.choice([0, 1, -7, 2.5, 1e20, 1e-7, 0.1, True, False, None, 12345678901234])
        if kind < 8:
            return {self.name(): self.value(depth + 1) for _ in range(self.random.randrange(4))}
        return [self.value(depth + 1) for _ in range(self.random.randrange(4))]

    def schema(self, depth=0):
        kind = self.random.choice(["string", "integer", "number", "boolean", "array", "object", "null"])
        out = {"type": [kind, "string"] if self.chance(0.1) else kind}
        if self.chance(0.7):
            out["description"] = self.text(4)
        if kind == "array" and depth < 3:
            out["items"] = self.schema(depth + 1)
        if kind == "object" and depth < 3:
            out["additionalProperties"] = self.schema(depth + 1)
        if self.chance(0.2):
            out["enum"] = [self.text(2), 1]
        return out

    def tool(self):
        names = [self.name() for _ in range(self.random.randrange(4))]
        function = {"name": self.name()}
        if self.chance(0.8):
            function["description"] = self.text(5)
        if self.chance(0.9):
            function["parameters"] = {"type": "object", "properties": {n: self.schema() for n in names}}
            if self.chance(0.8):
                function["parameters"]["required"] = [n for n in names if self.chance(0.5)]
        if self.chance(0.2):
            function["return"] = {"type": "string"}
        return function if self.chance(0.1) else {"type": "function", "function": function}

    def content(self):
        if self.chance(0.85):
            return self.text()
        if self.chance(0.1):
            return None
        return [self.random.choice([{"type": "text", "text": self.text()}, {"type": "image"}, self.text(3),
                                    {"type": "text", "text": self.text()}])
                for _ in range(self.random.randrange(4))]

    def call(self):
        arguments = {self.name(): self.value() for _ in range(self.random.randrange(4))}
        if self.chance(0.15):
            arguments = json.dumps(arguments)
        function = {"name": self.name(), "arguments": arguments}
        if self.chance(0.2):
            return function
        return {"id": self.random.choice(["abcdefghi", "123456789", "short"]) if self.chance(0.3) else "a1b2c3d4e",
                "type": "function", "function": function}

    def message(self, role):
        out = {"role": role, "content": self.content()}
        if role == "assistant" and self.chance(0.35):
            out["tool_calls"] = [self.call() for _ in range(self.random.choice([1, 1, 1, 2, 3]))]
            if self.chance(0.4):
                out["content"] = None if self.chance(0.5) else ""
            elif self.chance(0.2):
                del out["content"]
        if role == "assistant" and self.chance(0.15):
            out["reasoning_content"] = self.text()
        if role == "tool":
            out["tool_call_id"] = "a1b2c3d4e"
            out["name"] = self.name()
            if self.chance(0.3):
                out["content"] = self.value()
        return out

    def conversation(self):
        roles = ["system"] if self.chance(0.5) else []
        for _ in range(self.random.randrange(5)):
            roles.append("user")
            if self.chance(0.3):
                roles += ["assistant"] + ["tool"] * self.random.choice([1, 1, 2])
            if self.chance(0.9):
                roles.append("assistant")
        if self.chance(0.15):
            self.random.shuffle(roles)
        variables = {"messages": [self.message(role) for role in roles], "bos_token": "<s>", "eos_token": "</s>",
                     "add_generation_prompt": self.chance(0.5)}
        if self.chance(0.5):
            variables["tools"] = [self.tool() for _ in range(self.random.choice([0, 1, 1, 2, 3]))]
        if self.chance(0.5):
            variables["enable_thinking"] = self.chance(0.5)
        return variables


def main(program, folder, count=25, seed=1):
    reference = chat.reference()
    if not reference:
        print("SKIP: there is no jinja2 for this python3 (tools/python-packages.sh)")
        return 77
    total = failed = texts = 0
    for path in sorted(folder.glob("*.txt")):
        template = chat.read_cases(path)[0].template
        conversations = [Maker(f"{seed} {path.name} {i}").conversation() for i in range(count)]
        answers = chat.render_all(program, [(template, c) for c in conversations])
        for i, (variables, (kind, text, where)) in enumerate(zip(conversations, answers)):
            expected = reference(template, variables)
            total += 1
            texts += kind == "text"
            if (kind, text) == expected or (kind == expected[0] != "text" and not expected[1]):
                continue
            failed += 1
            if failed <= 5:
                print(f"{path.name}, conversation {i} of seed {seed}: {json.dumps(variables)}\n"
                      f"  jinja2: {expected}\n  ours:   {(kind, text)} {where}")
    print(f"seed {seed}: {total} conversations, {texts} rendered, {total - texts} refused by both, {failed} differ")
    return 1 if failed or texts < total // 3 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2]), *map(int, sys.argv[3:5])))
