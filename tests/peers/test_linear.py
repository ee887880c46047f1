# SPDX-License-Identifier: Apache-2.0
"""Linear layouts: each operation that Triton's LinearLayout has in Python, on random layouts, against the op linear_layout.

Triton ends the process where an operation is not possible, so it is asked in a child. Where it answers, tesela must answer the same;
where it does not, tesela must refuse, or its answer is checked by enumeration.
"""

import itertools
import json
import os
import random
import subprocess

from counts import cases_of_run, counted
from triton.tools import LinearLayout

CASES = cases_of_run(300)
COMMAND = os.environ.get("TESELA_COMMAND", "build/release/tesela")
NAMES = ["register", "lane", "warp", "block"]


def tesela(requests):
    text = "".join(json.dumps({"op": "linear_layout"} | request) + "\n" for request in requests)
    done = subprocess.run([COMMAND, "query"], input=text, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def in_child(f):
    """The JSON of f(), or None if it fails or ends the process."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            os.write(write, json.dumps(f()).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


# ---- layouts ----


def size_of(layout, side):
    return [1 << len(rows) for rows in layout["bases"].values()] if side == "ins" else [size for _, size in layout["outs"]]


def apply(layout, values):
    out = [0] * len(layout["outs"])
    for value, rows in zip(values, layout["bases"].values(), strict=True):
        for k, row in enumerate(rows):
            if value >> k & 1:
                out = [a ^ b for a, b in zip(out, row, strict=True)]
    return out


def draw(r, ins=None, outs=None, most=3, onto=False):
    """A random layout; outs: [[name, size], ...] or the names."""
    ins = ins or r.sample(NAMES, r.randint(1, 3))
    outs = outs or r.sample(["dim0", "dim1", "dim2"], r.randint(1, 2))
    outs = [out if isinstance(out, list) else [out, 1 << r.randint(0, most)] for out in outs]
    bits = [(i, 1 << k) for i, (_, size) in enumerate(outs) for k in range(size.bit_length() - 1)]
    units = [[bit if i == d else 0 for d in range(len(outs))] for i, bit in bits]
    rows = {name: [] for name in ins}
    if onto or r.random() < 0.7:
        r.shuffle(units)
        for unit in units:
            rows[r.choice(ins)].append(unit)
    for name in ins:
        for _ in range(r.choice([0, 0, 1, 2])):
            rows[name].insert(
                r.randint(0, len(rows[name])),
                r.choice([[0] * len(outs), [r.randrange(size) for _, size in outs]]),
            )
    flat = [row for rows_of in rows.values() for row in rows_of]
    for _ in range(r.choice([0, 0, 3, 8])):
        if len(flat) > 1:
            a, b = r.sample(range(len(flat)), 2)
            flat[a][:] = [x ^ y for x, y in zip(flat[a], flat[b], strict=True)]
    return {"bases": rows, "outs": outs}


def triton_of(layout):
    bases = list(layout["bases"].items())
    names, sizes = zip(*layout["outs"], strict=True)
    return LinearLayout.from_bases(bases, names, sizes, False)


def plain(layout):
    """A LinearLayout as an object of tesela."""
    return {"bases": dict(layout.bases), "outs": [list(out) for out in layout.out_dims]}


def same(a, b):
    return list(a["bases"].items()) == list(b["bases"].items()) and a["outs"] == b["outs"]


def compare(what, requests, peers, check=None):
    """tesela's answers against those of Triton; returns how many both answer, tesela alone, and neither."""
    both = alone = neither = 0
    wrong = []
    for request, ours, peer in zip(requests, tesela(requests), peers, strict=True):
        if peer is None:
            if ours["ok"]:
                alone += 1
                if not (check and check(request, ours)):
                    wrong.append((request, ours))
            neither += not ours["ok"]
            continue
        both += 1
        if not ours["ok"] or not (same(ours["layout"], peer) if "layout" in ours else ours["value"] == peer):
            wrong.append((request, ours, peer))
    counted("triton", f"LinearLayout: {what}", len(requests), len(wrong), f"{alone} that Triton does not answer, {neither} that neither does")
    assert not wrong, wrong[:3]
    return both, alone, neither


# ---- one layout ----


def test_small_layouts(seed):
    requests, peers = [], []
    for size, stride in itertools.product([1, 2, 8, 64], [1, 2, 16]):
        requests.append({"do": "strided1d", "size": size, "stride": stride, "ins": ["lane"], "out": "dim0"})
        peers.append(plain(LinearLayout.strided_1d(size, stride, "lane", "dim0")))
        requests.append({"do": "zeros1d", "size": size, "ins": ["lane"], "out": "dim0", "out_size": stride})
        peers.append(plain(LinearLayout.zeros_1d(size, "lane", "dim0", stride)))
        requests.append({"do": "identity1d", "size": size, "ins": ["lane"], "out": "dim0"})
        peers.append(plain(LinearLayout.identity_1d(size, "lane", "dim0")))
    assert compare("strided_1d, zeros_1d", requests, peers)[0] == len(requests)


def test_from_bases(seed):
    r = random.Random(seed)
    requests, peers = [], []
    for _ in range(CASES):
        a = draw(r)
        names = [name for name, _ in a["outs"]]
        requests.append({"do": "from_bases", "a": {"bases": a["bases"], "outs": names}})
        peers.append(in_child(lambda a=a, names=names: plain(LinearLayout.from_bases(list(a["bases"].items()), names))))
    both, alone, neither = compare("from_bases", requests, peers)
    assert both > CASES / 4 and neither > 0


def test_apply_and_facts(seed):
    r = random.Random(seed + 1)
    requests, peers = [], []
    for _ in range(CASES):
        a = draw(r)
        peer = triton_of(a)
        at = {name: r.randrange(1 << len(rows)) for name, rows in a["bases"].items()}
        for do, answer in [
            ({"do": "apply", "at": at}, peer.apply(at)),
            ({"do": "is_injective"}, peer.is_injective()),
            ({"do": "is_surjective"}, peer.is_surjective()),
            ({"do": "is_invertible"}, peer.is_invertible()),
        ]:
            requests.append(do | {"a": a})
            peers.append(answer)
    assert compare("apply, is_*", requests, peers)[0] == len(requests)


def test_inverses(seed):
    r = random.Random(seed + 2)
    requests, peers = [], []
    for _ in range(CASES):
        a = draw(r, onto=r.random() < 0.5)
        if r.random() < 0.3:  # inputs and outputs of one name
            a["outs"] = [[name, size] for name, (_, size) in zip(r.sample(NAMES, len(a["outs"])), a["outs"], strict=True)]
        onto = triton_of(a).is_surjective()
        requests.append({"do": "pseudoinvert", "a": a})
        peers.append(in_child(lambda a=a: plain(triton_of(a).pseudoinvert())) if onto else None)
        requests.append({"do": "invert", "a": a})
        peers.append(in_child(lambda a=a: plain(triton_of(a).invert())) if triton_of(a).is_invertible() else None)
    both, alone, neither = compare("inverses", requests, peers, right_inverse)
    assert both > CASES / 2 and neither > CASES / 4


def right_inverse(request, ours):
    a, inverse = request["a"], ours["layout"]
    return all(
        apply(a, apply(inverse, values)) == list(values)
        for values in itertools.product(*[range(size) for size in size_of(inverse, "ins")])
    )


# ---- two layouts ----


def test_products(seed):
    r = random.Random(seed + 3)
    requests, peers = [], []
    for _ in range(CASES):
        a, b = draw(r), draw(r)
        requests.append({"do": "product", "a": a, "b": b})
        # Triton asserts that the orders fit together; a release build has another answer then
        ordered = one_order(a["bases"], b["bases"]) and one_order(dict(a["outs"]), dict(b["outs"]))
        peers.append(in_child(lambda a=a, b=b: plain(triton_of(a) * triton_of(b))) if ordered else None)
    both, alone, neither = compare("product", requests, peers)
    assert both > CASES / 4 and neither > CASES / 20


def one_order(a, b):
    return [name for name in a if name in b] == [name for name in b if name in a]


def test_composition(seed):
    r = random.Random(seed + 4)
    requests, peers = [], []
    for _ in range(CASES):
        b = draw(r, most=2)
        outs = [[name, 1 << max(0, len(rows) - (r.random() < 0.2))] for name, rows in b["bases"].items()]
        r.shuffle(outs)
        a = draw(r, ["x", "y"], outs)
        requests.append({"do": "compose", "a": a, "b": b})
        peers.append(in_child(lambda a=a, b=b: plain(triton_of(a).compose(triton_of(b)))))
    assert compare("compose", requests, peers)[0] > CASES * 0.9


def solves(request, ours):
    a, b, c = request["a"], request["b"], ours["layout"]
    order = [[name for name, _ in b["outs"]].index(name) for name, _ in a["outs"]]
    for values in itertools.product(*[range(size) for size in size_of(a, "ins")]):
        found = apply(b, apply(c, values))
        if [found[k] for k in order] != apply(a, values):
            return False
    return True


def test_invert_and_compose(seed):
    r = random.Random(seed + 5)
    requests, peers = [], []
    for _ in range(2 * CASES):
        b = draw(r, r.sample(NAMES, r.randint(1, 3)), most=2, onto=r.random() < 0.8)
        outs = [list(out) for out in b["outs"]]
        r.shuffle(outs)
        a = draw(r, r.sample(NAMES, r.randint(1, 3)), outs)
        for name in a["bases"]:  # an input that both have, with the same bases
            if name in b["bases"] and r.random() < 0.5 and [n for n, _ in outs] == [n for n, _ in b["outs"]]:
                a["bases"][name] = [list(row) for row in b["bases"][name]]
        requests.append({"do": "invert_and_compose", "a": a, "b": b})
        # Triton checks its precondition by assertions that a release build lacks
        peers.append(in_child(lambda a=a, b=b: plain(triton_of(a).invert_and_compose(triton_of(b)))))
    answers = tesela(requests)
    both = alone = neither = theirs = 0
    wrong = []
    for request, ours, peer in zip(requests, answers, peers, strict=True):
        right = peer is not None and same_names(peer, request) and solves(request, {"layout": peer})
        theirs += peer is not None and not right
        if right:
            both += 1
            good = ours["ok"] and same(ours["layout"], peer)
        elif ours["ok"]:
            alone += 1
            good = solves(request, ours)
        else:
            neither += 1
            good = ours["error"]["code"] == "NOT_SURJECTIVE" and not reached(request["b"], request["a"], ours["counter_example"])
        if not good:
            wrong.append((request, ours, peer))
    note = f"{alone} right alone, {neither} without a solution; {theirs} wrong answers of Triton"
    counted("triton", "LinearLayout: invert_and_compose", len(requests), len(wrong), note)
    assert not wrong, wrong[:3]
    assert both > CASES and neither > 0


def same_names(layout, request):
    return list(layout["bases"]) == list(request["a"]["bases"]) and [n for n, _ in layout["outs"]] == list(request["b"]["bases"])


def reached(b, a, example):
    """Does an input of b give the output of the example?"""
    wanted = [example["out"][name] for name, _ in b["outs"]]
    assert apply(a, [example["in"][name] for name in a["bases"]]) == [example["out"][name] for name, _ in a["outs"]]
    return any(apply(b, values) == wanted for values in itertools.product(*[range(size) for size in size_of(b, "ins")]))
