# SPDX-License-Identifier: Apache-2.0
"""The command: verbs against golden/, and how it behaves among other programs.

A file in golden/ has commands after "$ ", what each prints (both streams) and "[status]" if that is
not 0; it was written by hand, from the definition of tiled layouts. The verbs show, report and diff
have tests of their own.
"""

import errno
import json
import os
import re
import subprocess
import time

import pytest
from command import HERE, TESELA, environment, on_a_terminal, run

LAYOUT = "f32[3,5]{1,0:T(2,2)}"
VERBS = [verb["name"] for verb in json.loads(run("help", "--json").stdout)["verbs"]]


# ---- golden ----


def golden():
    for file in sorted((HERE / "golden").glob("*.txt")):
        command, expected = None, []
        for number, line in enumerate([*file.read_text().split("\n"), "$ "], 1):
            if line.startswith("$ "):
                if command:
                    yield pytest.param(*command, expected, id=f"{file.stem}:{command[1]}")
                command, expected = (line[2:], number), []
            elif not line.startswith("#"):
                expected.append(line)


def strip(lines):
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines


@pytest.mark.parametrize("command, line, expected", list(golden()))
def test_golden(command, line, expected):
    done = subprocess.run(
        ["sh", "-c", command], env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=60,
    )  # fmt: skip
    printed = done.stdout.split("\n")
    if done.returncode:
        printed = [*strip(printed), f"[{done.returncode}]"]
    assert strip(printed) == strip(expected)


# ---- help, manual page, completions ----


def test_the_list_of_verbs():
    assert {"where", "what", "same", "query", "formats", "version", "help"} <= set(VERBS)
    text = run("help").stdout.decode()
    for verb in VERBS:
        assert re.search(rf"^  {verb}\b", text, re.M)


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_each_verb(verb):
    done = run("help", verb)
    assert (done.returncode, done.stderr) == (0, b"")
    assert run(verb, "--help").stdout == done.stdout == run(verb, "-h").stdout
    assert done.stdout.startswith(f"usage: tesela {verb}".encode())
    verbs = json.loads(run("help", "--json", verb).stdout)["verbs"]
    text = " ".join(done.stdout.decode().split())
    for word in verbs[0]["details"].split():
        assert word in text
    for option in verbs[0]["options"]:
        value = f"={option['value']}" if option["value"] else ""
        assert f"--{option['name']}{value}" in text.replace("| ", "|")
    assert "--json" in text
    assert not any(len(line) > 80 for line in done.stdout.decode().splitlines() if line[:2] != "  ")
    options = done.stdout.decode().partition("\nOptions\n")[2].splitlines()
    assert not any(len(line) > 80 for line in options)


def test_help_without_a_verb():
    assert run("--help").stdout == run("help").stdout
    bare = run()
    assert (bare.returncode, bare.stdout) == (2, b"")
    assert bare.stderr == run("help").stdout


def test_manual_page(tmp_path):
    page = tmp_path / "tesela.1"
    page.write_bytes(run("help", "--man").stdout)
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page], capture_output=True, text=True)
    assert (lint.returncode, lint.stdout) == (0, "")
    text = subprocess.run(["mandoc", "-T", "ascii", page], capture_output=True, text=True).stdout
    text = re.sub(".\b", "", text)
    for verb in VERBS:
        assert f"   {verb}\n" in text
    assert "--completion=bash|zsh|fish" in text
    assert "$ tesela where 'f32[3,5]{1,0:T(2,2)}' 2,3" in text


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_are_accepted(shell, tmp_path):
    file = tmp_path / "completion"
    file.write_bytes(run("help", f"--completion={shell}").stdout)
    assert file.stat().st_size > 500
    assert subprocess.run([shell, "-n", file], capture_output=True).stderr == b""


BASH = """source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tesela 2>/dev/null
printf '%s\\n' "${COMPREPLY[@]}" """


@pytest.mark.parametrize(
    "words, expected",
    [
        (["tesela", "wh"], ["where", "what"]),
        (["tesela", "where", "--wo"], ["--words"]),
        (["tesela", "what", "--by"], ["--bytes"]),
        (["tesela", "where", "--js"], ["--json"]),
        (["tesela", "where", "--color", "=", "a"], ["auto", "always"]),
        (["tesela", "where", "--color", "="], ["auto", "always", "never"]),
        (["tesela", "help", "--completion", "z"], ["zsh"]),
        (["tesela", "help", "ver"], ["verify", "version"]),
    ],
)
def test_bash_completion(words, expected, tmp_path):
    file = tmp_path / "completion"
    file.write_bytes(run("help", "--completion=bash").stdout)
    done = subprocess.run(["bash", "-c", BASH, "bash", file, *words], capture_output=True, text=True)
    assert done.stdout.split() == expected


@pytest.mark.parametrize(
    "line, expected",
    [("tesela wh", {"where", "what"}), ("tesela where --wo", {"--words"}), ("tesela help ver", {"verify", "version"})],
)
def test_fish_completion(line, expected, tmp_path):
    file = tmp_path / "completion"
    file.write_bytes(run("help", "--completion=fish").stdout)
    script = f"source {file}; complete -C '{line}'"
    done = subprocess.run(
        ["fish", "--no-config", "-c", script], capture_output=True, text=True,
        env=environment(HOME=str(tmp_path)),
    )  # fmt: skip
    assert {row.split("\t")[0] for row in done.stdout.splitlines()} == expected


