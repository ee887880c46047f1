# SPDX-License-Identifier: Apache-2.0
"""How elements are shown and read: `cmp` prints them, `relayout --fill` reads them."""

import pytest
from command import run
from plan_verb import Array, as_json

SHOWN = [  # type, bits, as a number; from the definition of each type
    ("f32", 0x3F800000, "1"), ("f32", 0xFF800000, "-inf"), ("f32", 0x7FC00001, "nan"), ("f32", 0x3DCCCCCD, "0.1"),
    ("f32", 0x00000001, "1.4013e-45"), ("f64", 0x3FB999999999999A, "0.1"), ("bf16", 0xBFC0, "-1.5"), ("f16", 0x0001, "5.9604645e-08"),
    ("f16", 0x7BFF, "65504"), ("f8e5m2", 0x7B, "57344"), ("f8e4m3fn", 0x7E, "448"), ("f8e4m3fn", 0x7F, "nan"),
    ("f8e4m3", 0x78, "inf"), ("f8e4m3fnuz", 0x80, "nan"), ("f8e4m3fnuz", 0x7F, "240"), ("f8e5m2fnuz", 0x7F, "57344"),
    ("f8e4m3b11fnuz", 0x7F, "30"), ("f8e3m4", 0x6F, "15.5"), ("f8e8m0fnu", 0x80, "2"), ("f8e8m0fnu", 0xFF, "nan"),
    ("f4e2m1fn", 0x07, "6"), ("f4e2m1fn", 0x09, "-0.5"), ("f6e3m2fn", 0x1F, "28"), ("f6e2m3fn", 0x1F, "7.5"),
    ("s8", 0x80, "-128"), ("s4", 0x08, "-8"), ("u4", 0x0F, "15"), ("s64", 1 << 63, "-9223372036854775808"),
    ("u64", (1 << 64) - 1, "18446744073709551615"), ("pred", 1, "true"), ("pred", 0, "false"),
    ("c64", 0xBF8000003FC00000, "1.5-1j"), ("c128", 0x3FF0000000000000 << 64 | 0xC000000000000000, "-2+1j"),
]  # fmt: skip


@pytest.mark.parametrize("dtype, bits, number", SHOWN)
def test_how_a_value_is_shown(dtype, bits, number, tmp_path):
    a = Array(dtype, (1,))
    (tmp_path / "x").write_bytes(bits.to_bytes(a.bytes, "little"))
    (tmp_path / "y").write_bytes((bits ^ 1).to_bytes(a.bytes, "little"))
    answer = as_json("cmp", tmp_path / "x", tmp_path / "y", f"--layout={a.text()}", status=1)
    assert answer["first_difference"]["a"] == {"place": 0, "bits": f"0x{bits:0{a.bits // 4}x}", "value": number}


def filled(dtype, text, E=0):
    """The bits of an element of padding, as relayout writes it; None if the text is refused."""
    a = Array(dtype, (1,), E=E)
    process = run("relayout", "-", "--from", a.text(), "--to", f"{{0:T(8){f'E({E})' if E else ''}}}",
                  f"--fill={text}", text=bytes(a.bytes))  # fmt: skip
    if process.returncode:
        assert (process.returncode, process.stdout) == (2, b"")
        return None
    return int.from_bytes(process.stdout, "little") >> 7 * a.bits


@pytest.mark.parametrize("dtype, bits, number", [row for row in SHOWN if "j" not in row[2]])
def test_how_a_value_is_read(dtype, bits, number):
    if number != "nan":
        assert filled(dtype, number) & (1 << Array(dtype, (1,)).bits) - 1 & (15 if dtype == "s4" else -1) == bits
    assert filled(dtype, hex(bits)) == bits


@pytest.mark.parametrize(
    "dtype, text, bits",
    [
        ("bf16", "1.00390625", 0x3F80), ("bf16", "1.01171875", 0x3F82), ("f16", "65505", None), ("f16", "inf", 0x7C00),
        ("f16", "70000", None), ("f16", "1e999", None), ("f8e4m3fn", "1000", None), ("f8e4m3fn", "inf", None),
        ("f8e4m3fn", "1.06", 0x38), ("f4e2m1fn", "nan", None), ("f8e8m0fnu", "3", None), ("f8e8m0fnu", "0", None),
        ("f32", "1e39", None), ("f32", "-0", 1 << 31), ("s8", "128", None), ("s8", "-129", None), ("s8", "-1", 255),
        ("u8", "-1", None), ("u8", "1.0", None), ("s4", "7", 7), ("s4", "8", None), ("u64", "18446744073709551616", None),
        ("pred", "true", 1), ("pred", "2", None), ("u8", "0x100", None), ("u8", "0x0ff", 255), ("u8", "0xfg", None),
        ("c64", "2", 0x40000000), ("u8", " 1", None), ("f32", " 1", None),
    ],
)  # fmt: skip
def test_values_at_the_edges(dtype, text, bits):
    assert filled(dtype, text) == bits


def test_small_elements_are_read():
    assert filled("s4", "-8", 4) == 8 and filled("s4", "-1", 4) == 15 and filled("s4", "0xf", 4) == 15
    assert filled("s4", "0x10", 4) is None and filled("pred", "true", 1) == 1 and filled("pred", "0x2", 1) is None
