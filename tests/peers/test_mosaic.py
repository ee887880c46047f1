# SPDX-License-Identifier: Apache-2.0
"""Mosaic's own layouts: the affine map of #tpu.tiled from its dialect, and TiledLayout of Mosaic GPU from its tiling of an array."""

import math
import random

import jax.experimental.mosaic.gpu.fragmented_array as fa
import jaxlib.mosaic.python.tpu as tpu
import numpy as np
from counts import cases_of_run, counted
from jaxlib.mlir import ir
from places import ask, indices_of, places_of

CASES = cases_of_run(200)


def draw_tiled():
    rank = random.randint(1, 4)
    shape = [random.randint(1, 9) for _ in range(rank)]
    tiles, most = [], rank
    for _ in range(random.randint(1, 3)):
        most = random.randint(1, most)
        sizes = [[1, 2, 3, 4, 6, 8]] * most
        if tiles:  # a tile in a tile divides it: the dialect aborts otherwise
            sizes = [[n for n in range(1, 9) if of % n == 0] for of in tiles[-1][-most:]]
        tiles.append([random.choice(of) for of in sizes])
    strides = [random.randint(1, 40) for _ in range(rank)]
    text = "".join(f"({','.join(map(str, tile))})" for tile in tiles)
    return shape, f"#tpu.tiled<{text},[{','.join(map(str, strides))}]>"


def test_tiled(seed):
    random.seed(seed)
    cases = [draw_tiled() for _ in range(CASES)]
    context, want = ir.Context(), []
    with context, ir.Location.unknown():
        tpu.register_dialect(context)
        for shape, text in cases:
            text = f"memref<{''.join(f'{n}x' for n in shape)}f32, {text}>"
            affine = ir.MemRefType(ir.Type.parse(text)).affine_map
            want.append([places_by(str(affine), index) for index in indices_of(shape)])
    shapes = [shape for shape, _ in cases]
    got = places_of([f"f32{shape} {text}".replace(", ", ",") for shape, text in cases], shapes)
    wrong = [(case, a[:9], b[:9]) for case, a, b in zip(cases, got, want) if a != b]
    counted("jaxlib", "#tpu.tiled", len(cases), len(wrong))
    assert not wrong, wrong[:3]
    memrefs = [f"memref<{''.join(f'{n}x' for n in shape)}f32, {text}>" for shape, text in cases]
    assert places_of(memrefs, shapes) == want


def places_by(affine, index):
    """The value of an affine map as its dialect prints it."""
    value = affine.split("->")[1].strip()
    value = value.replace("floordiv", "//").replace("mod", "%")
    return eval(value, {f"d{k}": x for k, x in enumerate(index)})  # printed by MLIR


def threads_of(layout, shape):
    """Thread and local id of every element: the registers of each thread as fragmented_array numbers them."""
    numbers = np.arange(math.prod(shape)).reshape(shape)
    tiled_shape = layout.tiling.tile_shape(shape)
    strides = layout.tiling.tile_strides(tuple(math.prod(shape[k + 1:]) for k in range(len(shape))))
    places = {}
    registers = layout.registers_shape(shape)
    suffix = layout.tiled_tiling_shape

    def linear(number, dims):
        """What a warp or lane adds to the element number: the dims are major to minor."""
        total = 0
        for d in reversed(dims):
            size = d.times if isinstance(d, fa.Replicated) else suffix[d]
            number, digit = divmod(number, size)
            if not isinstance(d, fa.Replicated):
                total += digit * strides[d]
        return total

    for thread in range(128):
        base = linear(thread % 32, layout.lane_dims) + linear(thread // 32, layout.warp_dims)
        for register, at in enumerate(np.ndindex(registers)):
            start = base + sum(x * stride for x, stride in zip(at, strides))
            for k in range(tiled_shape[layout.vector_dim]):
                element = start + k * strides[layout.vector_dim]
                places.setdefault(element, []).append((thread, register * layout.vector_length + k))
    return [sorted(places[number]) for number in numbers.ravel().tolist()]


def threads_in(place):
    return place["threads"] if "threads" in place else [place["thread"]]


def known_layouts():
    return {name: value for name, value in vars(fa).items() if isinstance(value, fa.TiledLayout)}


def test_gpu(seed):
    random.seed(seed)
    cases = []
    layouts = list(known_layouts().values())
    while len(cases) < 150:
        layout = layouts[len(cases) % len(layouts)]
        base = layout.base_tile_shape
        shape = [n * random.choice([1, 2, 3]) for n in base]
        if random.random() < 0.3:
            shape.insert(0, random.randint(1, 3))
        if math.prod(shape) <= 1 << 13:
            cases.append((layout, tuple(shape)))
    requests = [{"op": "where", "layout": f"f32{list(shape)} {layout!r}".replace(", ", ",", len(shape) - 1),
                 "indices": indices_of(shape)} for layout, shape in cases]
    wrong = {}
    for request, answer, (layout, shape) in zip(requests, ask(requests), cases):
        assert answer["ok"], (request["layout"], answer)
        want = threads_of(layout, shape)
        for index, place, threads in zip(request["indices"], answer["places"], want):
            copies = place if isinstance(place, list) else [place]
            got = sorted((thread, copy["local"]) for copy in copies for thread in threads_in(copy))
            if got != threads:
                wrong[request["layout"]] = (index, got, threads)
    counted("jax", "TiledLayout of Mosaic GPU", len(cases), len(wrong), f"all {len(layouts)} that it names")
    assert not wrong, list(wrong.items())[:3]
