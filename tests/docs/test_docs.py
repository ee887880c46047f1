# SPDX-License-Identifier: Apache-2.0
"""Every fenced block of README.md and docs/*.md holds; see doc_blocks.py for what that means for each kind.

The second half plants faults: a document that says something wrong must be found.
"""

import pytest
from doc_blocks import BUILD, SOURCE, Wrong, blocks_of, check, make_folder

DOCUMENTS = [file for file in (SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))) if file.is_file()]
BLOCKS = [(file, block) for file in DOCUMENTS for block in blocks_of(file.read_text(encoding="utf-8"))]


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """One folder a document, so that a block finds the files of the blocks before it."""
    return {file: make_folder(tmp_path_factory.mktemp(file.stem)) for file in DOCUMENTS}


@pytest.mark.parametrize(
    "file, block", BLOCKS, ids=[f"{file.relative_to(SOURCE)}:{block.line} {block.info}" for file, block in BLOCKS]
)
def test_block(file, block, folders):
    check(block, folders[file])


def test_the_readme_is_checked():
    kinds = {block.info for file, block in BLOCKS if file.name == "README.md"}
    assert "sh setup" in kinds
    assert kinds & {"sh", "console"}


# ---- the checks themselves ----

GOOD = {
    "a command and its output": "```console\n$ echo hello\nhello\n$ true\n```",
    "both streams": "```sh\n$ echo said >&2; exit 1\nsaid\n```",
    "no newline at the end": "```sh\n$ printf hello\nhello\n```",
    "any lines": "```sh\n$ seq 5\n1\n...\n5\n```",
    "no lines are any lines": "```sh\n$ seq 2\n1\n...\n2\n```",
    "a command on two lines": "```sh\n$ echo a \\\n    b\na b\n```",
    "a file of an earlier block": "```sh\n$ echo kept >file\n```\n\n```sh\n$ cat file\nkept\n```",
    "an indented block": "1. x\n   ```sh\n   $ printf 'a\\n b\\n'\n   a\n    b\n   ```",
    "the command on PATH": "```sh\n$ tesela --version\n...\n```",
    "a program in C": '```c\n#include <stdio.h>\nint main(void) { puts("hi"); }\n```\n\n```text output\nhi\n```',
    "the library": "```c\n#include <tesela/tesela.h>\nint main(void) { return !tesela_version(); }\n```",
    "a program in Python": "```python\nprint(1)\n```\n```text output\n1\n```",
    "set-up that is there": "```sh setup\n$ ./bootstrap test\nmake check JOBS=4 # comment\n```",
    "any text of a response": '```json query\n{"op": "version"}\n{"id": null, "ok": true, "version": "..."}\n```',
    "blocks that are only read": "```text\nx\n```\n~~~ebnf\nx = y\n~~~\n```make\nx:\n```",
}

BAD = {
    "another output": "```console\n$ echo hello\nhallo\n```",
    "too little output": "```sh\n$ seq 3\n1\n2\n```",
    "too much output": "```sh\n$ seq 2\n1\n2\n3\n```",
    "output where none is shown": "```sh\n$ echo hello\n```",
    "a wrong line after any lines": "```sh\n$ seq 5\n...\n4\n```",
    "a space at the end": "```sh\n$ echo 'a '\na\n```",
    "the instruction set of a machine": "```sh\n$ echo rows, avx2, 1 thread\nrows, avx2, 1 thread\n```",
    "no such command": "```sh\n$ no-such-command\nsh: 1: no-such-command: not found\n```",
    "a crash": "```sh\n$ kill -SEGV $$\n```",
    "no command": "```sh\necho hello\n```",
    "an empty block": "```sh\n```",
    "a block nobody knows": "```bash\n$ true\n```",
    "a block without a word": "```\n$ true\n```",
    "an open block": "```sh\n$ true\n",
    "a program that does not compile": "```c\nint main(void) { return x; }\n```",
    "a program with a warning": "```c\nint main(void) { int unused; return 0; }\n```",
    "a program that fails": "```c\nint main(void) { return 1; }\n```",
    "a program that prints something else": '```python\nprint("a")\n```\n```text output\nb\n```',
    "output of no program": "```text output\nx\n```",
    "no such script": "```sh setup\n$ ./install-everything\n```",
    "no such target": "```sh setup\n$ ./bootstrap everything\n```",
    "no such make target": "```sh setup\n$ make everything\n```",
    "a request without a response": '```json query\n{"id": 1, "op": "none"}\n```',
    "no text in a response": '```json query\n{"op": "version"}\n{"id": "...", "ok": true, "version": "..."}\n```',
    "a text too few": '```json query\n{"op": "version"}\n{"id": null, "ok": true}\n```',
    "a wrong response": '```json query\n{"id": 1, "op": "none"}\n{"id": 2, "ok": true}\n```',
}


def check_text(markdown, folder):
    for block in blocks_of(markdown):
        check(block, folder)


@pytest.mark.parametrize("markdown", GOOD.values(), ids=GOOD)
def test_good_document(markdown, tmp_path):
    check_text(markdown, tmp_path)


@pytest.mark.parametrize("markdown", BAD.values(), ids=BAD)
def test_planted_fault(markdown, tmp_path):
    with pytest.raises(Wrong):
        check_text(markdown, tmp_path)


def test_the_command_is_the_one_that_was_built(tmp_path):
    check_text(f"```sh\n$ command -v tesela\n{BUILD / 'tesela'}\n```", tmp_path)
