# SPDX-License-Identifier: Apache-2.0
"""`tesela pack` and `tesela unpack`: the bytes of the file, and the way back; and files of all kinds that are not
valid."""

import json
import struct

import pytest
from command import run
from tensor_bytes import elements, npy, npy_dict, placed, read_safetensors, safetensors, safetensors_json

TILED = "{1,0:T(8,128)}"


def tesela(*words, status=0, **how):
    done = run(*map(str, words), **how)
    assert done.returncode == status, done.stderr.decode()
    return done


def wrong(*words, status=2, **how):
    done = tesela(*words, status=status, **how)
    assert done.stdout == b""
    return done.stderr.decode()


@pytest.fixture
def file(tmp_path):
    def write(name, data):
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write


# A model: name -> layout of its tensor. Its order is by neither name nor type.
MODEL = {
    "wte.weight": "bf16[33,130]{1,0}",
    "ln.weight": "f32[130]{0}",
    "h.0.weight": "f32[9,200]{1,0}",
    "mask": "pred[3,5]{1,0}",
    "step": "s64[]",
    "empty": "f32[0,7]{1,0}",
}
TYPES = {"bf16": "BF16", "f32": "F32", "pred": "BOOL", "s64": "I64"}
METADATA = {"format": "pt", "tesela.layout.gone": "f32[3]{0}", "Ω": "\"quoted\" \\ \u0001"}


def dims_of(layout):
    return [int(n) for n in layout.split("[")[1].split("]")[0].split(",") if n]


def data_of(name, layout=None):
    return placed(layout or MODEL[name], elements(MODEL[name], seed=len(name)))


def entry_of(name):
    return TYPES[MODEL[name].split("[")[0]], dims_of(MODEL[name]), data_of(name)


def model(metadata=METADATA):
    return safetensors({name: entry_of(name) for name in MODEL}, metadata)


# ---- pack ----


def test_pack_writes_places_and_records_the_layout(file, tmp_path):
    path, out = file("m.safetensors", model()), tmp_path / "p.safetensors"
    tesela("pack", path, "-o", out, "wte.*={0,1:T(8,128)(2,1)}", "*weight={1,0:T(8,128)}")
    tensors, metadata = read_safetensors(out.read_bytes())
    assert list(tensors) == list(MODEL)
    wte, h0 = "bf16[33,130]{0,1:T(8,128)(2,1)}", "f32[9,200]{1,0:T(8,128)}"
    assert tensors["wte.weight"] == ("BF16", [136 * 128], data_of("wte.weight", wte))
    assert tensors["h.0.weight"] == ("F32", [16 * 256], data_of("h.0.weight", h0))
    for name in ("ln.weight", "mask", "step", "empty"):
        assert tensors[name] == entry_of(name)
    assert metadata == {**METADATA, "tesela.layout.wte.weight": wte, "tesela.layout.h.0.weight": h0}


def test_a_rule_may_be_what_a_tpu_chooses(file, tmp_path):
    """By the rule of docs/xla.md: row-major pads 33 x 130 to 40 x 256 elements, the other order to 136 x 128."""
    path, out = file("m.safetensors", model()), tmp_path / "p.safetensors"
    tesela("pack", path, "-o", out, "wte.*=tpu(v5e)", "h.0.weight=tpu", "--verify")
    tensors, metadata = read_safetensors(out.read_bytes())
    wte, h0 = "bf16[33,130]{1,0:T(8,128)(2,1)}", "f32[9,200]{1,0:T(8,128)}"
    assert tensors["wte.weight"] == ("BF16", [40 * 256], data_of("wte.weight", wte))
    assert tensors["h.0.weight"] == ("F32", [16 * 256], data_of("h.0.weight", h0))
    assert metadata == {**METADATA, "tesela.layout.wte.weight": wte, "tesela.layout.h.0.weight": h0}


