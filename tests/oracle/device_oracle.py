# SPDX-License-Identifier: Apache-2.0
"""Device layouts by their definition, one element at a time: where each host element lies, and what loop nests move.

A layout is a list of device dims (host dim, step, extent, stride); a host coordinate is split by decreasing step, on
equal steps the outer device dim first; a device dim of extent 1 takes no digit. Shares nothing with src/.
"""

import itertools

FNV_OFFSET, FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3


def row_major(size):
    strides, step = [], 1
    for extent in reversed(size):
        strides.insert(0, step)
        step *= max(extent, 1)
    return strides


def suffix_products(extents):
    strides, step = [], 1
    for extent in reversed(extents):
        strides.insert(0, step)
        step *= extent
    return strides


def place(dims, index):
    """The place of an element, None if a device dim is too small; replicas and synthetic dims are at digit 0."""
    rest, total = list(index), 0
    for _, j in sorted((-step, j) for j, (dim, step, _, _) in enumerate(dims) if dim >= 0):
        if dims[j][2] == 1:
            continue  # takes no digit
        dim, step, extent, stride = dims[j]
        digit, rest[dim] = divmod(rest[dim], step)
        if digit >= extent:
            return None
        total += digit * stride
    return total if not any(rest) else None


def places(dims, size):
    return [place(dims, index) for index in itertools.product(*map(range, size))]


def map_hash(offsets):
    value = FNV_OFFSET
    for offset in offsets:
        for byte in offset.to_bytes(8, "little"):
            value = (value ^ byte) * FNV_PRIME % 2**64
    return f"{value:016x}"


def moved(nests):
    """Every (device place, host offset) that nests name, in the order they name them."""
    for nest in nests:
        for index in itertools.product(*map(range, nest["ranges"])):
            yield (
                nest["device_offset"] + sum(i * s for i, s in zip(index, nest["device_strides"])),
                nest["host_offset"] + sum(i * s for i, s in zip(index, nest["host_strides"])),
            )


def pairs(dims, size, strides, offset, box=None):
    """Every (device place, host offset) that a transfer to the device must move; replicas included."""
    copies = [0]
    for dim, _, extent, stride in dims:
        if dim == -2:
            copies = [c + k * stride for c in copies for k in range(extent)]
    start, length = box or ([0] * len(size), size)
    for index in itertools.product(*(range(a, a + n) for a, n in zip(start, length))):
        base = place(dims, index)
        host = offset + sum(i * s for i, s in zip(index, strides))
        for copy in copies:
            yield base + copy, host
