# SPDX-License-Identifier: Apache-2.0
"""What `tesela report` promises of each case, from its compiled text alone, and what the compiler makes of it: python advice.py [NAME ...].

The cases are the sick ones, with their fixes, and those of held_out.py, without.

A line of advice.tsv for each change that the report prints for people: the best of its class, for the arrays with most padding. It is
done as it is printed: decorators on the program, an array as several where it is passed, a constraint on the results that have that
shape; by_hand.py has those that leave the writing to the user, and `first`, which is not advised: see what it does. Bytes of HBM and cycles as in
figures.tsv; `promised` is what is left by the report's peak.
"""

import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parents[2] / "python"), str(HERE)]

import table  # noqa: E402
from tesela.tune._compile import Compiler  # noqa: E402

NAMES = ("name", "array", "role", "class", "kind", "fix", "hbm", "promised", "outcome", "cycles", "cycles_after")
SHOWN = 3
"""Arrays that the report shows to people."""
APART = ("components", "products", "indices")
# What the fixes by hand do, as their authors wrote them.
FIXES = {
    "components": "particles scatter_forces springs lattice_boltzmann bilinear colours complex_pairs messages mesh_normals angles solve "
    "smooth voxels rays spline inverse convolution stem".split(),
    "products": "rotate small_matmul chain kalman harmonics kinematics".split(),
    "pack": "embedding embedding_bytes dlrm".split(),
    "take": ["moe"],
    "order": ["decode"],
    "patches": ["patches"],
}
FIX = {name: kind for kind, names in FIXES.items() for name in names}