def test_every_tensor_is_aligned_to_its_type(file, tmp_path):
    """A byte tensor of odd size stands first in the header; the data of wider types is still aligned."""
    tensors = {"m": ("I8", [5], b"12345"), "x": ("F32", [3], bytes(12)), "y": ("I64", [1], bytes(8)), "e": ("I8", [0], b"")}
    path, out = file("m.safetensors", safetensors(tensors)), tmp_path / "p.safetensors"
    tesela("pack", path, "-o", out, "m={0:T(3)}")
    (length,) = struct.unpack("<Q", out.read_bytes()[:8])
    header = json.loads(out.read_bytes()[8 : 8 + length])
    assert [name for name in header if name in tensors] == list(tensors)
    assert header["x"]["data_offsets"][0] % 4 == 0 and header["y"]["data_offsets"][0] % 8 == 0
    assert read_safetensors(out.read_bytes())[0] == {**tensors, "m": ("I8", [6], b"12345\0")}


def test_to_takes_what_rules_leave(file, tmp_path):
    path, out = file("m.safetensors", model()), tmp_path / "p.safetensors"
    tesela("pack", path, "-o", out, "--to", "{1,0:T(2,2)}", "h*={0,1}")
    _, metadata = read_safetensors(out.read_bytes())
    layouts = {k.removeprefix("tesela.layout."): v for k, v in metadata.items() if k.startswith("tesela.layout.")}
    assert layouts == {
        "wte.weight": "bf16[33,130]{1,0:T(2,2)}", "h.0.weight": "f32[9,200]{0,1}", "mask": "pred[3,5]{1,0:T(2,2)}",
        "gone": "f32[3]{0}",
    }  # fmt: skip


def test_a_layout_that_moves_nothing_is_not_recorded(file, tmp_path):
    path, out = file("m.safetensors", model(None)), tmp_path / "p.safetensors"
    tesela("pack", path, "-o", out, "--to", "{1,0}")
    assert read_safetensors(out.read_bytes()) == ({name: entry_of(name) for name in MODEL}, None)


def test_rules_that_take_nothing_are_refused(file, tmp_path):
    path, out = file("m.safetensors", model()), tmp_path / "p.safetensors"
    said = wrong("pack", path, "-o", out, "wpe*={1,0}", "--to={1,0}")
    assert "no tensor matches 'wpe*'; the file has 6: wte.weight, ln.weight, h.0.weight, mask, step, ..." in said
    said = wrong("pack", path, "-o", out, "wte.wieght={1,0}")
    assert "no tensor matches 'wte.wieght'; did you mean wte.weight? the file has 6: wte.weight" in said
    assert "no tensor that ln* matches has the dims of {1,0}" in wrong("pack", path, "-o", out, "ln*={1,0}")
    said = wrong("pack", path, "-o", out, "*={1,0}", "h*={0,1}")
    assert "no tensor is left for 'h*': earlier rules apply to all 1 that it matches" in said
    assert "invalid rule weights" in wrong("pack", path, "-o", out, "weights")
    assert "invalid rule ={1,0}" in wrong("pack", path, "-o", out, "={1,0}")
    said = wrong("pack", path, "-o", out, "h.[[:digit:]].*={1,0}")
    assert "invalid rule h.[[:digit:]].*={1,0}; expected [0-9] or [a-z] instead of a class" in said
    assert "missing layout" in wrong("pack", path, "-o", out)
    said = wrong("pack", path, "-o", out, "h*={1,0:T(0)}")
    assert "tile extent 0" in said
    assert not out.exists()


def test_pack_writes_safetensors_only(file, tmp_path):
    path = file("m.safetensors", model())
    assert "expected an output that ends in .safetensors" in wrong("pack", path, "-o", tmp_path / "x.npy", "--to={1,0}")
    assert "expected an output that ends in .safetensors" in wrong("pack", path, "-o", tmp_path / "x.pt", "--to={1,0}")
    said = wrong("pack", file("x.npy", npy("<f4", (3, 5), bytes(60))), "--to=bf16[3,5]{1,0:T(2,2)}")
    assert "the tensor is f32[3,5]{1,0}; the rule has elements of another type or width: bf16[3,5]" in said
    assert "expected a file with one tensor, found 6" in wrong("pack", path, "--to={1,0}", "--from=f32[2]")


