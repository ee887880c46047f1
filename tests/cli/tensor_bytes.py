# SPDX-License-Identifier: Apache-2.0
"""Tensors as bytes, written by hand: what the elements are, where the oracle says they lie, and the headers of files."""

import json
import random
import struct
import sys

from command import SOURCE

sys.path.insert(0, str(SOURCE / "tests/oracle"))

from xla_oracle import Array  # noqa: E402


def elements(layout, seed=1):
    """Random bits of each element, in row-major order: a list of numbers."""
    a = Array.from_text(layout)
    rng = random.Random(seed)
    return [rng.getrandbits(a.bits) for _ in range(a.count)]


def placed(layout, values, fill=0):
    """The bytes of the whole array: the oracle's image of a layout, elements of 4 bits and less from the low bits up."""
    a = Array.from_text(layout)
    places = [fill if number is None else values[number] for number in a.image()]
    if a.bits % 8 == 0:
        return b"".join(v.to_bytes(a.bits // 8, "little") for v in places)
    per = 8 // a.bits
    places += [0] * (-len(places) % per)
    return bytes(sum(v << (a.bits * k) for k, v in enumerate(places[i : i + per])) for i in range(0, len(places), per))


def swapped(data, width):
    return b"".join(data[i : i + width][::-1] for i in range(0, len(data), width))


def npy_dict(text, data=b"", version=1):
    """A .npy file with any text as its header."""
    length = 2 if version == 1 else 4
    text = text.encode("latin-1")
    text += b" " * (-(8 + length + len(text) + 1) % 64) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + len(text).to_bytes(length, "little") + text + data


def npy(descr, shape, data, fortran=False, version=1):
    dims = "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
    return npy_dict(f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {dims}, }}", data, version)


def safetensors_json(header, data=b""):
    """A .safetensors file with any header: an object, or the bytes of a text."""
    text = header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def safetensors(tensors, metadata=None):
    """name -> (dtype, shape, bytes), in that order."""
    header, data = {}, b""
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, (dtype, shape, part) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    return safetensors_json(header, data)


def read_safetensors(file):
    """({name: (dtype, shape, bytes)}, metadata) in the order of the header; the rules of the format are checked."""
    (length,) = struct.unpack("<Q", file[:8])
    assert length % 8 == 0, "data is aligned to 8 bytes"
    header = json.loads(file[8 : 8 + length])
    data = file[8 + length :]
    metadata = header.pop("__metadata__", None)
    spans = sorted(tuple(t["data_offsets"]) for t in header.values())
    ends = [0, *(end for _, end in spans)]
    assert [begin for begin, _ in spans] == ends[:-1] and ends[-1] == len(data), "no gap, no overlap"
    tensors = {}
    for name, t in header.items():
        begin, end = t["data_offsets"]
        tensors[name] = (t["dtype"], t["shape"], data[begin:end])
    return tensors, metadata
