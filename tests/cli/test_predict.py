# SPDX-License-Identifier: Apache-2.0
"""predict: the arguments and results of programs before they are compiled, beside what the compiler says after.

tests/data/predict has programs and the compiler's figures (tools/tpu.sh --write).
"""

import pytest
from command import SOURCE, ask, error, good

DATA = SOURCE / "tests/data/predict"
ROWS = [line.split("\t") for line in (DATA / "figures.tsv").read_text().splitlines() if not line.startswith("#")]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_the_compilers_figures(row):
    name, target, *figures = row
    answer = good({"op": "predict", "text": (DATA / name).read_text(), "target": target})
    keys = ("argument", "host_argument", "output", "host_output", "aliased")
    for key, figure in zip(keys, figures, strict=True):
        if figure != "-":
            assert (key, answer[f"{key}_bytes"]) == (key, int(figure))
    assert answer["unknown_results"] == 0
    for side, host in (("arguments", "host_argument_bytes"), ("results", "host_output_bytes")):
        assert sum(a["bytes"] for a in answer[side] if a["memory"] == "host") == answer[host]


def test_the_data_is_varied():
    texts = [(DATA / row[0]).read_text() for row in ROWS]
    for word in ("sdy.sharding = #sdy.sharding<@mesh", "mhlo.sharding = ", "pinned_host", "mhlo.layout_mode = ", "jax.buffer_donor",
                 "tf.aliasing_output", "HloModule", "last_tile_dim_replicate"):  # fmt: skip
        assert any(word in text for text in texts), word
    assert {row[1] for row in ROWS} == {"v2", "v5e", "tpu7x"}


# ---- what the text says ----


def program(arguments, results="tensor<f32>", body="", head="module {"):
    return f"{head}\n  func.func public @main({arguments}) -> ({results}) {{\n    {body}\n  }}\n}}\n"


def predicted(*given, **more):
    return good({"op": "predict", "text": program(*given, **more), "target": "v5e"})


MESH = 'module @m attributes {mhlo.num_partitions = 8 : i32} {\n  sdy.mesh @mesh = <["x"=2, "y"=4]>'


@pytest.mark.parametrize(
    "sharding, layout",
    [
        ('[{"x"}, {"y"}]', "f32[500,2]{0,1:T(2,128)}"),
        ('[{}, {"y", "x"}]', "f32[1000,1]{0,1:T(1,128)}"),
        ('[{"y":(2)2}, {}]', "f32[500,8]{0,1:T(8,128)}"),
        ('[{"x"}p1, {}], replicated={"y"}', "f32[500,8]{0,1:T(8,128)}"),
        ("[{}, {}]", "f32[1000,8]{0,1:T(8,128)}"),
    ],
)
def test_shardy(sharding, layout):
    answer = predicted(f"%arg0: tensor<1000x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, {sharding}>}}", head=MESH)
    assert answer["arguments"][0]["layout"] == layout and answer["devices"] == 8


@pytest.mark.parametrize(
    "sharding, layout",
    [
        ("{devices=[2,4]<=[8]}", "f32[500,2]{0,1:T(2,128)}"),
        ("{devices=[2,1,4]<=[8] last_tile_dim_replicate}", "f32[500,8]{0,1:T(8,128)}"),
        ("{devices=[1,2,2,2]<=[8] last_tile_dims={manual, replicated}}", "f32[1000,4]{0,1:T(4,128)}"),
        ("{devices=[8,1]0,1,2,3,4,5,6,7}", "f32[125,8]{0,1:T(8,128)}"),
        ("{devices=[3,1]<=[3]}", "f32[334,8]{0,1:T(8,128)}"),
        ("{replicated}", "f32[1000,8]{0,1:T(8,128)}"),
        ("{maximal device=3}", "f32[1000,8]{0,1:T(8,128)}"),
        ("{manual}", "f32[1000,8]{0,1:T(8,128)}"),
    ],
)
def test_shardings_of_hlo(sharding, layout):
    assert predicted(f'%arg0: tensor<1000x8xf32> {{mhlo.sharding = "{sharding}"}}')["arguments"][0]["layout"] == layout


