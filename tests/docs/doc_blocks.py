# SPDX-License-Identifier: Apache-2.0
"""The fenced blocks of a Markdown text, and what it means for each kind to hold.

The word after the fence says what a block is:

    sh, console     "$ " starts a command (a line that ends in \\ goes on), the lines after it are all that it
                    prints, both streams; a line "..." stands for any number of lines. A command that prints
                    what is shown has passed, whatever its exit status.
    sh setup        commands that change the machine: only the scripts and make targets they name must exist
    c               a complete program: compiles against the library and runs
    python          a complete program
    text output     what the program just before prints
    json query      requests to `tesela query --files=.`, each followed by its response, compared as JSON values; a text "..."
                    stands for any text and any number with a fraction, as of times
    text, make, cmake, ebnf    to be read, not run

Any other word is a mistake. The blocks of one document run in order in one folder that has a copy of examples/.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(os.environ.get("TESELA_SOURCE") or Path(__file__).resolve().parents[2])
BUILD = Path(os.environ.get("TESELA_BUILD") or SOURCE / "build/release")
NOT_RUN = {"text", "make", "cmake", "ebnf"}
TIMEOUT_S = 120


class Wrong(Exception):
    """A block does not hold; the text says how."""


@dataclass
class Block:
    info: str  # the words after the fence
    text: str
    line: int  # of the opening fence, from 1
    output: str | None = None  # of the `text output` block that follows


def blocks_of(markdown):
    """The fenced blocks of a text, each program with its output."""
    blocks, lines = [], iter(enumerate(markdown.split("\n"), 1))
    for number, line in lines:
        opened = re.match(r"( *)(`{3,}|~{3,})(.*)", line)
        if not opened:
            continue
        indent, fence, info = opened[1], opened[2], " ".join(opened[3].split())
        body = []
        for _, line in lines:
            if re.fullmatch(rf" *{fence[0]}{{{len(fence)},}} *", line):
                break
            body.append(line.removeprefix(indent))
        else:
            raise Wrong(f"line {number}: the block is not closed")
        block = Block(info, "".join(line + "\n" for line in body), number)
        if info != "text output":
            blocks.append(block)
        elif blocks and blocks[-1].info in ("c", "python") and blocks[-1].output is None:
            blocks[-1].output = block.text
        else:
            raise Wrong(f"line {number}: `text output` follows no program")
    return blocks


# ---- running ----


def environment():
    """The built command first on PATH; locale, colour and width are not those of whoever runs the tests."""
    command = Path(os.environ.get("TESELA") or BUILD / "tesela")
    env = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    env["PATH"] = f"{command.parent}{os.pathsep}{env['PATH']}"
    env["PYTHONPATH"] = str(SOURCE / "python")
    env.setdefault("TESELA_LIBRARY", str(BUILD / "python/libtesela.so"))
    env["TESELA_COMMAND"] = str(command)
    return {**env, "LC_ALL": "C.UTF-8", "TERM": "xterm"}


def run(command, folder, text=None, merge=False):
    """(what it printed, exit status); with merge, stderr is in what it printed."""
    done = subprocess.run(
        command, cwd=folder, env=environment(), input=text or "", encoding="utf-8", timeout=TIMEOUT_S,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT if merge else subprocess.PIPE,
    )  # fmt: skip
    if done.returncode < 0 or done.returncode >= 126:
        raise Wrong(f"{shlex.join(map(str, command))}: status {done.returncode}\n{done.stdout}{done.stderr or ''}")
    return done.stdout, done.returncode, done.stderr


def compare(printed, expected, what):
    """Equal line by line; an expected line "..." takes any number of lines."""
    pattern = "".join(
        r"(?:.*\n)*" if line == "..." else re.escape(line) + r"\n" for line in expected.splitlines()
    )
    if printed and not printed.endswith("\n"):
        printed += "\n"
    if not re.fullmatch(pattern, printed):
        raise Wrong(f"{what}\n---- the document says\n{expected}---- it prints\n{printed}----")


def must_succeed(command, folder):
    printed, status, errors = run(command, folder)
    if status != 0:
        raise Wrong(f"{shlex.join(map(str, command))}: status {status}\n{printed}{errors}")
    return printed


# ---- one function for each kind of block ----


def steps_of(text):
    """[(command, expected)] of a console block."""
    steps, lines = [], iter(text.splitlines())
    for line in lines:
        if line.startswith("$ "):
            command = line[2:]
            while command.endswith("\\"):
                command = command[:-1] + next(lines, "").strip()
            steps.append((command, []))
        elif steps:
            steps[-1][1].append(line)
        else:
            raise Wrong('the first line of a console block starts with "$ "')
    if not steps:
        raise Wrong("no command")
    return [(command, "".join(line + "\n" for line in expected)) for command, expected in steps]


def check_console(block, folder):
    for command, expected in steps_of(block.text):
        if found := re.search(r", (avx2|avx512|neon), \d+ thread", expected):
            raise Wrong(f"$ {command}\n{found[1]} is of one machine: show the plan with --isa=c")
        printed, _, _ = run(["sh", "-c", command], folder, merge=True)
        compare(printed, expected, f"$ {command}")


def check_setup(block, folder):
    targets = set(re.findall(r"^([a-z-]+):", (SOURCE / "Makefile").read_text(), re.M))
    for line in block.text.splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True)
        if not words:
            continue
        script = SOURCE / words[0]
        if "/" in words[0] and not os.access(script, os.X_OK):
            raise Wrong(f"{words[0]} is not a script of this tree")
        if words[0] in ("make", "./bootstrap"):
            for word in words[1:]:
                if "=" not in word and word not in targets:
                    raise Wrong(f"`{line}`: the Makefile has no {word}")


def check_c(block, folder):
    (folder / "block.c").write_text(block.text)
    flags = shlex.split(os.environ.get("CFLAGS") or "")
    must_succeed(
        [os.environ.get("CC") or "cc", "-std=c11", "-Wall", "-Wextra", "-Werror", *flags, f"-I{SOURCE / 'include'}",
         "block.c", BUILD / "libtesela.a", "-lm", "-pthread", "-o", "block"], folder,
    )  # fmt: skip
    check_program([folder / "block"], block, folder)


def check_python(block, folder):
    if os.environ.get("CFLAGS") and "import tesela" in block.text:
        return  # an instrumented build, whose library a plain Python does not load
    (folder / "block.py").write_text(block.text)
    check_program([sys.executable, "block.py"], block, folder)


def check_program(command, block, folder):
    printed = must_succeed(command, folder)
    if block.output is not None:
        compare(printed, block.output, "the program")


def alike(says, prints):
    """Equal as JSON values; "..." is any text, and any number with a fraction."""
    if isinstance(says, dict) and isinstance(prints, dict):
        return says.keys() == prints.keys() and all(alike(says[key], prints[key]) for key in says)
    if isinstance(says, list) and isinstance(prints, list):
        return len(says) == len(prints) and all(map(alike, says, prints))
    return says == prints or (says == "..." and isinstance(prints, (str, float)))


def check_query(block, folder):
    lines = [line for line in block.text.splitlines() if line.strip()]
    requests, expected = lines[::2], lines[1::2]
    printed, _, _ = run(["tesela", "query", "--files=."], folder, text="".join(line + "\n" for line in requests))
    responses = printed.splitlines()
    if not len(requests) == len(expected) == len(responses):
        raise Wrong(f"{len(requests)} requests, {len(expected)} responses written, {len(responses)} printed")
    for request, says, prints in zip(requests, expected, responses):
        if not alike(json.loads(says), json.loads(prints)):
            raise Wrong(f"{request}\n---- the document says\n{says}\n---- it answers\n{prints}")


CHECKS = {
    "sh": check_console,
    "console": check_console,
    "sh setup": check_setup,
    "c": check_c,
    "python": check_python,
    "json query": check_query,
}


def check(block, folder):
    """Raises Wrong if the block does not hold."""
    if block.info in CHECKS:
        CHECKS[block.info](block, folder)
    elif block.info not in NOT_RUN:
        raise Wrong(f"no kind of block is called {block.info!r}")


def make_folder(folder):
    """What a document's commands find around them."""
    if (SOURCE / "examples").is_dir():
        shutil.copytree(SOURCE / "examples", folder / "examples")
    return folder
