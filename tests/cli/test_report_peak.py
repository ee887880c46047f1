# SPDX-License-Identifier: Apache-2.0
"""The peak of scheduled HLO text: against libtpu's own figures of 77 programs, and against enumeration on random modules.

tests/data/peak/NAME.hlo are programs of this project that libtpu 0.0.42.1 compiled ahead of time, without metadata;
figures.tsv has what `memory_analysis()` and the buffer assignment say of each: `tools/tpu.sh --write` writes both.
"""

import csv
import json
import os
import random
import sys
from pathlib import Path

import pytest
from buffer_dumps import at_the_peak, united, values
from command import run

sys.path.insert(0, str(Path(__file__).parent.parent / "oracle"))
import peak_oracle  # noqa: E402

DATA = Path(__file__).parent.parent / "data" / "peak"
FIGURES = {row["program"]: row for row in csv.DictReader((DATA / "figures.tsv").open(), delimiter="\t")}
SEED = int(os.environ.get("TESELA_SEED", "20261123"), 0)

# libtpu's temp is its arena and the arena's fragmentation, so that this counts twice: `holes` names the dead arrays whose place is idle at
# the peak, `left_out` arrays that live then and are taken for fragmentation. Other programs have "-".
FRAGMENTED = {program for program, row in FIGURES.items() if (row["holes"], row["left_out"]) != ("-", "-")}
SPACING = 16 << 10  # bytes from one small array to the next in the arena
ROUNDING = 48 << 10  # bytes: spacing, twice, after the buffer assignment


def peaks(*words, text=None):
    done = run("report", "--json", "--top", "1", *words, text=text)
    assert done.returncode == 0, done.stderr
    return {peak["space"]: peak for peak in json.loads(done.stdout)["peak"]}


MEASURED = {}


def measured(program):
    if program not in MEASURED:
        MEASURED[program] = peaks(str(DATA / f"{program}.hlo"))
    return MEASURED[program]


def number(program, *names):
    return [int(FIGURES[program][name]) for name in names]


def is_near(program):
    argument, output, alias, temp = number(program, "argument", "output", "alias", "temp")
    judge = argument + output - alias + temp  # this version of libtpu does not count arrays in host memory here
    return abs(measured(program)[0]["bytes"] - judge) <= max(0.03 * judge, 256 << 10)


@pytest.mark.parametrize("program", FIGURES)
def test_peak_is_that_of_the_compiler(program):
    assert is_near(program) == (program not in FRAGMENTED)
    peak = measured(program)[0]
    assert peak["bytes"] == peak["argument_bytes"] + peak["output_bytes"] + peak["temporary_bytes"]
    assert peak["live"][0]["bytes"] == number(program, "largest")[0]


@pytest.mark.parametrize("program", FIGURES)
def test_temporaries_are_those_of_the_buffer_assignment(program):
    """`live`: the bytes in use at the fullest instant by the compiler's buffer assignment and live ranges."""
    (live,) = number(program, "live")
    assert abs(measured(program)[0]["temporary_bytes"] - live) <= max(0.03 * live, 16 << 10)


def named(program, column, rows):
    names = [] if FIGURES[program][column] == "-" else FIGURES[program][column].split("+")
    found = [row for row in rows if row[0].removesuffix("{}") in names]
    assert len(found) == len(names)
    return found


@pytest.mark.parametrize("program", sorted(FRAGMENTED))
def test_more_than_the_peak_is_fragmentation(program):
    """By the text of the buffer assignment and the live ranges: the compiler's temp beyond ours is the memory of named arrays that are dead
    at the peak, twice, and that of named arrays in no allocation, once."""
    found, needs = values(program)
    rows, (_, arena) = found[0], needs[0]
    (temp,) = number(program, "temp")
    used, peak = at_the_peak(rows)
    assert abs(measured(program)[0]["temporary_bytes"] - used) <= max(0.03 * used, 16 << 10) and used <= arena
    alive, dead = named(program, "left_out", rows), named(program, "holes", rows)
    assert alive or dead
    assert all(first <= peak <= last for *_, first, last in alive) and not any(first <= peak <= last for *_, first, last in dead)
    in_use = united((offset, offset + bytes) for _, _, offset, bytes, first, last in rows if first <= peak <= last)
    both = united([*map(tuple, in_use), *((offset, offset + bytes) for _, _, offset, bytes, *_ in dead)])
    idle = sum(end - first for first, end in both) - sum(end - first for first, end in in_use)  # that the dead arrays have
    small = SPACING * sum(bytes < SPACING for *_, bytes, _, _ in rows)
    assert 0 <= arena - used - idle <= ROUNDING + small
    assert abs((temp - arena) - (arena - used) - sum(bytes for _, _, _, bytes, *_ in alive)) <= ROUNDING


