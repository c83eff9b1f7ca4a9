# SPDX-License-Identifier: Apache-2.0
"""What the tests of chat templates share: files of cases, our renderer, and Jinja2 as a reference.

A case file holds cases of the form

    === name
    the template
    --- variables
    {"JSON": "object"}
    --- text
    what comes out

or, in place of the last part, `--- error LS_E_FORMAT` and what the message must contain (or
nothing). The line end before a marker belongs to the marker. A file of a style of templates has one
case; its template is also what test_styles.py renders.
"""

import json
import re
import subprocess

UNIX_SECONDS = 1790000000  # 2026-09-21 14:13:20 UTC
MARK = re.compile(r"^(===|---) (.*)\n", re.MULTILINE)
# Words of ours about what Jinja2 can do and we do not: not compared.
OURS = ("LS_E_UNSUPPORTED", "LS_E_LIMIT")


class Case:
    def __init__(self, name):
        self.name = name
        self.template = self.variables = self.expected = ""
        self.kind = ""  # "text" or "error LS_E_..."


def read_cases(path):
    cases, field, end = [], None, 0
    text = path.read_text(encoding="utf-8")
    matches = list(MARK.finditer(text))
    for i, match in enumerate(matches):
        end = matches[i + 1].start() if i + 1 < len(matches) else len(text)
        body = text[match.end():end]
        body = body[:-1] if body.endswith("\n") else body
        if match[1] == "===":
            cases.append(Case(match[2]))
            cases[-1].template = body
        elif match[2] == "variables":
            cases[-1].variables = body
        else:
            cases[-1].kind, cases[-1].expected = match[2], body
    return cases


def write_cases(path, cases):
    parts = []
    for case in cases:
        parts.append(f"=== {case.name}\n{case.template}\n--- variables\n{case.variables}\n"
                     f"--- {case.kind}\n{case.expected}\n")
    path.write_text("".join(parts), encoding="utf-8")


def render_all(program, requests):
    """requests: (template, variables) pairs. Answers as Case.kind and text."""
    lines = "".join(json.dumps({"template": template, "variables": variables,
                                "unix_seconds": UNIX_SECONDS}) + "\n"
                    for template, variables in requests)
    run = subprocess.run([program], input=lines.encode(), capture_output=True, timeout=300)
    if run.returncode:
        raise RuntimeError(f"{program} ended with {run.returncode}: {run.stderr.decode()}")
    replies = [json.loads(line) for line in run.stdout.decode().split("\n")[:-1]]
    if len(replies) != len(requests):
        raise RuntimeError(f"{program}: {len(replies)} answers to {len(requests)} templates")
    return [("text", r["text"], "") if "text" in r else
            ("error " + r["error"], r["message"], r["where"]) for r in replies]


def reference():
    """A function (template, variables) -> (kind, text), made of Jinja2 set up as the package
    transformers sets it up; None when there is no Jinja2."""
    try:
        import jinja2
        import jinja2.ext
        import jinja2.sandbox
    except ImportError:
        return None
    import datetime

    class Refused(Exception):
        pass

    class Generation(jinja2.ext.Extension):
        """{% generation %}: the body as it is, in a scope of its own."""
        tags = {"generation"}

        def parse(self, parser):
            line = next(parser.stream).lineno
            body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
            call = self.call_method("_body")
            return jinja2.nodes.CallBlock(call, [], [], body).set_lineno(line)

        def _body(self, caller):
            return caller()

    def raise_exception(message):
        raise Refused(message)

    def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                          sort_keys=sort_keys)

    def strftime_now(form):
        now = datetime.datetime.fromtimestamp(UNIX_SECONDS, datetime.timezone.utc)
        return now.replace(tzinfo=None).strftime(form)

    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    environment.filters["tojson"] = tojson
    environment.filters["from_json"] = json.loads
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = strftime_now
    defaults = {"messages": [], "tools": None, "documents": None, "add_generation_prompt": False}

    compiled = {}

    def render(template, variables):
        try:
            if template not in compiled:
                compiled[template] = environment.from_string(template)
            return "text", compiled[template].render(**{**defaults, **variables})
        except Refused as words:
            return "error LS_E_FAILED", str(words)
        except jinja2.exceptions.UndefinedError as why:
            return "error LS_E_FORMAT", str(why)
        except RecursionError:
            return "error LS_E_LIMIT", ""
        except Exception:  # of whatever kind: what Python thinks of the template's operations
            return "error LS_E_FORMAT", ""

    return render