def test_types():
    names = {"i1": "pred", "i4": "s4", "ui8": "u8", "f8E4M3FN": "f8e4m3fn", "bf16": "bf16", "complex<f32>": "c64", "i64": "s64"}
    answer = predicted(", ".join(f"%arg{i}: tensor<3x{name}>" for i, name in enumerate(names)))
    assert [a["shape"] for a in answer["arguments"]] == [f"{name}[3]" for name in names.values()]


def test_used_and_names():
    body = "%0 = stablehlo.add %arg1, %arg1 : tensor<f32>\n    return %arg3 : tensor<f32>"
    answer = predicted(", ".join(f"%arg{i}: tensor<f32>" for i in range(4)), body=body)
    assert [a["used"] for a in answer["arguments"]] == [False, True, False, True]
    assert [a["name"] for a in answer["arguments"]] == ["%arg0", "%arg1", "%arg2", "%arg3"]
    answer = predicted('%arg0: tensor<f32> loc("x"(#loc1))', 'tensor<f32> {jax.result_info = "result[0]"}', body='return "%arg0"')
    assert not answer["arguments"][0]["used"] and answer["results"][0]["name"] == "result[0]"


def test_one_result_without_parentheses():
    text = "func.func @main(%arg0: tensor<f32>) -> tensor<8xf32> { return %arg0 : tensor<f32> }"
    answer = good({"op": "predict", "text": text, "target": "v5e"})
    assert [a["used"] for a in answer["arguments"]] == [True] and answer["output_bytes"] == 512
    assert good({"op": "predict", "text": "func.func @main() { return }", "target": "v2"})["output_bytes"] == 0


def test_table_of_results():
    for n, sizes in ((1, (0, 0, 0)), (2, (1024, 512, 32)), (9, (1024, 512, 64)), (300, (2048, 1536, 1216))):
        text = program("", ", ".join(["tensor<f32>"] * n))
        for target, size in zip(("v3", "v4", "v6e"), sizes, strict=True):
            assert good({"op": "predict", "text": text, "target": target})["table_bytes"] == size


HLO = """HloModule m, entry_computation_layout={(f32[100,7]{1,0}, /*index=1*/s8[64,256]{1,0:T(8,128)(4,1)})->(f32[100,7]{0,1}, s8[])}

ENTRY main {
  b = s8[64,256]{1,0} parameter(1)
  a = f32[100,7]{1,0} parameter(0), metadata={op_name="b"}
  z = s8[] constant(1)
  s = f32[100,7]{1,0} add(a, f32[100,7]{1,0} %a), metadata={op_name="b"}
  ROOT t = (f32[100,7]{1,0}, s8[]) tuple(s, z)
}
"""


def test_hlo():
    answer = good({"op": "predict", "text": HLO, "target": "v5e"})
    assert [(a["name"], a["layout"], a["used"]) for a in answer["arguments"]] == [
        ("a", "f32[100,7]{0,1:T(8,128)}", True), ("b", "s8[64,256]{1,0:T(8,128)(4,1)}", False),
    ]  # fmt: skip
    assert answer["argument_bytes"] == 8 * 128 * 4 + 64 * 256
    assert answer["output_bytes"] == 8 * 128 * 4 + 512 + 512


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("(f32[100,7]", "((f32[100,7])", "argument 0: a tuple"),
        ("(f32[100,7]", "(f32[<=100,7]", "argument 0: a dynamic dim"),
        ("parameter(1)", "parameter(0)", "the number of an argument, each once"),
        ("parameter(1)", "iota()", "argument 1: the entry computation has no such parameter"),
        ("parameter(1)", "parameter(1), sharding={unknown}", "argument 1 (b): a sharding other than"),
        ("parameter(1)", "parameter(1), sharding={devices=[4]<=[4]}", "argument 1 (b): a sharding of another rank"),
        ("parameter(1)", "parameter(1), sharding={devices=[4,1]<=[4]}", "argument 0 (a): no sharding in a program for several devices"),
        ("ROOT t", "t", "expected a ROOT"),
        ("ENTRY", "EXIT", "expected an entry computation"),
        ("entry_computation_layout", "layout", "expected entry_computation_layout"),
        ("HloModule m,", 'HloModule m, frontend_attributes={arg_layout_modes="default;auto"},', "argument 1: a layout left to the compiler"),
        ("constant(1)", 'custom-call(), custom_call_target="annotate_device_placement"', "StableHLO"),
    ],
)
def test_hlo_refused(old, new, words):
    answer = error({"op": "predict", "text": HLO.replace(old, new), "target": "v5e"})
    assert words in answer["message"]