def test_enough_programs():
    near = [program for program in FIGURES if is_near(program)]
    large = [p for p in near if number(p, "temp")[0] >= 64 << 20]
    within = [p for p in large if abs(measured(p)[0]["temporary_bytes"] - number(p, "temp")[0]) <= 0.03 * number(p, "temp")[0]]
    assert len(near) >= 40 and len(within) >= 25
    text = {p: (DATA / f"{p}.hlo").read_text() for p in near}
    for sign in (" sort(", " while(", " conditional(", "copy-start(", "input_output_alias", "all-reduce"):
        assert sum(sign in t for t in text.values()) >= (5 if sign != "all-reduce" else 1), sign
    assert sum("collective" in FIGURES[p]["tags"] for p in near) >= 5


@pytest.mark.parametrize("program", FIGURES)
def test_vector_memory(program):
    """S(1): the bytes in use at the fullest instant by the buffer assignment; its arena is larger by fragmentation."""
    live, arena = number(program, "vmem_live", "vmem")
    ours = measured(program).get(1, {"bytes": 0})["bytes"]
    assert abs(ours - live) <= max(0.03 * live, 4096) and ours <= arena


# ---- random modules ----


class Writer:
    """A random scheduled module: instructions over vectors, tuples, loops, branches, calls."""

    def __init__(self, seed):
        self.random, self.parts, self.number = random.Random(seed), [], 0

    def name(self):
        self.number += 1
        return f"i{self.number}"

    def shape(self, n, space=0):
        return f"f32[{n}]{{0:S({space})}}" if space else f"f32[{n}]{{0}}"

    def computation(self, lines, have, depth, steps):
        """Append instructions to lines; have: [(name, n, space)]."""
        pick = self.random
        for _ in range(steps):
            kind = pick.choice("add add negate dus bitcast tuple copy alias constant loop branch call async".split())
            of, (a, n, space) = self.name(), pick.choice(have)
            shape = self.shape(n, space)
            same = [h for h in have if h[1:] == (n, space)]
            if kind == "add":
                lines.append(f"  %{of} = {shape} add(%{a}, %{pick.choice(same)[0]})")
            elif kind == "negate":
                lines.append(f"  %{of} = {shape} negate(%{a})")
            elif kind == "dus":
                lines.append(f"  %{of} = {shape} dynamic-update-slice(%{a}, %{pick.choice(same)[0]})")
            elif kind == "bitcast":
                lines.append(f"  %{of} = {shape} bitcast(%{a})")
            elif kind == "constant":
                n, space = pick.choice([1, 300, 40000]), 0
                lines.append(f"  %{of} = {self.shape(n)} constant({{...}})")
            elif kind == "tuple":
                other = pick.choice(have)
                t = self.name()
                lines.append(f"  %{t} = ({shape}, {self.shape(*other[1:])}) tuple(%{a}, %{other[0]})")
                lines.append(f"  %{of} = {shape} get-tuple-element(%{t}), index=0")
            elif kind == "copy":
                to, t = 1 - space, self.name()
                lines.append(f"  %{t} = ({self.shape(n, to)}, {shape}, f32[1]{{0:S(2)}}) copy-start(%{a})")
                self.computation(lines, have, depth, pick.randrange(2))
                lines.append(f"  %{of} = {self.shape(n, to)} copy-done(%{t})")
                space = to
            elif kind == "alias":
                t = self.name()
                lines.append(f"  %{t} = ({shape}, {shape}) custom-call(%{a}), custom_call_target=\"x\", "
                             "output_to_operand_aliasing={{0}: (0, {})}")  # fmt: skip
                lines.append(f"  %{of} = {shape} get-tuple-element(%{t}), index={pick.randrange(2)}")
            elif depth == 0:
                continue
            elif kind == "loop":
                self.loop(lines, have, of, depth)
                t, of = of, self.name()
                lines.append(f"  %{of} = {shape} get-tuple-element(%{t}), index=0")
                raise_to = self.loop_shape
                n, space = raise_to
                lines[-1] = f"  %{of} = {self.shape(n, space)} get-tuple-element(%{t}), index=0"
            elif kind == "branch":
                names = [self.inner([(n, space)], depth, (n, space)) for _ in range(2)]
                p = pick.choice(have)[0]
                lines.append(f"  %{of} = {shape} conditional(%{p}, %{a}, %{pick.choice(same)[0]}), "
                             f"branch_computations={{%{names[0]}, %{names[1]}}}")  # fmt: skip
            elif kind == "async":
                word, attribute = pick.choice((("async", "calls"), ("call", "to_apply")))
                given, t = [(a, n, space), *pick.sample(have, pick.randrange(2))], self.name()
                name = self.inner([g[1:] for g in given], depth, (n, space))
                shapes = ", ".join(self.shape(*g[1:]) for g in given)
                lines.append(f"  %{t} = (({shapes}), {shape}, f32[1]{{0:S(2)}}) "
                             f"{word}-start({', '.join('%' + g[0] for g in given)}), {attribute}=%{name}")  # fmt: skip
                self.computation(lines, have, depth, pick.randrange(2))
                lines.append(f"  %{of} = {shape} {word}-done(%{t})")
            else:
                name = self.inner([(n, space)], depth, (n, space))
                lines.append(f"  %{of} = {shape} call(%{a}), to_apply=%{name}")
            have.append((of, n, space))

    def inner(self, parameters, depth, result):
        name, lines, have = self.name(), [], []
        for i, (n, space) in enumerate(parameters):
            have.append((self.name(), n, space))
            lines.append(f"  %{have[-1][0]} = {self.shape(n, space)} parameter({i})")
        self.computation(lines, have, depth - 1, self.random.randrange(1, 5))
        last = self.random.choice([h for h in have if h[1:] == result])[0]
        root = self.random.choice((f"negate(%{last})", f"dynamic-update-slice(%{last}, %{last})"))
        lines.append(f"  ROOT %{self.name()} = {self.shape(*result)} {root}")
        self.parts.append(f"%{name} {{\n" + "\n".join(lines) + "\n}\n")
        return name

    def loop(self, lines, have, of, depth):
        pick = self.random
        state = [pick.choice(have) for _ in range(pick.randrange(1, 4))]
        shapes = [(n, space) for _, n, space in state]
        tuple_shape = "(" + ", ".join(self.shape(*s) for s in shapes) + ")"
        names = []
        for is_body in (False, True):
            name, inner, got, p = self.name(), [], [], self.name()
            inner.append(f"  %{p} = {tuple_shape} parameter(0)")
            for i, s in enumerate(shapes):
                got.append((self.name(), *s))
                inner.append(f"  %{got[-1][0]} = {self.shape(*s)} get-tuple-element(%{p}), index={i}")
            carried = [g[0] for g in got]
            self.computation(inner, got, depth - 1, pick.randrange(1, 5))
            if is_body:
                out = [carried[i] if pick.random() < 0.4 else
                       pick.choice([g[0] for g in got if g[1:] == s and g[0] not in carried[:i] + carried[i + 1:]] )
                       for i, s in enumerate(shapes)]  # fmt: skip
                inner.append(f"  ROOT %{self.name()} = {tuple_shape} tuple({', '.join('%' + o for o in out)})")
            else:
                inner.append(f"  ROOT %{self.name()} = f32[1]{{0}} constant(0)")
            self.parts.append(f"%{name} {{\n" + "\n".join(inner) + "\n}\n")
            names.append(name)
        init = self.name()
        lines.append(f"  %{init} = {tuple_shape} tuple({', '.join('%' + s[0] for s in state)})")
        lines.append(f"  %{of} = {tuple_shape} while(%{init}), condition=%{names[0]}, body=%{names[1]}")
        self.loop_shape = shapes[0]

    def module(self):
        pick, lines, have = self.random, [], []
        for i in range(pick.randrange(1, 5)):
            have.append((self.name(), pick.choice([1, 129, 20000, 50000]), 0))
            lines.append(f"  %{have[-1][0]} = {self.shape(*have[-1][1:])} parameter({i})")
        arguments = list(have)
        self.computation(lines, have, 2, pick.randrange(3, 20))
        made = [h for h in have if h not in arguments and h[2] == 0]
        out = [pick.choice(made or have) for _ in range(pick.randrange(1, 4))]
        shapes = ", ".join(self.shape(*o[1:]) for o in out)
        lines.append(f"  ROOT %{self.name()} = ({shapes}) tuple({', '.join('%' + o[0] for o in out)})")
        donated = []
        for k, o in enumerate(out):
            free = [i for i, a in enumerate(arguments) if a[1:] == o[1:] and i not in [d[1] for d in donated]]
            if free and out.index(o) == k and pick.random() < 0.5:
                donated.append((k, free[0]))
        alias = ", ".join(f"{{{a}}}: ({b}, {{}}, may-alias)" for a, b in donated)
        header = "HloModule random, is_scheduled=true" + (f", input_output_alias={{ {alias} }}" if donated else "")
        return header + "\n\n" + "\n".join(self.parts) + "\nENTRY %main {\n" + "\n".join(lines) + "\n}\n"