def reported(text):
    """The culprits of a compiled text."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(text)
        file.flush()
        command = [os.environ["TESELA_COMMAND"], "report", "--json", "--top", "1", file.name]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def shown(answer):
    """Pairs of culprit and remedy, as people see them: three arrays, of each the best of each class."""
    arrays = [one for one in answer["culprits"] if one["remedies"] and one["remedies"][0]["kind"] != "none"]
    for culprit in arrays[:SHOWN]:
        classes = set()
        for remedy in culprit["remedies"]:
            if remedy["class"] not in classes:
                yield culprit, remedy
            classes.add(remedy["class"])


def dims_of(shape):
    return tuple(int(one) for one in re.search(r"\[([0-9,]*)\]", shape)[1].split(",") if one)


def argument_of(culprit):
    """The number of the argument that it is or is a copy of; None for others."""
    found = re.fullmatch(r"given\[(\d+)\]", culprit["op_name"] or "")
    return int(found[1]) if found else None


# ---- doing it


def groups(dims, whole):
    """Which dims of `whole`, neighbours and ones, make each of `dims`; None if they do not."""
    found, at = [], 0
    for n in dims:
        group, product = [], 1
        while at < len(whole) and (product < n or whole[at] == 1):
            product *= whole[at]
            group.append(at)
            at += 1
        if product != n:
            return None
        found.append(group)
    return found if at == len(whole) else None


def order_for(order, dims, whole):
    """An order of `dims` as one of `whole`."""
    made = groups(dims, whole)
    return made and tuple(dim for d in order for dim in made[d])


def constraint(case, subject, culprit, order):
    """The program with the order on all results that are such an array: of the operation that the report names, else of its line."""
    from jax.experimental.layout import Layout, with_layout_constraint

    from tesela.tune._rewrites import constrained

    dims, i = dims_of(culprit["shape"]), argument_of(culprit)
    if i is not None:
        def program(*given):
            held = with_layout_constraint(given[i], Layout(major_to_minor=order_for(order, dims, given[i].shape)))
            return subject.base(*given[:i], held, *given[i + 1 :])

        return program
    alike = [one for one in subject.equations() if order_for(order, dims, one.shape)]
    named = [one for one in alike if one.name in re.split(r"[/(),]+", culprit["op_name"] or "")]
    lined = [one for one in alike if one.source and culprit["location"] and one.source.endswith(culprit["location"])]
    chosen = named or lined or alike
    return constrained({one.number: order_for(order, dims, one.shape) for one in chosen})(subject.flat_of(case.program)) if chosen else None


def apart(case, culprit, remedy, components):
    """An argument or a result as one array for each index of its small dims, where it is passed."""
    import jax.numpy as jnp

    dims, i = dims_of(culprit["shape"]), argument_of(culprit)
    few = [d for d in range(len(dims)) if dims[d] not in dims_of(remedy["shape"]) and 2 <= dims[d] <= 4]
    assert math.prod(dims[d] for d in few) == remedy["arrays"], (culprit, remedy)

    def parts(array):
        moved = jnp.moveaxis(array, few, range(len(few)))
        return list(moved.reshape(-1, *moved.shape[len(few) :]))

    def whole(pieces):
        stacked = jnp.stack(pieces).reshape(*(dims[d] for d in few), *pieces[0].shape)
        return jnp.moveaxis(stacked, range(len(few)), few)

    if culprit["role"] == "output":
        return components()(lambda *given: parts(case.program(*given))), lambda *given: given
    n = remedy["arrays"]
    program = components()(lambda *given: case.program(*given[:i], whole(given[i : i + n]), *given[i + n :]))
    return program, lambda *given: (*given[:i], *parts(given[i]), *given[i + 1 :])


def done(case, culprit, remedy):
    """The program with the change, and the arguments as it takes them; None where it says nothing that can be compiled."""
    import by_hand

    import tesela.tune as tune
    from tesela.tune._subject import Subject

    hand = by_hand.PROGRAMS.get((case.name, remedy["kind"]))
    if hand:
        return hand.program, hand.adapt
    subject = Subject(case.program, case.given(*case.specs()), case.donate)
    if remedy["kind"] == "constrain":
        order = tuple(map(int, re.search(r"major_to_minor=\(([0-9, ]+)\)", remedy["code"])[1].split(",")))
        program = constraint(case, subject, culprit, order)
        return program and (program, lambda *given: given)
    if remedy["kind"] in APART and culprit["role"] in ("argument", "output"):
        return apart(case, culprit, remedy, tune.components)
    if remedy["kind"] in APART:
        limit = re.search(r"@tesela\.tune\.components\((?:limit=(\d+))?\)", remedy["code"])[1]
        return tune.components(limit=int(limit or 4))(case.program), lambda *given: given
    if remedy["kind"] == "pack":
        i = argument_of(culprit)
        i = next((k for k, one in enumerate(case.specs()) if one.shape[-2:] == dims_of(culprit["shape"])[-2:]), None) if i is None else i
        if i is None:
            return None
        shape = case.specs()[i].shape
        return tune.packed_rows(i, shape)(case.program), lambda *given: tuple(
            tune.pack_rows(one) if k == i else one for k, one in enumerate(given)
        )
    if remedy["kind"] == "channels":
        pixels = int(re.search(r"@tesela\.tune\.pixels_as_channels\((\d+)\)", remedy["code"])[1])
        return tune.pixels_as_channels(pixels)(case.program), lambda *given: given
    if remedy["kind"] == "take":
        return tune.one_hot_as_take(case.program), lambda *given: given
    return None


def compiled(case, change, compile):
    import jax

    program, adapt = change
    donate = case.donate if len(case.donate) == 0 or program.__name__ == case.name else ()
    return compile(program, list(jax.eval_shape(adapt, *case.specs())), donate=donate)


def rows(case, compile):
    """For each change that is shown; for each one in by_hand.py that is not advised; one "silent" if nothing is shown."""
    import by_hand

    before = compile(case.program, case.specs(), donate=case.donate)
    answer = reported(before.text)
    peak = answer["peak"][0]["least_bytes"]
    pairs = list(shown(answer))
    fix, figures = FIX.get(case.name, "-"), (before.hbm, round(before.cycles))
    for culprit, remedy in pairs:
        change = done(case, culprit, remedy)
        after = change and compiled(case, change, compile)
        promised = before.hbm - (peak - remedy["peak_bytes"]) if "S(1)" not in culprit["shape"] else before.hbm  # VMEM: of time alone
        outcome = (after.hbm, round(after.cycles)) if after else ("-", "-")
        yield [case.name, culprit["shape"], culprit["role"], remedy["class"], remedy["kind"], fix, figures[0], promised, outcome[0], figures[1], outcome[1]]
    if not pairs:
        yield [case.name, "-", "-", "-", "silent", fix, figures[0], figures[0], figures[0], figures[1], figures[1]]
    for name, kind in by_hand.PROGRAMS:
        if name == case.name and all(remedy["kind"] != kind for _, remedy in pairs):
            hand = by_hand.PROGRAMS[name, kind]
            after = compiled(case, (hand.program, hand.adapt), compile)
            yield [name, "-", "-", "-", kind, fix, figures[0], "-", after.hbm, figures[1], round(after.cycles)]


def main():
    given = table.arguments("advice.tsv")
    compile = Compiler("v5e", cache=given.cache)
    import cases
    import held_out

    known = {case.name: case for case in (*cases.SICK, *held_out.CASES)}
    found = []
    for name in given.names or known:
        for cells in rows(known[name], compile):
            found.append(cells)
            print(*cells, sep="\t", flush=True)
    table.write(given.out, "advice.py", NAMES, found, given.names)


if __name__ == "__main__":
    main()
