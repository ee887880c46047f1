# SPDX-License-Identifier: Apache-2.0
"""Tags of oneDNN: every tag that its library knows, by every name, on random shapes; the library's own descriptor gives the places."""

import ctypes
import random
import re

from counts import counted, known_error
from onednn import HEADER, LIBRARY
from places import ask, indices_of, places_of

MISNAMED = {"gIOhw2i8o16i2o", "gIOdhw2i8o16i2o"}  # oneDNN's tags for them contradict the letters
NO_BLOCK = {"OhwI24o", "OhwI32o", "gOhwI24o", "gOhwI32o"}  # a capital without a block


def enumerators(prefix):
    """The numbers of an enum, as a compiler counts them."""
    numbers, text = {}, re.sub(r"/\*.*?\*/|//[^\n]*", "", HEADER.read_text(), flags=re.S)
    body = next(body for body in re.findall(r"typedef enum \{(.*?)\}", text, re.S) if prefix in body)
    last = -1
    for name, value in re.findall(r"(\w+)\s*(?:=\s*([\w]+))?\s*(?:,|$)", body):
        last = last + 1 if not value else numbers[value] if value in numbers else int(value, 0)
        numbers[name] = last
    return numbers


TAGS = {name[5:]: number for name, number in enumerators("dnnl_format_tag_undef").items()}
TAGS = {name: number for name, number in TAGS.items() if re.fullmatch(r"[A-Za-z]+(\d+[a-z])*", name) and name != "x"}
QUERY = enumerators("dnnl_query_undef")


def load():
    """The library, with those it needs beside it."""
    beside = "libintlc libimf libirng libsvml libtbb libhwloc libumf libur_loader libsycl"
    for name in 3 * beside.split():  # they need each other
        for path in sorted(LIBRARY.parent.glob(f"{name}.so*")):
            try:
                ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL)
            except OSError:
                pass
    return ctypes.CDLL(str(LIBRARY))


def descriptor(dnnl, dims, tag):
    """Strides, blocks and their dims of a tag on a shape."""
    n, md = len(dims), ctypes.c_void_p()
    array = (ctypes.c_int64 * 12)(*dims)
    assert dnnl.dnnl_memory_desc_create_with_tag(ctypes.byref(md), n, array, 3, TAGS[tag]) == 0, tag

    def query(what, kind):
        value = kind()
        assert dnnl.dnnl_memory_desc_query(md, QUERY[what], ctypes.byref(value)) == 0, what
        return value

    many = ctypes.POINTER(ctypes.c_int64)
    strides = query("dnnl_query_strides", many)[:n]
    blocks = query("dnnl_query_inner_nblks_s32", ctypes.c_int).value
    sizes = query("dnnl_query_inner_blks", many)[:blocks] if blocks else []
    of = query("dnnl_query_inner_idxs", many)[:blocks] if blocks else []
    dnnl.dnnl_memory_desc_get_size.restype = ctypes.c_size_t
    size = dnnl.dnnl_memory_desc_get_size(md)
    dnnl.dnnl_memory_desc_destroy(md)
    return strides, sizes, of, size


def place(index, strides, sizes, of):
    rest, inner, sum_ = list(index), 1, 0
    for size, dim in zip(reversed(sizes), reversed(of)):
        sum_ += rest[dim] % size * inner
        rest[dim] //= size
        inner *= size
    return sum_ + sum(x * stride for x, stride in zip(rest, strides))


def rank_of(tag):
    return len(re.match(r"[A-Za-z]+", tag)[0])


def test_every_tag_by_every_name(seed):
    random.seed(seed)
    dnnl, cases = load(), []
    for tag in TAGS:
        if tag in MISNAMED | NO_BLOCK or tag == "undef" or tag == "any" or tag == "last":
            continue
        rank = rank_of(tag)
        dims = [random.choice([1, 2, 3, 5, 17]) if rank < 4 else random.choice([1, 2, 3]) for _ in range(rank)]
        cases.append((tag, dims, descriptor(dnnl, dims, tag)))
    layouts = [f"onednn: f32{dims} {tag}".replace(", ", ",") for tag, dims, _ in cases]
    got = places_of(layouts, [dims for _, dims, _ in cases])
    sizes = ask({"op": "info", "layout": layout} for layout in layouts)
    wrong = []
    for (tag, dims, (strides, blocks, of, size)), places, answer in zip(cases, got, sizes):
        want = [place(index, strides, blocks, of) for index in indices_of(dims)]
        if places != want or 4 * answer["elements"] != size:
            wrong.append((tag, dims, answer, size))
    counted("onednn-devel", "tags, every name", len(cases), len(wrong))
    assert not wrong, wrong[:3]
    assert len(cases) > 1500


def test_the_misnamed_are_refused():
    for tag in MISNAMED | NO_BLOCK:
        (message,) = places_of([f"onednn: f32{[1] * rank_of(tag)} {tag}"], [[1] * rank_of(tag)])
        assert isinstance(message, str), tag


def test_known_errors():
    """The letters gIO put i before o, so that the step of i is the larger one."""
    strides = descriptor(load(), [1, 32, 64, 1, 1], "gIOhw2i8o16i2o")[0]
    known_error("onednn-devel", "tag gIOhw2i8o16i2o, 1x32x64x1x1", f"strides {strides}", strides[2] > strides[1])
    known_error("onednn-devel", "tag OhwI24o", "i has a capital, but no block", "OhwI24o" not in TAGS)