def test_random_modules_against_enumeration():
    for i in range(int(os.environ.get("TESELA_PEAK_MODULES", "150"))):
        text = Writer(SEED + i).module()
        expected = peak_oracle.Run(text).peaks()
        found = peaks("-", text=text)
        assert {s: (p["bytes"], p["at"]["instant"]) for s, p in found.items()} == expected, f"TESELA_SEED={SEED + i}\n{text}"


# ---- what cannot be followed ----

HEAD = "HloModule m, is_scheduled=true\n\n"
A = "  %a = f32[1024]{0} parameter(0)\n"


def entry(*lines):
    return HEAD + "ENTRY %main {\n" + A + "".join(f"  {line}\n" for line in lines) + "}\n"


def called(opcode, *attributes):
    return f"%f {{\n  %p = f32[1024]{{0}} parameter(0)\n  ROOT %b = f32[1024]{{0}} {opcode}(%p), to_apply=%f\n}}\n"


@pytest.mark.parametrize(
    "text, why",
    [
        (entry("%b = f32[8]{0} negate(%c)"), "an operand is not among the earlier instructions"),
        (entry("%b = f32[8]{0} negate(%b)"), "an operand is not among the earlier instructions"),
        (entry("%a = f32[8]{0} negate(%a)"), "two instructions of a computation have one name"),
        (entry("%b = f32[?]{0} negate(%a)"), "an array has no size"),
        (entry("%b = f32[8]{0} negate(%a})"), "the operands of an instruction do not end"),
        (entry("%b = f32[8]{0} negate(%a"), "the operands of an instruction do not end"),
        (entry("%b = f32[8]{0} call(%a), to_apply=%g"), "a computation that is called is missing"),
        (entry("%b = (f32[8]{0}) while(%a), body=%g"), "an instruction lacks operands or computations"),
        (entry("%b = f32[8]{0} get-tuple-element(%a), index=0"), "the shape of an instruction does not fit its operands"),
        (entry("%t = (f32[8]{0}) tuple(%a, %a)"), "the shape of an instruction does not fit its operands"),
        (entry("%b = f32[1024]{0} parameter(7)"), "a computation lacks parameters"),
        (HEAD + A, "an instruction is outside of any computation"),
        (HEAD + "ENTRY %main {\n" + A, "the text ends inside a computation"),
        (HEAD + "%main {\n" + A + "}\n", "the ENTRY computation is missing"),
        (HEAD + "ENTRY %main {\n}\n" + "%f {\n" + A + "}\n", "a computation has no instruction"),
        (HEAD + called("call") + entry("%b = f32[1024]{0} call(%a), to_apply=%f")[len(HEAD):],
         "computations call each other in a circle"),
        (HEAD + called("call-start") + entry("%b = f32[1024]{0} call(%a), to_apply=%f")[len(HEAD):],
         "computations call each other in a circle"),
        (entry("%b = ((f32[1024]{0}), f32[1024]{0}, u32[]) async-start(%a), calls=%g"), "a computation that is called is missing"),
        (HEAD + "%f {\n" + A + "}\n" + entry("%b = ((f32[1024]{0}), (f32[8]{0}, f32[8]{0})) async-start(%a), calls=%f")[len(HEAD):],
         "the result of a computation does not fit its caller's"),
        (HEAD + "%f {\n" + A + "}\n" + entry("%b = (f32[1024]{0}) async-start(%a), calls=%f")[len(HEAD):],
         "the result of a computation does not fit its caller's"),
        (HEAD + "%f {\n" + A + "}\n" + entry("%b = f32[1024]{0} async-start(), calls=%f")[len(HEAD):],
         "a parameter does not fit the operand that it gets"),
        (HEAD + "%f {\n" + A + "}\n%f {\n" + A + "}\n" + entry()[len(HEAD):], "two computations have one name"),
        (HEAD + "%f {\n  %p = (f32[8]{0}) parameter(0)\n}\n" + entry("%b = f32[1024]{0} call(%a), to_apply=%f")[len(HEAD):],
         "a parameter does not fit the operand that it gets"),
        (entry("%b = " + "(" * 80 + "f32[8]{0}" + ")" * 80 + " custom-call(%a)"), "tuples are nested too deeply"),
    ],
)  # fmt: skip
def test_a_schedule_that_cannot_be_followed(text, why):
    done = run("report", "--json", "-", text=text)
    if done.returncode == 2:
        return  # nothing to count in it
    answer = json.loads(done.stdout)
    notes = {note["code"]: note["text"] for note in answer["notes"]}
    assert notes["no_peak"].endswith(why)
    assert all(peak["at"] is None and peak["live"] == [] for peak in answer["peak"])