def test_a_second_pack_is_refused(file, tmp_path):
    path, once = file("m.safetensors", model()), tmp_path / "p.safetensors"
    tesela("pack", path, "-o", once, f"h*={TILED}")
    said = wrong("pack", once, "-o", tmp_path / "q.safetensors", "--to={1,0:T(2,2)}")
    assert "tensor h.0.weight is already packed, as f32[9,200]{1,0:T(8,128)}; tesela unpack reverses that" in said
    assert not (tmp_path / "q.safetensors").exists()
    tesela("pack", once, "-o", tmp_path / "q.safetensors", "wte*={1,0:T(2,2)}")  # another tensor may follow
    tensors, metadata = read_safetensors((tmp_path / "q.safetensors").read_bytes())
    assert tensors["h.0.weight"] == read_safetensors(once.read_bytes())[0]["h.0.weight"]
    assert metadata["tesela.layout.h.0.weight"] == "f32[9,200]{1,0:T(8,128)}"
    assert metadata["tesela.layout.wte.weight"] == "bf16[33,130]{1,0:T(2,2)}"


def test_a_type_that_is_not_known_is_copied_but_not_packed(file, tmp_path):
    tensors = {"q": ("F4", [2, 4], b"\x12\x34\x56\x78"), "x": ("F32", [1, 2], bytes(8))}
    path, out = file("m.safetensors", safetensors(tensors)), tmp_path / "p.safetensors"
    tesela("pack", path, "-o", out, "x={0,1:T(2,2)}")
    assert read_safetensors(out.read_bytes())[0]["q"] == tensors["q"]
    assert "tensor q has the unknown type F4" in wrong("pack", path, "-o", out, "q={0,1}")


def test_pack_from_npy_and_raw(file, tmp_path):
    layout, out = "s16[3,5]{1,0:T(2,2)}", tmp_path / "p.safetensors"
    values = elements("s16[3,5]")
    want = {"tensor": ("I16", [24], placed(layout, values))}
    x = file("x.npy", npy("<i2", (3, 5), placed("s16[3,5]{0,1}", values), fortran=True))
    tesela("pack", x, "-o", out, "--to", layout)
    assert read_safetensors(out.read_bytes()) == (want, {"tesela.layout.tensor": layout})
    raw = file("x", placed("s16[3,5]{1,0:T(4)}", values))
    tesela("pack", raw, "-o", out, "--from=s16[3,5]{1,0:T(4)}", "--to={1,0:T(2,2)}")
    assert read_safetensors(out.read_bytes()) == (want, {"tesela.layout.tensor": layout})


def test_elements_of_4_bits_stand_there_as_bytes(file, tmp_path):
    layout, out = "s4[3,5]{1,0:T(2,2)E(4)}", tmp_path / "p.safetensors"
    values = elements("s4[3,5]{1,0:E(4)}")
    raw = file("x", placed("s4[3,5]{1,0:E(4)}", values))
    tesela("pack", raw, "-o", out, "--from=s4[3,5]{1,0:E(4)}", f"--to={layout}")
    assert read_safetensors(out.read_bytes()) == (
        {"tensor": ("U8", [12], placed(layout, values))},
        {"tesela.layout.tensor": layout},
    )
    assert tesela("unpack", out).stdout == raw.read_bytes()
    back, again = tmp_path / "b.safetensors", tmp_path / "q.safetensors"
    tesela("unpack", out, "-o", back)  # the file format has no type of 4 bits: the record says what the bytes are
    assert read_safetensors(back.read_bytes()) == (
        {"tensor": ("U8", [8], placed("s4[3,5]{1,0:E(4)}", values))},
        {"tesela.layout.tensor": "s4[3,5]{1,0:E(4)}"},
    )
    assert "no tensor in the file is packed" in wrong("unpack", back, "-o", again)
    assert "tensor tensor is not packed\n" in wrong("unpack", back, "--tensor=tensor")
    tesela("pack", back, "-o", again, "*={1,0:T(2,2)E(4)}")
    assert again.read_bytes() == out.read_bytes()
    assert "tensor tensor is already packed" in wrong("pack", out, "-o", again, "*={1,0:T(2,2)E(4)}")


# ---- unpack ----


