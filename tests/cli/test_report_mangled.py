# SPDX-License-Identifier: Apache-2.0
"""`tesela report` on texts that a terminal, a page, a language or several processes have changed: each is made here
from a clean dump or report of this project, and the answer must be that of the clean one."""

import html
import json
import os
import random
import re

import pytest
from command import SOURCE, run

DUMPS = sorted((SOURCE / "tests/data/hlo").glob("*/*.hlo.txt"))
REPORTS = [SOURCE / "examples/oom_report.txt", *sorted((SOURCE / "tests/data/reports").glob("*.txt"))]
TEXTS = [*DUMPS, *REPORTS]
STEP = SOURCE / "examples/step.hlo.txt"
OOM = SOURCE / "examples/oom_report.txt"
SEED = int(os.environ.get("TESELA_SEED", "20261123"), 0)


def name(path):
    return f"{path.parent.name}/{path.name.split('.')[0]}" if path in DUMPS else path.stem


def read(text):
    """What a report says, without where in the text it stands."""
    done = run("report", "--json", "--top", "0", text=text)
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(done.stdout)
    for row in found["arrays"] + found["sections"]:
        del row["line"], row["input"]
    for section in found["sections"]:
        section.pop("prefix", None)
    return found


def loud(found):
    return {n["code"] for n in found["notes"] if n["loud"]}


def same(clean, found):
    assert loud(found) == loud(clean)
    for key in ("totals", "arrays", "sections"):
        assert found[key] == clean[key], key


# ---- what is done to a text ----


def colours(text, rng):
    codes = ["\x1b[0m", "\x1b[1;31m", "\x1b[38;5;208m", "\x1b[K", "\x1b]8;;https://x\x1b\\", "\x1b[m", "\x1b(B"]
    parts = re.split(r"(\W)", text)
    return "".join(p + rng.choice(codes) if p != "\n" and rng.random() < 0.2 else p for p in parts)


def entities(text, rng):
    text = html.escape(text)
    return re.sub(r"[\[\]{}]", lambda m: f"&#{ord(m[0])};" if rng.random() < 0.1 else m[0], text)


def wrap(text, width):
    return "".join(
        "\n".join(line[i : i + width] for i in range(0, max(len(line), 1), width)) + "\n" for line in text.splitlines()
    )


ONE_LINE = {
    "repr": repr,
    "ascii": ascii,
    "bytes": lambda text: repr(text.encode()),
    "exception": lambda text: repr(RuntimeError(text)),
    "json": json.dumps,
    "json field": lambda text: json.dumps({"time": "10:00", "message": text, "level": "E"}),
    "json of repr": lambda text: json.dumps({"m": repr(text)}),
    "json of json": lambda text: json.dumps({"m": json.dumps({"log": text}, ensure_ascii=False)}),
}
PREFIXES = ["[rank{}]: ", "{}: ", " {}: ", "[pod/trainer-{}/main] ", "trainer-{} main ", "worker-{}: ", "worker-{}  | ",
            "[1,{}]<stderr>:", "(worker pid={}, ip=10.0.0.1) ", "[rank {}] ", "[pod/t-{}/main] 2026-11-23T10:00:00Z ",
            "2026-11-23 10:00:00 [default{}]:"]  # fmt: skip


@pytest.mark.parametrize("file", TEXTS, ids=name)
def test_colours_and_entities(file):
    rng = random.Random(SEED)
    text = file.read_text()
    clean = read(text)
    same(clean, read(colours(text, rng)))
    same(clean, read(entities(text, rng)))
    same(clean, read(colours(entities(text, rng), rng)))
    same(clean, read(html.escape(html.escape(text))))
    same(clean, read(text.replace("\n", "\r\n")))


@pytest.mark.parametrize("file", TEXTS, ids=name)
def test_one_line(file):
    text = file.read_text()
    clean = read(text)
    rng = random.Random(SEED)
    for how, mangle in ONE_LINE.items():
        one = mangle(text) + "\n"
        assert one.count("\n") == 1, how
        same(clean, read(one))
    same(clean, read(repr(colours(text, rng)) + "\n"))
    same(clean, read(html.escape(json.dumps(text)) + "\n"))
    same(clean, read("2026-11-23 10:00:00 E it's: " + repr(text)))


@pytest.mark.parametrize("file", TEXTS, ids=name)
def test_wrapped(file):
    text = file.read_text()
    clean = read(text)
    for width in (80, 100, 120):
        same(clean, read(wrap(text, width)))
        same(clean, read(wrap(json.dumps(text), width)))
        same(clean, read("".join(f"[rank3]: {line}\n" for line in wrap(text, width).splitlines())))
        same(clean, read(wrap("".join(f"[rank3]: {line}\n" for line in text.splitlines()), width)))


TABLE = (SOURCE / "examples/memory_table.txt").read_text()


@pytest.mark.parametrize("between", ["step 12 loss 2.5", "  step 12", "(12)", "x", "   ", "[12] {}"])
def test_a_line_that_nobody_knows_after_the_longest_one(between):
    """The longest line of a table or list is not cut: the next line is not part of it."""
    for text in (TABLE, *(f.read_text() for f in REPORTS)):
        lines = text.splitlines()
        widest = max(range(len(lines)), key=lambda i: (len(lines[i]) if "[" in lines[i][-40:] else 0, i))
        if lines[widest][-1:] not in ("]", "}", ")"):
            continue
        clean = read("".join(f"{line}\n" for line in lines[: widest + 1]))
        found = read("".join(f"{line}\n" for line in [*lines[: widest + 1], between]))
        same(clean, found)
        assert "joined_lines" not in {n["code"] for n in found["notes"]}