def test_computations_that_run_2_to_the_40_times():
    parts = ["%c0 {\n  %p = f32[8]{0} parameter(0)\n}\n"]
    for i in range(1, 40):
        parts.append(f"%c{i} {{\n  %p = f32[8]{{0}} parameter(0)\n  %a = f32[8]{{0}} call(%p), to_apply=%c{i - 1}\n"
                     f"  ROOT %b = f32[8]{{0}} call(%a), to_apply=%c{i - 1}\n}}\n")  # fmt: skip
    text = HEAD + "".join(parts) + "ENTRY %m {\n  %p = f32[8]{0} parameter(0)\n  ROOT %b = f32[8]{0} call(%p), to_apply=%c39\n}\n"
    done = run("report", "--json", "-", text=text)
    assert "run too often" in done.stdout.decode()


@pytest.mark.parametrize("opcode, attributes", [("call", "to_apply=%c{}"), ("conditional", "branch_computations={{%c{}}}")])
def test_deep_calls_need_no_stack(opcode, attributes):
    n, operands = 5000, "%p" if opcode == "call" else "%p, %p"
    parts = ["%c0 {\n  %p = f32[8]{0} parameter(0)\n}\n"]
    for i in range(1, n):
        parts.append(f"%c{i} {{\n  %p = f32[8]{{0}} parameter(0)\n"
                     f"  ROOT %b = f32[8]{{0}} {opcode}({operands}), {attributes.format(i - 1)}\n}}\n")  # fmt: skip
    text = HEAD + "".join(parts) + entry(f"ROOT %b = f32[8]{{0}} {opcode}(%q{', %q' if opcode != 'call' else ''}), "
                                         + attributes.format(n - 1))[len(HEAD):].replace(A, "  %q = f32[8]{0} parameter(0)\n")  # fmt: skip
    assert peaks("-", text=text)[0]["instants"] == 2 * n + 1


