# SPDX-License-Identifier: Apache-2.0
"""Triton's own pictures of encodings (format_tensor_view, format_hardware_view): the place of every element, and padded memory.

A picture says what Triton knows of each place, so these tests need nothing of linear layouts.
"""

import random
import re

import test_triton as peer
from counts import cases_of_run, counted, tables
from places import ask, indices_of

CASES = cases_of_run(160)
MOST = 1 << 11


def product(numbers):
    n = 1
    for x in numbers:
        n *= x
    return n


def tensor_view(layout, shape):
    return {"view": layout.format_tensor_view(list(shape))}


def hardware_view(layout, shape):
    return {"view": layout.format_hardware_view(list(shape))}


def drawn(kind, rng, view):
    """A layout, its shape, and Triton's picture of it."""
    while True:
        layout, shape = kind(rng)
        if product(shape) > MOST or peer.loses_bits(layout):
            continue
        answer = peer.PEER.ask(view, layout, shape)
        if "view" in answer and "error" not in peer.PEER.ask(peer.bases_of, layout, shape):
            return layout, shape, answer["view"]


def copies_of(cell):
    """{(block, thread, register)} of a cell such as B0:T3:1| B0:T7:1"""
    found = re.findall(r"(?:B\s*(\d+):\s*)?T\s*(\d+):\s*(\d+)", cell)
    return {(int(block or 0), int(thread), int(register)) for block, thread, register in found}


def cells_of(view):
    return [copies_of(cell) for cell in view.replace("\n", ",").replace("],", ",").split(",") if "T" in cell]


def copies_in(place, lanes):
    """The same of a place of tesela."""
    return {(p.get("block", 0), p["lane"] + lanes * p.get("warp", 0), p["register"]) for p in (place if isinstance(place, list) else [place])}


def lanes_of(layout, shape):
    bases = peer.PEER.ask(peer.bases_of, layout, shape)
    return 1 << len(bases["lane"])


def test_registers(seed):
    """Element by element, all copies."""
    for kind in (peer.blocked, peer.linear, peer.mma2, peer.mma3, peer.mfma, peer.wmma, peer.operand, peer.amd_operand, peer.slices):
        rng = random.Random(f"{seed} view {kind.__name__}")
        cases = [drawn(kind, rng, tensor_view) for _ in range(CASES)]
        lanes = [lanes_of(layout, shape) for layout, shape, _ in cases]
        requests = [{"op": "where", "layout": f"{shape} {layout!r}", "indices": indices_of(shape)} for layout, shape, _ in cases]
        wrong = []
        for request, answer, (_, _, view), n in zip(requests, ask(requests), cases, lanes):
            ours = [copies_in(place, n) for place in answer["places"]] if answer["ok"] else answer["error"]["message"]
            if ours != cells_of(view):
                wrong.append((request["layout"], ours[:2], cells_of(view)[:2]))
        counted("triton", f"view of {kind.__name__}", len(cases), len(wrong))
        assert not wrong, wrong[:3]


def element_at(view):
    """[((block, offset), index)] of a picture of memory."""
    block, found = 0, []
    for line in view.split("\n"):
        if at := re.match(r"Block: (\d+)", line):
            block = int(at[1])
        elif at := re.match(r"Offset: (\d+) -> \(([\d, ]*)\)", line):
            found.append(((block, int(at[1])), [int(x) for x in at[2].split(",")]))
    return found


