# SPDX-License-Identifier: Apache-2.0
"""`tesela report` on what allocators print about themselves: dumps of BFC, PyTorch's summary and messages. They are drawn at
random (allocator_texts.py, TESELA_SEED), with prefixes, wrapped, cut, and lines of several processes; figures and verdicts must
be those of the drawn allocator."""

import json
import os
import random
import re
import textwrap

import pytest
from allocator_texts import PREFIXES, bfc_lines, draw_bfc, draw_message, draw_summary, human, print_bfc, torch_size
from command import run
from report_verb import codes, report_json

SEED = int(os.environ.get("TESELA_SEED", "20261128"), 0)
EXACT = ["free_bytes", "free_chunks", "largest_free_bytes", "in_use_bytes", "in_use_chunks", "limit_bytes", "requested_bytes"]
REGIONS = ["region_free_bytes", "pool_bytes", "regions"]


def draws(kind, n):
    return [random.Random(f"{SEED} {kind} {i}") for i in range(n)]


def allocators(lines):
    found = report_json(text="\n".join(lines) + "\n")
    return found, [s["allocator"] for s in found["sections"] if "allocator" in s]


def check_whole(bfc, pool):
    facts = bfc.facts
    unknown = {"regions": None, "region_free_bytes": None} if bfc.form == "old" else {}  # it does not show regions
    assert {k: pool[k] for k in EXACT + REGIONS} == {k: facts[k] for k in EXACT + REGIONS} | unknown
    assert pool["exact"] and pool["largest_known"] and pool["why"] == facts["why"]
    assert {s["bytes"]: s["count"] for s in pool["sizes"]} == dict(facts["sizes"])
    takes = [s["bytes"] * s["count"] for s in pool["sizes"]]
    assert takes == sorted(takes, reverse=True)
    assert list(pool["stats"].values()) == facts["stats"]
    assert sum(b["chunks"] for b in pool["bins"]) - sum(b["in_use"] for b in pool["bins"]) in (facts["free_chunks"], facts["free_chunks"] - 1)


@pytest.mark.parametrize("prefix", PREFIXES)
def test_whole_dumps(prefix):
    for rng in draws(f"whole {prefix}", 12):
        bfc = draw_bfc(rng)
        lines = print_bfc(bfc, rng, prefix)
        found, pools = allocators(["step 1", *lines, "step 2"])
        assert len(pools) == 1 and codes(found) == set(), codes(found)
        assert found["sections"][0]["name"] == bfc.name
        check_whole(bfc, pools[0])


def agree(bfc, pool):
    """What may be said where lines are missing: exact figures, rounded ones, bounds; never a wrong verdict."""
    facts = bfc.facts
    gap = bfc.form == "tags" and not pool["exact"]  # the bins do not have what is free between the ends
    for key in ("in_use_chunks", "free_chunks", "limit_bytes", "regions", "region_free_bytes"):
        assert pool[key] in (None, facts[key]) or (gap and key == "free_chunks") or (key == "limit_bytes" and bfc.form == "tags"), key
    for key in ("free_bytes", "in_use_bytes", "pool_bytes"):
        rounded = pool[key] is None or pool["exact"] or (gap and key == "free_bytes") or abs(pool[key] - facts[key]) <= facts["pool_bytes"] / 50 + 2048
        assert rounded, (key, pool[key], facts[key])
    if pool["exact"]:
        assert pool["free_bytes"] == facts["free_bytes"]
        assert pool["largest_free_bytes"] == facts["largest_free_bytes"] or not pool["largest_known"]
    largest = max((c.bytes for r in bfc.regions for c in r if not c.in_use and c.tag != "central_gap"), default=0)
    if not pool["largest_known"] and pool["largest_free_bytes"] is not None:
        assert pool["largest_free_bytes"] * 1.02 + 64 >= largest
    if pool["requested_bytes"] is None:
        assert pool["why"] == "unknown"
    near = any(abs(bfc.asked - facts[k]) <= bfc.asked / 25 + 4096 for k in ("free_bytes", "largest_free_bytes", "limit_bytes", "region_free_bytes"))
    allowed = {facts["why"], "unknown"} | ({"fragmented"} if facts["why"] == "regions" else set()) | ({"full"} if facts["why"] in ("outside", "never") else set())
    assert near or gap or pool["why"] in allowed, (pool["why"], facts["why"])