# ---- limits ----

SCHEDULED = entry("%b = f32[1024]{0} negate(%a)", "ROOT %c = f32[1024]{0} dot(%b, %b)")  # 4096 each of a, b, c
UNSCHEDULED = SCHEDULED.replace(", is_scheduled=true", "")


@pytest.mark.parametrize(
    "text, limit, status",
    [
        (SCHEDULED, 12288, 0), (SCHEDULED, 12287, 1),
        (UNSCHEDULED, 12288, 0), (UNSCHEDULED, 12287, 3), (UNSCHEDULED, 4096, 3), (UNSCHEDULED, 4095, 1),
        (entry("%b = f32[1024]{0} negate(%c)"), 4096, 3),
        ("Total hbm usage >= 2.0K:\n    program 2.0K\n  1. Size: 1.0K\n     Shape: f32[256]{0:T(128)}\n", 1 << 20, 3),
        ("Ran out of memory in memory space hbm. Used 19.46G of 15.48G hbm.\n", 20 << 30, 0),
        ("Ran out of memory in memory space hbm. Used 19.46G of 15.48G hbm.\n", 19 << 30, 1),
    ],
)  # fmt: skip
def test_max_peak(text, limit, status):
    done = run("report", "--max-peak", str(limit), "-", text=text)
    assert done.returncode == status, done.stderr
    assert (b"--max-peak" in done.stderr) == (status != 0)


def test_lives_and_timeline():
    answer = json.loads(run("report", "--json", "--timeline", "-", text=SCHEDULED).stdout)
    spans = {buffer["name"]: (buffer["role"], buffer["spans"]) for buffer in answer["buffers"]}
    assert spans == {"a": ("argument", [[0, 1]]), "b": ("temporary", [[1, 2]]), "c": ("output", [[2, 2]])}
    assert answer["timeline"] == [{"space": 0, "instants": 3, "bytes": [[0, 8192], [1, 12288]]}]
    drawn = run("report", "--ascii", "--timeline", "-", text=SCHEDULED).stdout.decode()
    assert drawn.endswith("HBM over time, 3 instants\n"
                          "         0     8.0 KiB  ###########################\n"
                          "         1    12.0 KiB  ######################################## b\n"
                          "         2    12.0 KiB  ########################################\n")  # fmt: skip