@pytest.mark.parametrize("rule", ["*={1,0:T(8,128)}", "*weight={0,1:T(4)}", "*={0:T(1024)}", "*={1,0:T(2,2)(3,1)}"])
@pytest.mark.parametrize("metadata", [None, METADATA])
def test_unpack_gives_back_what_was_packed(file, tmp_path, rule, metadata):
    path, packed, back = file("m.safetensors", model(metadata)), tmp_path / "p.safetensors", tmp_path / "b.safetensors"
    tesela("pack", path, "-o", packed, rule)
    assert packed.read_bytes() != path.read_bytes()
    tesela("unpack", packed, "-o", back)
    assert read_safetensors(back.read_bytes()) == ({name: entry_of(name) for name in MODEL}, metadata)
    assert list(read_safetensors(back.read_bytes())[0]) == list(MODEL)


def test_unpack_of_one_tensor(file, tmp_path):
    path, packed = file("m.safetensors", model()), tmp_path / "p.safetensors"
    tesela("pack", path, "-o", packed, f"*={TILED}")
    assert "tensors are packed; --tensor=NAME selects one" in wrong("unpack", packed, "-o", tmp_path / "x.npy")
    tesela("unpack", packed, "--tensor=h.0.weight", "-o", tmp_path / "x.npy")
    assert (tmp_path / "x.npy").read_bytes() == npy("<f4", (9, 200), data_of("h.0.weight"))
    assert tesela("unpack", packed, "--tensor=wte.weight").stdout == data_of("wte.weight")
    tesela("unpack", packed, "--tensor=mask", "-o", tmp_path / "x.safetensors")
    tensors, _ = read_safetensors((tmp_path / "x.safetensors").read_bytes())
    assert tensors == {"mask": entry_of("mask")}
    assert "tensor step is not packed; packed are 3: wte.weight, h.0.weight, mask" in wrong("unpack", packed, "--tensor=step")
    said = wrong("unpack", packed, "--tensor=msak")
    assert "has no tensor msak; did you mean mask? packed are 3: wte.weight, h.0.weight, mask" in said


def test_unpack_of_what_is_not_packed(file, tmp_path):
    path = file("m.safetensors", model(None))
    assert "no tensor in the file is packed" in wrong("unpack", path, "-o", tmp_path / "x.safetensors")
    assert "no tensor in the file is packed" in wrong("unpack", file("x.npy", npy("|u1", (2,), b"ab")), "-o", tmp_path / "x")


@pytest.mark.parametrize(
    "layout, message",
    [
        ("f32[3,5]{1,0:T(2,2)}", "tensor x has 8 bytes; expected 96 for f32[3,5]{1,0:T(2,2)}"),
        ("f32[3,5]{1,0:T(2,", "tensor x has an invalid layout in the metadata"),
        ("", "tensor x has an invalid layout in the metadata"),
        ("(f32[2]{0})", "tensor x has an invalid layout in the metadata"),
        ("s4[3037000500,3037000500]{1,0}", "tensor x "),
        ("s4[0,1099511627776,1099511627776]{2,1,0:T(2,2)}", "tensor x "),
    ],
)
def test_a_record_that_is_wrong(file, tmp_path, layout, message):
    path = file("m.safetensors", safetensors({"x": ("F32", [2], bytes(8))}, {"tesela.layout.x": layout}))
    assert message in wrong("unpack", path, "-o", tmp_path / "x.safetensors")
    assert message in wrong("relayout", path, "-o", tmp_path / "x.safetensors", "--to={0}")


def test_names_of_all_kinds(file, tmp_path):
    names = ["", "a b", "ä/é", '"\\', "\u0007", "__metadata", "x" * 3900, "tesela.layout.x"]
    tensors = {name: ("I8", [1, 2], b"ab") for name in names}
    path, packed, back = file("m.safetensors", safetensors(tensors)), tmp_path / "p.safetensors", tmp_path / "b.safetensors"
    tesela("pack", path, "-o", packed, "--to={0,1:T(2,2)}")
    _, metadata = read_safetensors(packed.read_bytes())
    assert metadata == {f"tesela.layout.{name}": "s8[1,2]{0,1:T(2,2)}" for name in names}
    tesela("unpack", packed, "-o", back)
    assert read_safetensors(back.read_bytes()) == (tensors, None)
    long = file("long.safetensors", safetensors({"x" * 4001: ("I8", [1, 2], b"ab")}))
    assert "is too long to record a layout" in wrong("pack", long, "--to={0,1:T(2,2)}")


