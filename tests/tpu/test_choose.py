# SPDX-License-Identifier: Apache-2.0
"""The order and the tiles that `choose` names are those of the compiler, and so are the bytes of all arguments."""

import orders
import tpu_compiler


def chosen(ask, target, layouts):
    """What `choose` says of arrays, the layout of each text left out."""
    asked = [{"op": "choose", "shape": text.split("{")[0], "target": target, "argument": True, "order": True} for text in layouts]
    return [answer.get("layout", answer.get("error")) for answer in ask(asked)]


def test_orders(ask, seed):
    n = 0
    for target, _, layouts, total in orders.observed(seed):
        assert chosen(ask, target, layouts) == layouts
        sizes = ask([{"op": "info", "layout": text} for text in layouts])
        assert sum(size["allocated_bytes"] for size in sizes) == total
        n += len(layouts)
    assert n >= 2000


def test_every_generation(ask, seed):
    """The targets that the file of observations does not have."""
    for target in sorted(set(tpu_compiler.TOPOLOGIES) - set(orders.TARGETS)):
        _, _, arguments = next(orders.programs(seed))
        layouts, _ = tpu_compiler.argument_layouts(target, arguments)
        assert chosen(ask, target, layouts) == layouts