def without_padding(layout, found):
    """In memory padded for fp4 each 8 bytes of elements are followed by 8 without one; the picture repeats the elements there."""
    if not getattr(layout, "fp4_padded", False):
        return found
    return [(place, index) for place, index in found if place[1] // 8 % 2 == 0]


def in_memory(place):
    place = place[0] if isinstance(place, list) and place else place
    return (0, place) if isinstance(place, int) else (place.get("block", 0), place.get("offset", place.get("memory", 0)))


def test_memory(seed):
    for kind in (peer.swizzled, peer.nvmma, peer.shared_linear):
        rng = random.Random(f"{seed} view {kind.__name__}")
        cases = [drawn(kind, rng, hardware_view) for _ in range(CASES)]
        shown = [without_padding(layout, element_at(view)) for layout, _, view in cases]
        requests = [
            {"op": "where", "layout": f"{shape} {layout!r}", "indices": [index for _, index in found]}
            for (layout, shape, _), found in zip(cases, shown)
        ]
        wrong = []
        for request, answer, found in zip(requests, ask(requests), shown):
            places = [set(map(in_memory, p if isinstance(p, list) else [p])) for p in answer["places"]] if answer["ok"] else []
            if len(places) != len(found) or any(place not in ours for (place, _), ours in zip(found, places)):
                wrong.append((request["layout"], answer.get("error"), [p for p in zip(found, places) if p[0][0] not in p[1]][:3]))
        counted("triton", f"view of {kind.__name__}", len(cases), len(wrong))
        assert not wrong, wrong[:3]


def padded(rng, rank, blocks):
    """Bases of a shared_linear, and padding; or those of an order, which Triton finds."""
    while True:
        linear, shape = peer.shared_linear(rng)
        if len(shape) == rank and len(linear.offset_bases) > 1 and bool(linear.block_bases) == blocks:
            break
    intervals = rng.sample(range(1, len(linear.offset_bases) + 1), rng.randint(1, min(2, len(linear.offset_bases))))
    pairs = [[1 << k, peer.power(rng, 3)] for k in sorted(intervals)]
    if not blocks and rng.random() < 0.5:
        return peer.PaddedSharedLayout.with_identity_for(pairs, shape, peer.order_of(rng, rank)), shape
    return peer.PaddedSharedLayout(pairs, linear.offset_bases, linear.block_bases, shape), shape


def places_of_padded(layout):
    """{index: (block, place)}: the element at the XOR of bases; before each multiple of an interval is its padding."""
    places = {}
    bases = [*layout.offset_bases, *layout.cga_layout]
    for number in range(1 << len(bases)):
        index = [0] * len(layout.shape)
        for k, basis in enumerate(bases):
            if number >> k & 1:
                index = [a ^ b for a, b in zip(index, basis)]
        block, offset = divmod(number, 1 << len(layout.offset_bases))
        places[tuple(index)] = (block, offset + sum(offset // interval * padding for interval, padding in layout.interval_padding_pairs))
    return places


def test_padded(seed):
    """The bases that Triton accepts, and the padding that its documentation defines; as Gluon's repr and as Triton prints it."""
    rng = random.Random(f"{seed} padded")
    kinds = [(rank, blocks) for rank in (1, 2, 3, 4) for blocks in (False, False, True)]
    cases, refused = [], 0
    while len(cases) < 2 * CASES:
        layout, shape = padded(rng, *rng.choice(kinds))
        printed = peer.PEER.ask(peer.attribute_of, layout, shape)
        if not isinstance(printed, str):
            refused += 1
            continue
        cases += [(f"{shape} {layout!r}", layout), (printed, layout)]
    requests = [{"op": "where", "layout": text, "indices": indices_of(layout.shape)} for text, layout in cases]
    wrong = []
    for request, answer, (text, layout) in zip(requests, ask(requests), cases):
        want = [{places_of_padded(layout)[tuple(index)]} for index in request["indices"]]
        ours = [set(map(in_memory, p if isinstance(p, list) else [p])) for p in answer["places"]] if answer["ok"] else answer["error"]
        if ours != want:
            wrong.append((text, ours, want))
    counted("triton", "padded_shared", len(cases), len(wrong), f"{refused} refused by Triton")
    tables.append(f"padded: {len(cases)}, a third of them with blocks, ranks 1 to 4")
    assert not wrong, wrong[:3]
    assert len(cases) >= 150