# ---- files that are not what they should be ----


def npy_bytes(length, text, version=1):
    return b"\x93NUMPY" + bytes([version, 0]) + length.to_bytes(2 if version == 1 else 4, "little") + text


GOOD = "'descr': '<f4', 'fortran_order': False, 'shape': "

NPY = [
    ("magic alone", b"\x93NUMPY", "truncated in its .npy header"),
    ("no length", b"\x93NUMPY\x01\x00", "truncated in its .npy header"),
    ("half a length", b"\x93NUMPY\x02\x00\x01\x00", "truncated in its .npy header"),
    ("version 0", npy_dict("{}", version=1).replace(b"\x01\x00", b"\x00\x00", 1), ".npy version 0 is not read"),
    ("version 4", npy_dict("{}", version=4), ".npy version 4 is not read; versions 1 to 3 are"),
    ("a header longer than the file", npy_bytes(200, b"{}"), "truncated in its .npy header"),
    ("a header of 4 GB", npy_bytes(0xFFFFFFFF, b"{}", 2), "its .npy header has 4294967295 bytes; expected at most 1048576"),
    ("an empty header", npy_bytes(0, b""), "is not a dict of descr, fortran_order and shape"),
    ("no dict", npy_dict("hello"), "is not a dict of descr, fortran_order and shape"),
    ("an empty dict", npy_dict("{}"), "lacks descr, fortran_order or shape"),
    ("a dict without an end", npy_dict("{" + GOOD + "(3,)"), "is not a dict"),
    ("no colon", npy_dict("{'descr' '<f4'}"), "is not a dict"),
    ("no commas", npy_dict("{'descr': '<f4' 'fortran_order': False 'shape': (3,)}"), "is not a dict"),
    ("a string without an end", npy_dict("{'descr"), "is not a dict"),
    ("an escape", npy_dict(r"{'descr': '<f\x34', 'fortran_order': False, 'shape': (3,)}"), "has a descr that is not a type"),
    ("a long key", npy_dict("{'" + "k" * 500 + "': 1}"), "is not a dict"),
    ("another key", npy_dict("{" + GOOD + "(3,), 'more': 1}"), "has a key other than"),
    ("a key twice", npy_dict("{" + GOOD + "(3,), 'shape': (3,)}"), "has a key twice"),
    ("no shape", npy_dict("{'descr': '<f4', 'fortran_order': False}"), "lacks descr, fortran_order or shape"),
    ("code behind it", npy_dict("{" + GOOD + "(3,)}; import os"), "continues after its dict"),
    ("a list as shape", npy_dict("{" + GOOD + "[3, 5]}"), "has a shape that is not a tuple of extents"),
    ("one number as shape", npy_dict("{" + GOOD + "3}"), "has a shape that is not a tuple of extents"),
    ("a number in parentheses as shape", npy_dict("{" + GOOD + "(3)}"), "has a shape that is not a tuple of extents"),
    ("a negative extent", npy_dict("{" + GOOD + "(-3,)}"), "has a shape that is not a tuple of extents"),
    ("an extent that is a sum", npy_dict("{" + GOOD + "(3+1,)}"), "has a shape that is not a tuple of extents"),
    ("two commas", npy_dict("{" + GOOD + "(3,,5)}"), "has a shape that is not a tuple of extents"),
    ("a comma alone", npy_dict("{" + GOOD + "(,)}"), "has a shape that is not a tuple of extents"),
    ("an extent beyond 64 bits", npy_dict("{" + GOOD + "(99999999999999999999,)}"), "has an extent that does not fit"),
    ("a size beyond 64 bits", npy_dict("{" + GOOD + "(4294967296, 4294967296)}"), "whose size does not fit in 64 bits"),
    ("33 dims", npy_dict("{" + GOOD + "(" + "1, " * 33 + ")}"), "has more than 32 dims"),
    ("an order that is a number", npy_dict("{'descr': '<f4', 'fortran_order': 1, 'shape': (3,)}"), "neither True nor False"),
    ("objects", npy("|O", (3,), bytes(24)), "its elements are Python objects, pickled: '|O'"),
    ("a structured type", npy_dict("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,)}"), "has a structured type"),
    ("strings", npy("<U5", (3,), bytes(60)), "its elements are strings: '<U5'"),
    ("bytes", npy("|S5", (3,), bytes(15)), "its elements are strings: '|S5'"),
    ("dates", npy("<M8[ns]", (3,), bytes(24)), "its elements are dates or times"),
    ("a long double", npy("<f16", (3,), bytes(48)), "its elements are of an unsupported type: '<f16'"),
    ("an integer of 3 bytes", npy("<i3", (3,), bytes(9)), "its elements are of an unsupported type"),
    ("no type", npy("", (3,), bytes(9)), "its elements are of an unsupported type: ''"),
    ("bytes of nothing", npy("|V0", (3,), bytes(9)), "its elements are of an unsupported type"),
    ("a type and more", npy("<f4,<f4", (3,), bytes(24)), "its elements are of an unsupported type"),
    ("escape sequences", npy("\x1b[31m", (3,), bytes(24)), r"\x1b[31m"),
    ("data cut off", npy("<f4", (3, 5), bytes(59)), "truncated: 59 bytes after the header; expected 60"),
    ("another file", b"PK\x03\x04" + bytes(60), "does not have the format of its name"),
    ("nothing", b"", "does not have the format of its name: it is empty"),
]  # fmt: skip