@pytest.mark.parametrize(
    "argument, words",
    [
        ("tensor<?xf32>", "argument 1 (%arg1): a dim that is not known before the program runs"),
        ("tensor<4x8xf32, #enc>", "an encoding"),
        ("tensor<4x!quant.uniform<i8:f32, 1.0>>", "argument 1 (%arg1)"),
        ("tuple<tensor<f32>>", "its type is not a tensor"),
        ("tensor<4xi3>", "a type or dims that XLA does not have"),
        ("tensor<4xi1> {mhlo.memory_kind = \"disk\"}", "a memory kind other than"),
        ('tensor<4xf32> {mhlo.layout_mode = "auto"}', "a layout left to the compiler"),
        ('tensor<4xf32> {mhlo.layout_mode = "{1,0}"}', "a layout mode that cannot be read"),
        ('tensor<4xf32> {mhlo.sharding = "{{replicated}, {replicated}}"}', "a sharding other than"),
        ('tensor<4xf32> {mhlo.sharding = "{devices=[2,2]<=[4]}"}', "a sharding of another rank"),
        ('tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}', "a sharding that the compiler may divide further"),
        ('tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}]>}', "an axis that its mesh does not have"),
        ('tensor<4xf32> {sdy.sharding = #sdy.sharding<@other, [{}]>}', "a mesh that the text does not have"),
        ("tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>, tf.aliasing_output = 1 : i32}", "a result that the program does not have"),
        ("tensor<4xf32>", "no sharding in a program for several devices"),
    ],
)  # fmt: skip
def test_stablehlo_refused(argument, words):
    answer = error({"op": "predict", "text": program(f"%arg0: tensor<f32>, %arg1: {argument}", head=MESH), "target": "v5e"})
    assert words in answer["message"] and "argument 1 (%arg1)" in answer["message"]


@pytest.mark.parametrize("text", ["", "module {}", "func.func public @main(", "func.func public @main(%arg0", "HloModule", "HloModule x"])
def test_no_program(text):
    assert error({"op": "predict", "text": text, "target": "v5e"})["code"] == "SYNTAX"


def test_every_beginning_of_a_program_is_refused():
    stablehlo = (DATA / ROWS[0][0]).read_text()
    for text in (stablehlo, HLO):
        whole = good({"op": "predict", "text": text, "target": "v2"})
        cuts = range(0, len(text.rstrip()) - 1, max(1, len(text) // 400))
        answers = ask(*({"op": "predict", "text": text[:cut], "target": "v2"} for cut in cuts))
        for answer in answers:
            assert not answer["ok"] or {**answer, "id": None} == {**whole, "ok": True, "id": None}
        assert sum(answer["ok"] for answer in answers) <= 1


def test_result_left_to_the_compiler():
    argument = "%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}"
    answer = predicted(argument, "tensor<4xf32>, tensor<f32>", head=MESH)
    assert [("layout" in r, "unknown" in r) for r in answer["results"]] == [(False, True), (True, False)]
    assert answer["unknown_results"] == 1 and answer["output_bytes"] == 512 + 512
