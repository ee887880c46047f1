# SPDX-License-Identifier: Apache-2.0
"""A second reader of HLO text, straight from docs/report.md: it holds a whole module in memory and follows the calls by
name. It shares nothing with the library but the rule for the first tile."""

import math
import re
from collections import Counter

WIDTH = {"pred": 8, "c64": 64, "c128": 128, "bf16": 16}
ARRAY = r"([a-z][a-z0-9]*)\[([^\]]*)\](?:\{([^{}]*)\})?"
NOTHING = {
    "add-dependency", "after-all", "bitcast", "call", "conditional", "domain", "get-tuple-element", "opt-barrier",
    "optimization-barrier", "outfeed", "send", "tuple", "while",
}  # fmt: skip


def stored_bytes(shape):
    """What XLA's allocator takes: the first tile rounds up, E(n) gives the bits, L rounds tiled elements."""
    name, dims, layout = re.fullmatch(ARRAY, shape).groups()
    if name == "token":
        return None
    digits = re.fullmatch(r"[a-z]+(\d+).*", name)
    bits = WIDTH.get(name) or max(8, int(digits[1]))
    bounds = [int(d) for d in dims.replace("<=", "").split(",") if d]
    order, _, props = (layout or "").partition(":")
    minor_to_major = [int(d) for d in order.split(",") if d] or list(reversed(range(len(bounds))))
    bounds = [bounds[d] for d in reversed(minor_to_major)]
    if explicit := re.search(r"E\((\d+)\)", props):
        bits = int(explicit[1])
    if tile := re.match(r"T\(([^)]*)\)", props):
        tile = [int(t) for t in tile[1].split(",")]
        bounds = [1] * (len(tile) - len(bounds)) + bounds
        for i, t in enumerate(reversed(tile), 1):
            bounds[-i] = math.ceil(bounds[-i] / t) * t
    return math.ceil(math.prod(bounds) * bits / 8)


def members(shape):
    """The members of a tuple, as texts."""
    if not shape.startswith("("):
        return [shape]
    depth, start, found = 0, 1, []
    for i, c in enumerate(shape):
        if c in "([{":
            depth += 1
        if c in ")]}":
            depth -= 1
        if (c == "," and depth == 1) or (c == ")" and depth == 0):
            found.append(shape[start:i])
            start = i + 1
    return found


def counted(opcode, shape, rest, in_entry):
    """The shapes of the arrays of an instruction that are in memory."""
    parts = members(shape)
    if opcode in NOTHING or opcode.endswith(("-done", "-update")) or (opcode == "parameter" and not in_entry):
        return []
    if opcode in ("copy-start", "recv", "infeed"):
        parts = parts[:1]
    elif opcode.endswith("-start") and opcode != "all-reduce-start" and shape.startswith("("):
        parts = parts[1:2]
    if aliasing := re.search(r"output_to_operand_aliasing=\{(.*?\}\))\}", rest):
        aliased = re.findall(r"\{(\d*)[^{}]*\}: \(", aliasing[1])
        parts = [] if "" in aliased else [p for i, p in enumerate(parts) if str(i) not in aliased]
    return [m[0] for p in parts for m in re.finditer(ARRAY, p)]


def role_of(opcode):
    return {"parameter": "argument", "constant": "constant", "copy": "copy", "copy-start": "copy"}.get(opcode, "result")


def shape_end(text):
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0 and c in " )":
            return i + (c == ")")
    raise ValueError(text)


def read_module(text):
    """Counter of (role, shape) over the arrays in memory."""
    computations, name, entry = {}, None, None
    for line in text.split("\n"):
        if header := re.match(r"(ENTRY )?%([\w.-]+) \(.*\{$", line):
            name = header[2]
            computations[name] = []
            entry = name if header[1] else entry
        elif line.startswith("}"):
            name = None
        elif name and (start := re.match(r"\s*(?:ROOT )?%[\w.-]+ = ", line)):
            rest = line[start.end() :]
            end = shape_end(rest) if rest.startswith("(") else rest.index(" ")
            opcode = re.match(r" ?([\w-]+)\(", rest[end:])[1]
            computations[name].append((opcode, re.sub(r"/\*.*?\*/", "", rest[:end]), rest[end:]))
    arrays, todo, seen = Counter(), [entry], {entry}
    while todo:
        name = todo.pop()
        for opcode, shape, rest in computations[name]:
            for array in counted(opcode, shape, rest, name == entry):
                if stored_bytes(array) is not None:
                    arrays[role_of(opcode), array] += 1
            called = []
            if opcode in ("while", "conditional", "call"):
                lists = re.findall(r"(?:condition|body|to_apply|true_computation|false_computation)=%([\w.-]+)", rest)
                for names in re.findall(r"branch_computations=\{([^}]*)\}", rest):
                    lists += re.findall(r"%([\w.-]+)", names)
                called = [c for c in lists if c in computations]
            todo += [c for c in called if c not in seen]
            seen |= set(called)
    return arrays