@pytest.mark.parametrize("data, message", [pytest.param(*row[1:], id=row[0]) for row in NPY])
def test_npy_files_that_are_wrong(file, tmp_path, data, message):
    path = file("x.npy", data)
    said = wrong("relayout", path, "-o", tmp_path / "out", "--to={0}")
    assert message in said and "x.npy: " in said and "\x1b" not in said
    assert list(tmp_path.iterdir()) == [path]


def one(dtype="F32", shape=(2,), offsets=(0, 8), **more):
    return {"x": {"dtype": dtype, "shape": shape, "data_offsets": offsets, **more}}


SAFETENSORS = [
    ("nothing", b"", "does not have the format of its name: it is empty"),
    ("a length alone", struct.pack("<Q", 2), "does not have the format of its name"),
    ("no object", struct.pack("<Q", 4) + b"true", "does not have the format of its name"),
    ("a length beyond the file", struct.pack("<Q", 100) + b'{"x":1}', "truncated: the header should have 100 bytes, 7 are present"),
    ("a header of 100 MB and one byte", struct.pack("<Q", 100000001) + b'{"x":1}', "its header has 100000001 bytes; expected at most 100000000"),
    ("a length beyond all", b"\xff" * 8 + b'{"x":1}', "does not have the format of its name"),
    ("half a JSON", safetensors_json(b'{"x":{"dtype":'), "its header is not valid JSON"),
    ("a name twice", safetensors_json(b'{"x":1,"x":2}'), "its header is not valid JSON: duplicate object key"),
    ("a name that is not UTF-8", safetensors_json(b'{"\xff\xfe":1}'), "its header is not valid JSON"),
    ("a name with NUL", safetensors_json(b'{"a\\u0000b":1}'), "its header is not valid JSON: NUL"),
    ("depth", safetensors_json(b'{"x":' + b"[" * 5000), "its header is not valid JSON: more than 64 levels"),
    ("a number beyond 64 bits", safetensors_json(b'{"x":{"dtype":"F32","shape":[99999999999999999999]}}'), "its header is not valid JSON: an integer is too large"),
    ("a tensor that is a number", safetensors_json({"x": 1}), "tensor x is not an object"),
    ("no dtype", safetensors_json({"x": {"shape": [2], "data_offsets": [0, 8]}}, bytes(8)), "tensor x has no dtype"),
    ("dtype 4", safetensors_json(one(dtype=4), bytes(8)), "tensor x has no dtype"),
    ("no shape", safetensors_json({"x": {"dtype": "F32", "data_offsets": [0, 8]}}, bytes(8)), "has a shape that is not a list"),
    ("a negative extent", safetensors_json(one(shape=[-2]), bytes(8)), "has a shape that is not a list of at most 32 extents"),
    ("an extent of 2.0", safetensors_json(one(shape=[2.0]), bytes(8)), "has a shape that is not a list of at most 32 extents"),
    ("33 dims", safetensors_json(one(shape=[1] * 32 + [2]), bytes(8)), "has a shape that is not a list of at most 32 extents"),
    ("one offset", safetensors_json(one(offsets=[0]), bytes(8)), "has data_offsets that are not two numbers"),
    ("three offsets", safetensors_json(one(offsets=[0, 8, 8]), bytes(8)), "has data_offsets that are not two numbers"),
    ("offsets of text", safetensors_json(one(offsets=["0", "8"]), bytes(8)), "has data_offsets that are not two numbers"),
    ("offsets backwards", safetensors_json(one(offsets=[8, 0]), bytes(8)), "has data_offsets outside the file"),
    ("negative offsets", safetensors_json(one(offsets=[-8, 0]), bytes(8)), "has data_offsets that are not two numbers"),
    ("data cut off", safetensors_json(one(), bytes(7)), "has data_offsets outside the file; is it truncated?"),
    ("the largest offsets", safetensors_json(one(offsets=[0, 2**63 - 1]), bytes(8)), "has data_offsets outside the file"),
    ("too few bytes", safetensors_json(one(shape=[3]), bytes(8)), "has data_offsets that do not match its shape and dtype"),
    ("a size beyond 64 bits", safetensors_json(one(shape=[2**62, 8]), bytes(8)), "has a shape whose size does not fit"),
    ("a gap in front", safetensors_json(one(offsets=[8, 16]), bytes(16)), "tensor x has unused bytes before it"),
    ("bytes behind", safetensors_json(one(), bytes(9)), "1 bytes after the last tensor"),
    ("an overlap", safetensors_json({**one(), "y": one(offsets=[4, 12])["x"]}, bytes(12)), "tensor y shares bytes with another tensor"),
    ("a tensor twice", safetensors_json({**one(), "y": one()["x"]}, bytes(8)), "shares bytes with another tensor"),
    ("metadata that is a list", safetensors_json({"__metadata__": [], **one()}, bytes(8)), "its __metadata__ is not an object of strings"),
    ("metadata of numbers", safetensors_json({"__metadata__": {"a": 1}, **one()}, bytes(8)), "its __metadata__ a is not a string"),
    ("escape sequences", safetensors_json({"\x1b[31m": 1}), r"\x1b[31m"),
    ("no tensors", safetensors_json({}), "has 0 tensors"),
]  # fmt: skip