@pytest.mark.parametrize("file", TEXTS, ids=name)
def test_entities_cut_in_two(file):
    """The source of a page, cut at a width: lines and entities are put together."""
    clean = read(file.read_text())
    for width in (80, 132):
        same(clean, read(wrap(html.escape(file.read_text()), width)))


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_wrapped_table(width):
    same(read(TABLE), read(wrap(TABLE, width)))


def test_a_row_that_is_cut_is_said():
    text = TABLE[: TABLE.rindex("16.25GiB") + 40] + "\n"
    found = read(text)
    assert loud(found) == {"broken_line"} and found["totals"]["memory_report"]["arrays"] == 1


def interleave(texts, rng):
    """The lines of several texts, each in its order."""
    lines = [text.splitlines(keepends=True) for text in texts]
    at = [0] * len(lines)
    out = []
    while left := [i for i in range(len(lines)) if at[i] < len(lines[i])]:
        i = rng.choice(left)
        n = rng.randrange(1, 4)
        out += lines[i][at[i] : at[i] + n]
        at[i] += n
    return "".join(out)


def prefixed(text, prefix):
    return "".join(prefix + line + "\n" for line in text.splitlines())


@pytest.mark.parametrize("form", PREFIXES)
@pytest.mark.parametrize("file", [OOM, STEP, *REPORTS[1:3], *DUMPS[::7]], ids=name)
def test_ranks_with_the_same_text_count_once(file, form):
    rng = random.Random(SEED)
    text = file.read_text()
    clean = read(text)
    ranks = [prefixed(text, form.format(n)) for n in (0, 1, 12)]
    lockstep = "".join(map("".join, zip(*[r.splitlines(keepends=True) for r in ranks], strict=True)))
    for out in (interleave(ranks, rng), "".join(ranks), lockstep):
        found = read(out)
        assert loud(found) == loud(clean)
        assert found["totals"] == clean["totals"]
        assert [{**a, "section": 0} for a in found["arrays"]] == [{**a, "section": 0} for a in clean["arrays"]]
        assert len(found["sections"]) == 3 * len(clean["sections"])
        assert "split_by_prefix" in {n["code"] for n in found["notes"]}


@pytest.mark.parametrize("form", PREFIXES)
def test_ranks_with_other_texts_count_each(form):
    rng = random.Random(SEED)
    for files in ([OOM, REPORTS[6]], [DUMPS[0], DUMPS[5], DUMPS[9]], [OOM, STEP]):
        clean = [read(f.read_text()) for f in files]
        ranks = [prefixed(f.read_text(), form.format(n)) for n, f in enumerate(files)]
        found = read(interleave(ranks, rng))
        assert not loud(found)
        for source in ("memory_report", "hlo"):
            for key in ("arrays", "stored_bytes", "data_bytes"):
                assert found["totals"][source][key] == sum(c["totals"][source][key] for c in clean)


def test_anything_together():
    """Prefix, colours, wrap, entities and quoting in one, over random texts of one or several ranks."""
    print("seed", SEED)
    for round in range(40):
        rng = random.Random(SEED + round)
        file = rng.choice(TEXTS)
        text = file.read_text()
        clean = read(text)
        steps = []
        if rng.random() < 0.3:
            steps.append(rng.choice(list(ONE_LINE)))
            text = ONE_LINE[steps[-1]](text) + "\n"
        if rng.random() < 0.3:
            steps.append("entities")
            text = entities(text, rng)
        width = rng.choice([80, 120])
        when = rng.randrange(3)
        if when == 1:
            steps.append(f"wrap {width}")
            text = wrap(text, width)
        form = rng.choice([*PREFIXES, ""])
        ranks = rng.randrange(1, 4) if form else 1
        texts = [prefixed(text, form.format(n)) if form else text for n in range(ranks)]
        text = interleave(texts, rng)
        steps.append(f"{ranks} of '{form}'")
        if when == 2:
            steps.append(f"wrap {width}")
            text = wrap(text, width)
        if rng.random() < 0.5:
            steps.append("colours")
            text = colours(text, rng)
        found = read(text)
        what = (round, name(file), steps)
        assert loud(found) == loud(clean), what
        assert found["totals"] == clean["totals"], what


# ---- without prefixes ----


def test_mixed_reports_without_prefixes_are_said():
    """Whatever the order of the lines: the totals are those of both reports, or a loud note says why not."""
    print("seed", SEED)
    other = re.sub(r"\[30000000,", "[20000000,", OOM.read_text()).replace("14.30G", "9.53G").replace("12.96G", "8.64G")
    one = read(OOM.read_text())["totals"]["memory_report"]
    said = 0
    for round in range(40):
        rng = random.Random(SEED + round)
        found = read(interleave([OOM.read_text(), other if round % 2 else OOM.read_text()], rng))
        said += bool(loud(found))
        if not loud(found):
            assert round % 2 == 0 and found["totals"]["memory_report"] == one, round
    assert said >= 20
    for file in DUMPS[::6]:
        for round in range(5):
            found = read(interleave([file.read_text()] * 2, random.Random(SEED + round)))
            assert "mixed" in loud(found)


def test_mixed_tables_without_prefixes_are_said():
    """A table has one heading, and its cumulative sizes grow: two that are mixed are one, or a loud note says so."""
    print("seed", SEED)
    one, said = read(TABLE)["totals"]["memory_report"], 0
    for round in range(60):
        rng = random.Random(SEED + round)
        found = read(interleave([TABLE, TABLE], rng))
        said += "mixed" in loud(found)
        assert loud(found) or found["totals"]["memory_report"] == one, round
    assert said >= 20
    assert not loud(read(TABLE + TABLE))