def test_cut_dumps():
    exact = 0
    for rng in draws("cut", 60):
        bfc = draw_bfc(rng)
        lines = print_bfc(bfc, rng, rng.choice(list(PREFIXES)))
        first, last = rng.choice([(0, rng.randint(3, len(lines))), (rng.randint(0, len(lines) - 6), len(lines))])
        kept = lines[first:last]
        if rng.random() < 0.3:
            kept = [line for line in lines if rng.random() < 0.97]  # lines got lost
        done = run("report", "--json", "--top", "0", text="\n".join(kept) + "\n")
        assert done.returncode in (0, 2), done.stderr
        pools = [s["allocator"] for s in json.loads(done.stdout)["sections"] if "allocator" in s] if done.returncode == 0 else []
        for pool in pools:
            agree(bfc, pool)
            exact += pool["exact"]
    assert exact > 5


def test_dumps_one_after_the_other_and_of_several_processes():
    for rng in draws("several", 10):
        dumps = [draw_bfc(rng) for _ in range(3)]
        texts = [print_bfc(bfc, rng, "none") for bfc in dumps]
        found, pools = allocators([line for text in texts for line in text])
        assert codes(found) == set()
        for bfc, pool in zip(dumps, pools, strict=True):
            check_whole(bfc, pool)
        mixed, places = [], [0] * 3
        while any(at < len(text) for at, text in zip(places, texts)):
            k = rng.choice([k for k in range(3) if places[k] < len(texts[k])])
            mixed.append(f"[rank{k}]: {texts[k][places[k]]}")
            places[k] += 1
        found, pools = allocators(mixed)
        assert codes(found) == set()
        names = {}
        for pool in pools:
            names[pool["free_bytes"], pool["requested_bytes"], pool["in_use_bytes"]] = pool
        for bfc in dumps:
            check_whole(bfc, names[bfc.facts["free_bytes"], bfc.asked, bfc.facts["in_use_bytes"]])


@pytest.mark.parametrize("change", ["colours", "repr", "wrapped", "crlf"])
def test_changed_dumps(change):
    for rng in draws(f"changed {change}", 8):
        bfc = draw_bfc(rng)
        if change == "colours":
            text = "".join(f"\x1b[{rng.randint(30, 37)}m{line}\x1b[0m\n" for line in print_bfc(bfc, rng, "jax"))
        elif change == "repr":
            text = "RuntimeError: " + repr("\n".join(print_bfc(bfc, rng, "none"))) + "\n"
        elif change == "crlf":
            text = "\r\n".join(print_bfc(bfc, rng, "absl")) + "\r\n"
        else:
            width = rng.choice([rng.randint(70, 82), rng.randint(100, 200)])  # between the first words of the dump would be cut
            lines = print_bfc(bfc, rng, "tensorflow")
            text = "".join(line[at : at + width] + "\n" for line in lines for at in range(0, max(len(line), 1), width))
        found = report_json(text=text)
        pools = [s["allocator"] for s in found["sections"] if "allocator" in s]
        assert len(pools) == 1 and codes(found) == set()
        check_whole(bfc, pools[0])


def test_a_wrong_figure_is_said():
    rng = random.Random(f"{SEED} wrong")
    for pattern, change in [(r"of size (\d+) next", lambda m: f"of size {int(m[1]) + 256} next"), (r"(\d+) Chunks of size", lambda m: f"{int(m[1]) + 1} Chunks of size"),
                            (r"InUse: +(\d+)", lambda m: f"InUse: {int(m[1]) + 256}"), (r"Chunks in use: (\d+)", lambda m: "Chunks in use: 0")]:  # fmt: skip
        bfc = draw_bfc(rng)
        while bfc.form != "next" or bfc.facts["in_use_chunks"] == 0:
            bfc = draw_bfc(rng)
        text = "\n".join(print_bfc(bfc, rng, "none")) + "\n"
        if pattern.startswith("Chunks"):
            pattern = r"Chunks in use: ([1-9]\d*)"
        found = report_json(text=re.sub(pattern, change, text, count=1))
        assert "mixed" in codes(found), pattern