@pytest.mark.parametrize("data, message", [pytest.param(*row[1:], id=row[0]) for row in SAFETENSORS])
def test_safetensors_files_that_are_wrong(file, tmp_path, data, message):
    path = file("x.safetensors", data)
    said = wrong("relayout", path, "-o", tmp_path / "out", "--to={0}")
    assert message in said and "x.safetensors: " in said and "\x1b" not in said
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("kind", ["npy", "safetensors"])
def test_every_cut_of_a_file_is_refused(file, kind):
    """From a pipe, where no name says what it should be; what is left of the beginning may look raw."""
    whole = npy("<f4", (3, 5), bytes(60)) if kind == "npy" else model()
    for n in [*range(0, min(len(whole), 200), 3), len(whole) // 2, len(whole) - 1]:
        said = wrong("relayout", "-", "--to={1,0}", "--tensor=mask" if kind == "safetensors" else "--json", text=whole[:n])
        assert said.startswith("tesela: error: ")


def test_files_that_only_look_like_others_are_raw(file):
    """Two 64-bit numbers, the second 123 = '{'; the magic one byte late."""
    for data in (struct.pack("<QQ", 5, 123), b"\0\x93NUMPY\x01\x00" + bytes(8)):
        done = tesela("relayout", file("x", data), f"--from=u8[{len(data)}]", "--to={0}")
        assert done.stdout == data
