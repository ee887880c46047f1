#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of docs/query.md that {"op":"ops"} decides: operations, types of fields, and the fields of each operation.

    tools/ops_tables.py [--check] TESELA     TESELA is the command, such as build/dev/tesela

A table stands between two comments, `<!-- fields of where -->` and `<!-- end -->`. Names, order, types and `optional` come from
the command. The last column, what a field means, is kept from the page; that of a new field is empty. With --check nothing is
written: exit 1 and a diff if a table is not what the tool would write.
"""

import difflib
import json
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).parent.parent / "docs" / "query.md"
TABLE = re.compile(r"^<!-- (operations|types|fields of (\w+)) -->\n(.*?)^<!-- end -->\n", re.M | re.S)
ROW = re.compile(r"^\| `(\w+)` \|.*?\|(?: (.*))? \|$", re.M)


def ask(command):
    done = subprocess.run([command, "query"], input='{"op": "ops"}\n', capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["ops"]


def has_words(field):
    """Only some texts are allowed: then these are what it takes."""
    return field["type"] == "text" and field["takes"] != "string"


def takes(field):
    words = field["takes"]
    if has_words(field):
        *first, last = (f"`{word}`" for word in words.split("|"))
        words = f"{', '.join(first)} or {last}" if first else last
    return words + ("; optional" if field["optional"] else "")


def table(ops, which, op, old):
    """The text between the comments; `old` is what stands there now."""
    kept = {name: meaning or "" for name, meaning in ROW.findall(old)}
    if which == "operations":
        rows = [("operation", "")] + [(f"[{op['op']}](#{op['op']})", op["summary"]) for op in ops]
        return "".join(f"| {name} | {words} |\n" for name, words in [rows[0], ("---", "---"), *rows[1:]]).replace("|  |", "| |")
    if which == "types":
        head, rows = "type", {field["type"]: field["takes"] for op in ops for field in op["fields"] if not has_words(field)}
    else:
        head, rows = "request", {field["name"]: takes(field) for each in ops if each["op"] == op for field in each["fields"]}
    lines = [f"| {head} | takes | |\n", "| --- | --- | --- |\n"]
    lines += [f"| `{name}` | {words} | {kept.get(name, '')} |\n" for name, words in rows.items()]
    return "".join(lines).replace("|  |", "| |")


def written(page, ops):
    return TABLE.sub(lambda m: f"<!-- {m[1]} -->\n{table(ops, m[1], m[2], m[3])}<!-- end -->\n", page)


def main(words):
    check = words[:1] == ["--check"]
    if len(words) != 1 + check:
        sys.exit(__doc__)
    page = PAGE.read_text(encoding="utf-8")
    ops = ask(words[-1])
    new = written(page, ops)
    missing = [op["op"] for op in ops if op["fields"] and f"<!-- fields of {op['op']} -->" not in page]
    if missing:
        sys.exit(f"{PAGE}: no table of fields for {', '.join(missing)}")
    if not check:
        PAGE.write_text(new, encoding="utf-8")
    elif new != page:
        sys.exit("".join(difflib.unified_diff(page.splitlines(True), new.splitlines(True), str(PAGE), "tools/ops_tables.py writes")))


if __name__ == "__main__":
    main(sys.argv[1:])
