# SPDX-License-Identifier: Apache-2.0
"""The examples that say how the package feels, names included: the lines of section 1 of its specification, python.md.

Each is (a line, what it must do). Lines run in order, in one namespace that test_examples.py makes. What a line must do is None (it
runs), a value that its own must equal, or a function of its value that returns true.
"""

import numpy as np


def text(*parts):
    """A text with these parts."""
    return lambda value: isinstance(value, str) and all(part in value for part in parts)


EXAMPLES = [
    # A layout: any notation
    ("import tesela", None),
    ('L = tesela.layout("f32[3,5]{1,0:T(2,2)}")', None),
    ("repr(L)", "layout('f32[3,5]{1,0:T(2,2)}')"),
    ("layout = tesela.layout; eval(repr(L)) == L", None),
    ("L._repr_svg_()", text("<svg", "</svg>")),
    ("L.where(2, 3), L.what(9)", (17, None)),
    ("L.where(np.array([[2, 3], [0, 0]]))", lambda value: value.tolist() == [17, 0] and value.dtype == np.int64),
    ("L.shape, L.dtype, L.nbytes, L.logical_nbytes, L.padding, L.expansion", ((3, 5), np.dtype("float32"), 96, 60, 36, 1.6)),
    ('other = tesela.layout("f32[3,5]{1,0:T(2,2)L(1)}"); M = tesela.layout("f32[3,5]{1,0}")', None),
    ("L == other, hash(L) == hash(other), L == M", (True, True, False)),
    ("tesela.compare(L, M).first_difference.index", (0, 2)),
    ("tesela.compare(L, M).first_difference.a, tesela.compare(L, M).first_difference.b", (4, 2)),
    ('L.to("cute")', "((2,2),(2,3)):((2,12),(1,4))"),
    ('L.to("triton")', ValueError("triton cannot express f32[3,5]{1,0:T(2,2)}")),
    ("L.all_notations()", lambda value: value["xla"] == "f32[3,5]{1,0:T(2,2)}"),
    ("L.draw()", text("17")),
    ("L.svg()", text("<svg")),
    ('L.save("a.svg"); open("a.svg").read()', text("<svg")),
    ('L.numpy_expr("x")', "np.pad(x, ((0, 1), (0, 1))).reshape(2, 2, 3, 2).transpose(0, 2, 1, 3)"),
    ('L.jax_expr("x"), L.torch_expr("x")', lambda value: value[0].startswith("jnp.pad(x, ") and ".permute(0, 2, 1, 3)" in value[1]),
    ('L.einops("x")', text("rearrange")),
    # Arrays in a layout
    ("x = np.arange(15, dtype=np.float32).reshape(3, 5)", None),
    ("T = tesela.pack(x, L)", None),
    ("np.asarray(T)", lambda value: value.tolist() == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10, 11, 12, 13, 14]]),
    ("T[2, 3], T.layout is L", (13.0, True)),
    ("T.physical", lambda value: value.tolist()[:8] == [0, 1, 5, 6, 2, 3, 7, 8] and value.shape == (24,)),
    ("np.asarray(T, copy=False)", ValueError("a copy is needed: f32[3,5]{1,0:T(2,2)} is not a strided array")),
    # Copies
    ('src, src_layout, dst_layout = x, "f32[3,5]", "f32[3,5]{1,0:T(2,2)}"', None),
    (
        "tesela.relayout(src, src_layout, dst_layout, out=None, threads=None, progress=None)",
        lambda value: value.tolist()[:8] == [0, 1, 5, 6, 2, 3, 7, 8],
    ),
    ("y = np.empty(24, np.float32); p = tesela.plan(src_layout, dst_layout); p(x, out=y) is y", True),
    ("print(p.explain())", None),
    # Reports
    ('r = tesela.report("train.log")', None),
    ("repr(r)", "Report(stored=23.25 GiB, padding=20.56 GiB (88%), arrays=4, capacity=15.75 GiB)"),
    ("r._repr_html_()", text("<table")),
    ('tesela.report(open("train.log")) == r or repr(tesela.report(open("train.log"))) == repr(r)', True),
    ('import pathlib; repr(tesela.report(pathlib.Path("train.log"))) == repr(r)', True),
    ('repr(tesela.report(open("train.log").read())) == repr(r)', True),
    ("a = r.top(1)[0]; a.shape, round(a.expansion, 1)", lambda value: tuple(value[0]) == (30000000, 12) and value[1] == 10.7),
    ("a.source", None),
    ("a.advice[0].text, a.advice[0].bytes", ("s32[360000000]{0:T(1024)}", -(-360000000 // 1024) * 4096)),
    ("r.assert_waste(max=0.10)", AssertionError()),
    ("before = after = r; tesela.diff(before, after)", None),
    # Files
    ('f = tesela.safe_open("model.safetensors")', None),
    ('list(f.keys()), f["w"].layout', lambda value: value[0] == ["w"] and value[1].shape == (2048, 16)),
    ('f.get_tensor("w")', lambda value: value.shape == (2048, 16) and value[1, 2] == 18),
    ('f.get_slice("w")[0:1024, :]', lambda value: value.shape == (1024, 16) and value[1, 2] == 18),
    ('f.get_physical("w")', lambda value: value.nbytes == 2048 * 16 * 4),
    (
        'tesela.pack_file("model.safetensors", "tpu.safetensors", {"w": "{1,0:T(8,128)}"}, verify=True, resume=True, progress=True)',
        None,
    ),
    # Registers
    ('A = tesela.layout("mma.m16n8k16.f16.A")', None),
    ("A.where(3, 5)", lambda value: value == tesela_holder(14, 1)),
    ("A.what(thread=13, register=2)", (11, 2)),
    ('B = A * "local(1,2)"; B.shape', (16, 32)),
    ('B / "local(1,2)" == A', True),
    ("A.threads", 32),
    ('tesela.access(A, "shared_row_major(16,16)", dtype="f16").conflicts', None),
    ('L1, L2 = "spatial(8,4).local(1,2)", "local(1,2).spatial(8,4)"', None),
    ('tesela.convert(L1, L2, dtype="f16").cuda("fix")', text("fix")),
    # Devices
    ('D = tesela.device_layout((1000, 200), "f16", dim_order=[0, 1], target="spyre")', None),
    ("list(D.device_size), list(D.stride_map)", ([4, 1000, 64], [64, 200, 1])),
    ("D.nbytes", 4 * 1000 * 64 * 2),
    ("D.nests()", None),
    ("D.view((200, 1000), (1, 200)).first_offsets[:3]", (0, 64, 128)),
    # Graphs
    ("hlo_text_or_json = GRAPH; g = tesela.graph(hlo_text_or_json)", None),
    ("g.assign().moves", None),
    ("g.plan().peak", lambda value: value > 0),  # z, which only y reads
    ('g.run({"x": np.ones((4, 70), np.float16)})["y"]', lambda value: np.array_equal(np.asarray(value), np.full((4, 70), -2, np.float16))),
    # Failures
    ('tesela.layout("f32[3,5]{1,0:T(2,x)}")', ValueError("expected")),
    ("tesela.LayoutSyntaxError.__mro__[1:3] == (tesela.LayoutError, ValueError)", True),
    ("[issubclass(one, tesela.LayoutError) for one in (tesela.MismatchError, tesela.UnsupportedError, tesela.NotExpressible, tesela.LimitError)]", [True] * 4),
]


def tesela_holder(thread, register):
    import tesela

    return tesela.Holder(thread=thread, register=register)


# Lines that need a notation that is not read yet, or advice that is not given yet; and why.
PENDING: dict[str, str] = {}