# ---- PyTorch ----


def check_summary(truth, pool):
    assert {k: pool[k] for k in ("device", "ooms", "retries")} == {k: truth[k] for k in ("device", "ooms", "retries")}
    rows = {(m["name"], m["pool"]): m for m in pool["metrics"]}
    assert rows.keys() == truth["rows"].keys()
    for key, cells in truth["rows"].items():
        for column, (value, step) in zip(("now", "peak", "allocated", "freed"), cells, strict=True):
            cell = rows[key][column]
            assert cell["step"] == step and cell["value"] <= value < cell["value"] + step, (key, column)


def test_summaries():
    for rng in draws("summary", 30):
        prefix = rng.choice(["", "[rank1]: ", "worker-3 | "])
        tables = [draw_summary(rng, rng.random() < 0.4) for _ in range(rng.choice([1, 2]))]
        found, pools = allocators([prefix + line for lines, _ in tables for line in lines])
        assert codes(found) == set()
        for (_, truth), pool in zip(tables, pools, strict=True):
            check_summary(truth, pool)


def test_summaries_with_missing_lines():
    read = 0
    for rng in draws("summary cut", 20):
        lines, truth = draw_summary(rng, False)
        kept = lines[: rng.randint(7, len(lines))] if rng.random() < 0.5 else lines[rng.randint(0, len(lines) - 8) :]
        done = run("report", "--json", text="\n".join(kept) + "\n")
        assert done.returncode in (0, 2)
        found = json.loads(done.stdout) if done.returncode == 0 else {"sections": []}
        read += bool(found["sections"])
        for pool in (s["allocator"] for s in found["sections"]):
            for m in pool["metrics"]:
                for column, (value, step) in zip(("now", "peak", "allocated", "freed"), truth["rows"][m["name"], m["pool"]]):
                    assert m[column]["step"] == step and m[column]["value"] <= value < m[column]["value"] + step
    assert read >= 10


def judge(said):
    """The verdict on a message of PyTorch from the figures that it prints."""
    limit = said.get("allowed", said["capacity"])
    others = max(said["capacity"] - said["free"] - said["process"], 0) if said.get("process") else 0
    if said["requested"] > limit:
        return "never"
    if said["requested"] <= said["free"] and "allowed" not in said:
        return "unknown"
    if said["requested"] <= said["free"] + said["reserved_unused"] and said["reserved_unused"]:
        return "fragmented"
    if others and said["requested"] <= said["free"] + said["reserved_unused"] + others:
        return "outside"
    return "full"


def printed(n):
    number, unit = torch_size(n).split()
    return round(float(number) * {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}[unit])


@pytest.mark.parametrize("wrap", ["one line", "words", "terminal", "page"])
def test_messages(wrap):
    seen = set()
    for rng in draws(f"message {wrap}", 40):
        parts, said = draw_message(rng)
        line = " ".join(parts)
        if wrap == "words":
            whole = re.sub(r"Tried to allocate \S+ \w+", lambda m: m[0].replace(" ", "~"), line)  # by these words it is known
            lines = textwrap.wrap(whole, rng.randint(70, 120), break_long_words=False, break_on_hyphens=False)
            line = "\n".join(lines).replace("~", " ")
        elif wrap == "terminal":
            width = rng.randint(75, 160)
            line = "\n".join(line[at : at + width] for at in range(0, len(line), width))
        elif wrap == "page":
            line = "\n".join(parts)
        found = report_json(text=f"step 1\n{line}\nTraceback (most recent call last):\n")
        blank = "" if wrap == "words" else " "  # a line that is cut at its width goes on without one
        figures = [{k: v.replace(" ", blank) for k, v in s["compiler"].items()} for s in found["sections"]]
        assert figures == [{k: torch_size(v).replace(" ", blank) for k, v in said.items()}], line
        pool = found["sections"][0]["allocator"]
        assert pool["requested_bytes"] == printed(said["requested"])
        assert pool["why"] == judge({k: printed(v) for k, v in said.items()})
        assert (pool["words"] is None) == (pool["why"] == "unknown")
        seen.add(pool["why"])
    assert seen >= {"fragmented", "full", "outside", "never"}


