# SPDX-License-Identifier: Apache-2.0
"""tesela/_abi.py against the headers as a compiler reads them: each struct, each field, each argument; and what the library exports."""

import ctypes
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import tesela
from tesela import _abi, _library

SOURCE = Path(os.environ.get("TESELA_SOURCE") or Path(__file__).resolve().parents[2])

PROGRAM = r"""
#include <tesela/tesela.h>
#include <tesela/ops.h>
#include <cstddef>
#include <cstdio>
#include <type_traits>

template <class T> void type_() {
  using D = std::decay_t<T>;
  if constexpr (std::is_void_v<T>) std::printf(" v0");
  else std::printf(" %c%zu", std::is_pointer_v<D> ? 'p' : std::is_same_v<D, bool> ? 'b' : std::is_floating_point_v<D> ? 'f'
                           : std::is_enum_v<D> || std::is_signed_v<D> ? 'i' : std::is_unsigned_v<D> ? 'u' : 's', sizeof(D));
}
template <class R, class... A> void function(const char *name, R (*)(A...)) {
  std::printf("%s", name);
  type_<R>();
  (type_<A>(), ...);
  std::printf("\n");
}
#define STRUCT(name, type) std::printf("%s %zu\n", name, sizeof(type));
#define FIELD(name, type, path) std::printf("%s %zu %zu\n", name, offsetof(type, path), sizeof(((type *)0)->path));
int main() {
%s
}
"""


def kind(one):
    """A ctypes type as the program prints one."""
    if one is None:
        return "v0"
    if one in (ctypes.c_void_p, ctypes.c_char_p) or issubclass(one, ctypes.Array):  # an array as an argument is a pointer
        return f"p{ctypes.sizeof(ctypes.c_void_p)}"
    if issubclass(one, (ctypes.Structure, ctypes.Union)):
        return f"s{ctypes.sizeof(one)}"
    letter = "b" if one is ctypes.c_bool else "f" if one in (ctypes.c_float, ctypes.c_double) else "i" if one(-1).value < 0 else "u"
    return f"{letter}{ctypes.sizeof(one)}"


def records():
    """name -> (class, C++ name of its type) for each struct and union of _abi."""
    found = {}
    for name, one in vars(_abi).items():
        if isinstance(one, type) and issubclass(one, (ctypes.Structure, ctypes.Union)) and name.startswith("tesela_"):
            owner, _, member = name.partition("__")
            found[name] = one, f"std::remove_all_extents_t<decltype({owner}::{member})>" if member else owner
    return found


def fields(record, offset=0):
    """(name, offset, size) of each field, those of a nameless union as the owner's."""
    anonymous = getattr(record, "_anonymous_", ())
    for name, one in record._fields_:
        at = offset + getattr(record, name).offset
        if name in anonymous:
            yield from fields(one, at)
        else:
            yield name, at, ctypes.sizeof(one)


def compiled(tmp_path, body):
    source, program = tmp_path / "abi.cc", tmp_path / "abi"
    source.write_text(PROGRAM.replace("%s\n}", body + "\n}"))
    compiler = shlex.split(os.environ.get("CXX") or "c++")
    subprocess.run([*compiler, "-std=c++17", "-Wno-invalid-offsetof", f"-I{SOURCE / 'include'}", "-c", source, "-o", f"{program}.o"], check=True)
    # The program calls no function of the library, but takes their addresses.
    subprocess.run([*compiler, f"{program}.o", _library.find(), "-o", program], check=True)
    run = subprocess.run([program], check=True, capture_output=True, text=True,
                         env={**os.environ, "LD_LIBRARY_PATH": str(Path(_library.find()).parent)})  # fmt: skip
    return run.stdout.splitlines()


def test_structs_have_the_sizes_and_offsets_of_the_compiler(tmp_path):
    body, expected = [], []
    anonymous = {f"{name}__{part}" for name, (one, _) in records().items() for part in getattr(one, "_anonymous_", ())}
    for name, (record, in_cpp) in records().items():
        if name in anonymous:
            continue  # checked in its owner
        body.append(f'STRUCT("{name}", {in_cpp})' if "<" not in in_cpp else f'std::printf("{name} %zu\\n", sizeof({in_cpp}));')
        expected.append(f"{name} {ctypes.sizeof(record)}")
        body.append(f"{{ using T = {in_cpp};")
        for field, at, size in fields(record):
            body.append(f'FIELD("{name}.{field}", T, {field})')
            expected.append(f"{name}.{field} {at} {size}")
        body.append("}")
    assert len(expected) > 100
    assert compiled(tmp_path, "\n".join(body)) == expected


def test_functions_have_the_arguments_of_the_compiler(tmp_path):
    body = "\n".join(f'function("{name}", {name});' for name in _abi.FUNCTIONS)
    expected = [" ".join([name, *map(kind, [result, *arguments])]) for name, (result, arguments) in _abi.FUNCTIONS.items()]
    assert len(expected) > 20
    assert compiled(tmp_path, body) == expected


def test_a_wrong_declaration_is_found(tmp_path):
    [line] = compiled(tmp_path, 'function("tesela_layout_copies", tesela_layout_copies);')
    assert line == "tesela_layout_copies i8 p8"
    assert kind(ctypes.c_int32) == "i4" and kind(ctypes.c_bool) == "b1" and kind(ctypes.c_uint8 * 16) == "p8"


def test_the_declarations_are_those_of_the_headers():
    subprocess.run([sys.executable, SOURCE / "tools/make_ctypes.py", "--check"], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="nm of ELF files")
def test_the_library_exports_the_public_functions_alone():
    printed = subprocess.run(["nm", "-D", "--defined-only", _library.find()], check=True, capture_output=True, text=True)
    exported = {line.split()[2] for line in printed.stdout.splitlines()}
    listed = set().union(*(set((SOURCE / "abi" / f"{name}.symbols").read_text().split()) for name in ("tesela", "tesela_ops")))
    assert exported == listed


def test_json_texts_are_refused_with_a_reason():
    with pytest.raises(tesela.UnsupportedError, match="built without a JSON reader"):
        tesela.op("graph_plan", text='{"ops": []}')


def test_the_version_is_that_of_the_header():
    text = (SOURCE / "include/tesela/base.h").read_text()
    numbers = [text.split(f"#define TESELA_VERSION_{part} ")[1].split()[0] for part in ("MAJOR", "MINOR", "PATCH")]
    assert tesela.__version__ == ".".join(numbers)