# ---- every verb has JSON ----


@pytest.mark.parametrize(
    "words",
    [
        ["where", LAYOUT, "0,0"], ["what", LAYOUT, "0"], ["same", LAYOUT, LAYOUT], ["formats"],
        ["version"], ["help"], ["help", "where"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_json_of_each_verb(words):
    done = run(*words, "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    assert all(json.loads(line) for line in done.stdout.splitlines())


def test_query_takes_json_too():
    assert (
        run("query", "--json", text='{"op":"version"}').stdout == b'{"id":null,"ok":true,"version":"0.1.0"}\n'
    )


# ---- streams ----

PRINTING = [
    ["where", LAYOUT, "0,0"], ["where", "--json", LAYOUT, "0,0"], ["what", LAYOUT, "0"],
    ["same", LAYOUT, LAYOUT], ["formats"], ["formats", "--json"], ["version"], ["query"],
    ["help"], ["help", "--man"], ["help", "--completion=zsh"],
]  # fmt: skip


@pytest.mark.parametrize("words", PRINTING, ids=" ".join)
def test_a_full_disk_is_an_error(words):
    with open("/dev/full", "wb") as full:
        done = run(*words, text=b'{"op":"version"}\n' * 3, stdout=full)
    assert done.returncode == 3
    assert done.stderr == f"tesela: error: standard output: {os.strerror(errno.ENOSPC)}\n".encode()


@pytest.mark.parametrize("words", PRINTING, ids=" ".join)
def test_a_closed_stdout_is_an_error(words):
    done = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", TESELA, *words],
        input=b'{"op":"version"}\n',
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 3
    assert b"standard output: " in done.stderr


@pytest.mark.parametrize("words", [["where", LAYOUT, "-"], ["query"]], ids=" ".join)
def test_an_endless_stream_ends_with_its_reader(words):
    feed = "2,3" if words[0] == "where" else '{"op":"version"}'
    script = 'yes "$0" | "$@" | head -n 2; sleep 0'
    done = subprocess.run(["sh", "-c", script, feed, TESELA, *words], capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(done.stdout.splitlines()) == 2


def test_closed_stderr_and_stdin():
    done = subprocess.run(["sh", "-c", '"$0" where "f32[2]" 7 2>&-', TESELA], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, b"")
    done = subprocess.run(["sh", "-c", '"$0" query <&-', TESELA], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"standard input: " in done.stderr


def test_stdin_that_cannot_be_read():
    folder = os.open("/", os.O_RDONLY)
    done = run("where", LAYOUT, "-", stdin=folder)
    os.close(folder)
    assert done.returncode == 2
    assert b"standard input: Is a directory" in done.stderr


def test_answers_come_before_the_next_line_is_waited_for():
    with subprocess.Popen(
        [TESELA, "where", LAYOUT, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
    ) as process:
        for index, place in (("2,3", b"17\n"), ("0,1", b"1\n"), ("1,4", b"10\n")):
            half = len(index) // 2
            process.stdin.write(index[:half].encode())  # a line in two pieces
            process.stdin.flush()
            time.sleep(0.01)
            process.stdin.write(index[half:].encode() + b"\n")
            process.stdin.flush()
            assert process.stdout.readline() == place
        process.stdin.write(b"2,2")  # and one that is cut short
        process.stdin.close()
        assert process.stdout.read() == b"16\n"
    assert process.returncode == 0


def test_many_lines():
    lines = [f"{i % 3},{i % 5}" for i in range(100000)]
    place = [[0, 1, 4, 5, 8], [2, 3, 6, 7, 10], [12, 13, 16, 17, 20]]
    done = run("where", LAYOUT, "-", text="\n".join(lines))
    assert done.stdout.decode().split() == [str(place[i % 3][i % 5]) for i in range(100000)]
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_line_that_is_too_long():
    done = run("where", LAYOUT, "-", text="0,0\n" + "1" * 200000 + "\n0,0\n")
    assert (done.returncode, done.stdout) == (2, b"0\n")
    assert b"longer than 65536 bytes" in done.stderr
    assert b"line 2" in done.stderr


def test_the_help_names_the_verbs_that_read_standard_input():
    words = " ".join(run("help").stdout.decode().split())
    assert "For show, where, what, and for every input file, - is standard input." in words
    for verb in (["show", "-"], ["where", LAYOUT, "-"], ["what", LAYOUT, "-"]):
        done = run(*verb, text="f32[2]\n" if verb[0] == "show" else "0,0\n" if verb[0] == "where" else "0\n")
        assert done.returncode == 0 and done.stdout


def test_show_reads_lines():
    done = run("show", "--json", "-", text="f32[2]\n\n(f32[3],token[])\ntoken[]")
    assert done.returncode == 0
    first, second, third = map(json.loads, done.stdout.splitlines())
    assert first["bytes"] == 8 and second["leaves"][1]["bytes"] is third["bytes"] is None
    done = run("show", "-", text="f32[2]\n" + "1" * 200000)
    assert done.returncode == 2 and b"longer than 65536 bytes" in done.stderr and b"line 2" in done.stderr
    done = run("show", "-", text="f32[2]\0x")
    assert (done.returncode, done.stdout) == (2, b"") and b"NUL" in done.stderr


# ---- terminals ----


def test_words_on_a_terminal():
    assert on_a_terminal("where", LAYOUT, "2,3") == ("17\nplace 17, byte 68 (of 24 places)\n", 0)
    assert on_a_terminal("where", LAYOUT, "2,3", "0,0") == ("17\n0\n", 0)
    assert on_a_terminal("what", LAYOUT, "9") == ("padding\npadding at place 9, byte 36 (of 24 places)\n", 0)
    assert on_a_terminal("where", "--json", LAYOUT, "0,0") == (
        '{"index":[0,0],"place":0,"byte":0,"bit":0}\n',
        0,
    )


@pytest.mark.parametrize(
    "words, env, color",
    [
        ([], {}, True),
        ([], {"NO_COLOR": "1"}, False),
        ([], {"NO_COLOR": ""}, True),
        ([], {"TERM": "dumb"}, False),
        (["--color=never"], {}, False),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
    ],
)
def test_color_on_a_terminal(words, env, color):
    seen, status = on_a_terminal(*words, "where", LAYOUT, "9,9", **env)
    assert status == 2
    assert ("\033[" in seen) == color


def test_color_elsewhere():
    assert b"\033[" not in run("where", LAYOUT, "9,9").stderr
    assert b"\033[1;31merror: \033[0m" in run("where", "--color=always", LAYOUT, "9,9").stderr


# ---- what is wrong, shown ----


def caret(text, env=None, words=()):
    """(the line that shows the text, the column of the caret in it) for a text that is not a layout."""
    done = run("where", *words, text, "0", env=env)
    assert done.returncode == 2
    lines = done.stderr.decode().splitlines()
    mark = next(i for i, line in enumerate(lines) if line.strip() == "^")
    return lines[mark - 1], len(lines[mark]) - 1


def test_caret_below_wide_characters():
    utf8 = {"LC_ALL": "C.UTF-8"}
    line, column = caret("f32[2]{0} /* \u00e9 */ x", utf8)
    assert (line, column) == ("  f32[2]{0} /* \u00e9 */ x", 2 + 18)
    line, column = caret("f32[2]{0} /* \u6f22 */ x", utf8)  # two columns
    assert (line, column) == ("  f32[2]{0} /* \u6f22 */ x", 2 + 19)
    line, column = caret("f32[2]{0} /* e\u0301 */ x", utf8)  # an accent of its own
    assert (line, column) == ("  f32[2]{0} /* e\u0301 */ x", 2 + 18)
    line, column = caret("f32[2]{0} /* \u202e */ x", utf8)  # would turn the line around
    assert (line, column) == ("  f32[2]{0} /* \\u{202e} */ x", 2 + 25)


@pytest.mark.parametrize("env, words", [({"LC_ALL": "C"}, []), ({"LC_ALL": "C.UTF-8"}, ["--ascii"])])
def test_caret_in_ascii(env, words):
    line, column = caret("f32[2]{0} /* \u00e9 */ x", env, words)
    assert (line, column) == ("  f32[2]{0} /* \\u{e9} */ x", 2 + 23)


def test_caret_below_bytes_that_are_no_text():
    line, column = caret(b"f32[2]{0} \xff\xfe")
    assert (line, column) == ("  f32[2]{0} \\xff\\xfe", 2 + 10)


@pytest.mark.parametrize("width", [20, 40, 80, 200])
@pytest.mark.parametrize("before", [0, 10, 150, 5000])
@pytest.mark.parametrize("behind", [0, 10, 5000])
def test_a_long_text_is_cut(width, before, behind):
    text = "f32[2]{0}" + " " * before + "x" + "y" * behind
    line, column = caret(text, {"COLUMNS": str(width)})
    assert line[column] == "x"
    assert len(line) <= width
    assert line.startswith("  f32" if len(text) <= width - 3 else "  ")


def test_caret_at_the_end():
    line, column = caret("f32[2]{0:T(2)(")
    assert (line, column) == ("  f32[2]{0:T(2)(", len(line))


def test_odd_words_do_not_reach_the_terminal():
    done = run("where", "--\033]0;x\007", LAYOUT, "0,0")
    assert done.returncode == 2
    assert b"\033" not in done.stderr
    done = run("\033[2J")
    assert b"\033" not in done.stderr


# ---- the oracle of these tests finds faults ----


def test_a_wrong_golden_line_is_found():
    with pytest.raises(AssertionError):
        test_golden(f"tesela where '{LAYOUT}' 2,3", 1, ["18"])
    with pytest.raises(AssertionError):
        test_golden(f"tesela where '{LAYOUT}' 2,5 2>&1 | head -0", 1, ["x"])