# ---- what people read ----

DUMP = """\
2026-03-04 12:22:43.038900: W external/xla/xla/tsl/framework/bfc_allocator.cc:501] Allocator (GPU_0_bfc) ran out of memory trying to allocate 512.00MiB (rounded to 536870912)requested by op
2026-03-04 12:22:43.038901: I external/xla/xla/tsl/framework/bfc_allocator.cc:1058] BFCAllocator dump for GPU_0_bfc
2026-03-04 12:22:43.038902: I external/xla/xla/tsl/framework/bfc_allocator.cc:1065] Bin (268435456): \tTotal Chunks: 5, Chunks in use: 2. 1.70GiB allocated for chunks. 800.00MiB in use in bin. 800.00MiB client-requested in use in bin.
2026-03-04 12:22:43.038903: I external/xla/xla/tsl/framework/bfc_allocator.cc:1090] Next region of size 1782579200
2026-03-04 12:22:43.038904: I external/xla/xla/tsl/framework/bfc_allocator.cc:1110] Free  at 7f0000000000 of size 325058560 next 1
2026-03-04 12:22:43.038904: I external/xla/xla/tsl/framework/bfc_allocator.cc:1110] InUse at 7f0013600000 of size 419430400 next 2
2026-03-04 12:22:43.038904: I external/xla/xla/tsl/framework/bfc_allocator.cc:1110] Free  at 7f002c600000 of size 309329920 next 3
2026-03-04 12:22:43.038904: I external/xla/xla/tsl/framework/bfc_allocator.cc:1110] InUse at 7f003ed00000 of size 419430400 next 4
2026-03-04 12:22:43.038904: I external/xla/xla/tsl/framework/bfc_allocator.cc:1110] Free  at 7f0057d00000 of size 309329920 next 18446744073709551615
2026-03-04 12:22:43.038905: I external/xla/xla/tsl/framework/bfc_allocator.cc:1112]      Summary of in-use Chunks by size:
2026-03-04 12:22:43.038906: I external/xla/xla/tsl/framework/bfc_allocator.cc:1115] 2 Chunks of size 419430400 totalling 800.00MiB
2026-03-04 12:22:43.038907: I external/xla/xla/tsl/framework/bfc_allocator.cc:1118] Sum Total of in-use chunks: 800.00MiB
"""


def test_what_people_read():
    done = run("report", text=DUMP)
    assert done.returncode == 0
    words = done.stdout.decode()
    assert "fragmented: 512.00 MiB do not fit though 900.00 MiB are free in 3 chunks, the largest 310.00 MiB\n" in words
    assert "instead: TF_GPU_ALLOCATOR=cuda_malloc_async" in words and "800.00 MiB  2 x 400.00 MiB" in words
    rng = random.Random(f"{SEED} people")
    lines, truth = draw_summary(rng, False)
    words = run("report", text="\n".join(lines) + "\n").stdout.decode()
    assert all(re.search(rf"\b{name}\b", words) for name, _ in truth["rows"])


def test_a_call_that_may_fail_is_no_message():
    line = "Allocator (GPU_0_bfc) ran out of memory trying to allocate 488.42MiB with freed_by_count=0. The caller indicates that this is not a failure, but this may mean that there could be performance gains if more memory were available.\n"
    assert run("report", text=line * 3).returncode == 2
    found = report_json(text=line + DUMP + line)
    assert len(found["sections"]) == 1


def test_bytes_are_printed_as_the_allocator_does():
    assert [human(n) for n in (0, 1023, 1024, 1536000, 4000000000, 20 << 40)] == ["0B", "1023B", "1.0KiB", "1.46MiB", "3.72GiB", "20.00TiB"]
    assert next(iter(bfc_lines(draw_bfc(random.Random(1)), random.Random(1))))[1].startswith("Allocator (")
