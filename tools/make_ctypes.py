#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write python/tesela/_abi.py: the functions and structs of the C headers that the Python package uses, for ctypes.

    build/venv/bin/python tools/make_ctypes.py            writes the file
    build/venv/bin/python tools/make_ctypes.py --check    exit status 1 if it differs

The headers are the only source: a function is declared because a module of the package calls lib.tesela_..., a struct because a
module or another struct names it. Pointers are void *: what they point to is checked by the caller's types, not by ctypes.
tests/python/test_abi.py compares sizes and offsets with those of the C compiler.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

from pycparser import c_ast, c_parser

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "tesela"
OUTPUT = PACKAGE / "_abi.py"

NUMBERS = {
    "int8_t": "c_int8", "uint8_t": "c_uint8", "int16_t": "c_int16", "uint16_t": "c_uint16",
    "int32_t": "c_int32", "uint32_t": "c_uint32", "int64_t": "c_int64", "uint64_t": "c_uint64",
    "size_t": "c_size_t", "bool": "c_bool", "char": "c_char", "int": "c_int", "double": "c_double",
}  # fmt: skip

STUBS = {
    "stdbool.h": "typedef int bool;\n#define true 1\n#define false 0\n",
    "stddef.h": "typedef unsigned long size_t;\n#define NULL 0\n",
    "stdint.h": "".join(
        f"typedef int {name};\n" for name in NUMBERS if name.endswith("_t") and name != "size_t"
    )
    + "#define INT64_MAX 9223372036854775807\n#define INT64_MIN (-9223372036854775807 - 1)\n#define INT32_MAX 2147483647\n",
    "stdarg.h": "typedef int va_list;\n",
    "inttypes.h": "",
    "string.h": "",
}


def preprocessed() -> str:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in STUBS.items():
            pathlib.Path(folder, name).write_text(text)
        source = "".join(
            f"#include <tesela/{path.name}>\n" for path in sorted((ROOT / "include/tesela").glob("*.h"))
        )
        return subprocess.run(
            ["cc", "-E", "-P", "-nostdinc", "-D__attribute__(x)=", "-I", folder, "-I", ROOT / "include", "-"],
            input=source, text=True, capture_output=True, check=True,
        ).stdout  # fmt: skip


class Headers:
    def __init__(self) -> None:
        self.typedefs: dict[str, c_ast.Node] = {}
        self.records: dict[str, c_ast.Node] = {}
        self.functions: dict[str, c_ast.FuncDecl] = {}
        self.constants: dict[str, int] = {}
        for node in c_parser.CParser().parse(preprocessed()).ext:
            if isinstance(node, c_ast.Typedef):
                self.typedefs[node.name] = node.type
                self.note(node.type)
            elif isinstance(node, c_ast.Decl):
                if isinstance(node.type, c_ast.FuncDecl):
                    self.functions[node.name] = node.type
                self.note(node.type)

    def note(self, node: c_ast.Node) -> None:
        """Keep the constants of enums and the bodies of structs."""
        if isinstance(node, c_ast.TypeDecl):
            node = node.type
        if isinstance(node, c_ast.Enum) and node.values:
            value = -1
            for entry in node.values.enumerators:
                value = self.number(entry.value) if entry.value else value + 1
                self.constants[entry.name] = value
        if isinstance(node, (c_ast.Struct, c_ast.Union)) and node.decls and node.name:
            self.records[node.name] = node

    def number(self, node: c_ast.Node) -> int:
        if isinstance(node, c_ast.Constant):
            return int(node.value, 0)
        if isinstance(node, c_ast.ID):
            return self.constants[node.name]
        if isinstance(node, c_ast.UnaryOp) and node.op == "-":
            return -self.number(node.expr)
        if isinstance(node, c_ast.BinaryOp):
            left, right = self.number(node.left), self.number(node.right)
            return {"+": left + right, "-": left - right, "*": left * right, "/": left // right,
                    "<<": left << right, "|": left | right}[node.op]  # fmt: skip
        raise ValueError(f"expected a number, found {node}")

    def kind(self, node: c_ast.Node, needs: list[str]) -> str:
        """The ctypes name of a type; structs that it contains are appended to `needs`."""
        if isinstance(node, c_ast.PtrDecl):
            target = node.type
            text = isinstance(target, c_ast.TypeDecl) and isinstance(target.type, c_ast.IdentifierType)
            if text and target.type.names == ["char"] and "const" in target.quals:
                return "c_char_p"
            return "c_void_p"
        if isinstance(node, c_ast.ArrayDecl):
            return f"{self.kind(node.type, needs)} * {self.number(node.dim)}"
        if isinstance(node, c_ast.TypeDecl):
            return self.kind(node.type, needs)
        if isinstance(node, c_ast.Enum):
            return "c_int"
        if isinstance(node, c_ast.IdentifierType):
            name = node.names[-1]
            if name in NUMBERS:
                return NUMBERS[name]
            if name == "void":
                return "None"
            return self.kind(self.typedefs[name], needs)
        if isinstance(node, (c_ast.Struct, c_ast.Union)) and node.name:
            needs.append(node.name)
            return node.name
        raise ValueError(f"expected a type, found {node}")

    def members(self, node: c_ast.Node, owner: str, done: dict[str, str]) -> list[str]:
        lines = []
        for member in node.decls:
            inner = member.type.type if isinstance(member.type, c_ast.TypeDecl) else None
            if isinstance(member.type, (c_ast.Struct, c_ast.Union)):  # its members are those of the owner
                inner, member.name = member.type, "members"
            array = member.type if isinstance(member.type, c_ast.ArrayDecl) else None
            while array and isinstance(array.type, c_ast.ArrayDecl):
                array = array.type
            if array and isinstance(array.type, c_ast.TypeDecl):
                inner = array.type.type
            if isinstance(inner, (c_ast.Struct, c_ast.Union)) and not inner.name:
                name = f"{owner}__{member.name}"
                self.add(name, inner, done)
                kind = f"{name} * {self.number(member.type.dim)}" if array else name
            else:
                needs: list[str] = []
                kind = self.kind(member.type, needs)
                for need in needs:
                    self.add(need, self.records[need], done)
            lines.append(f'    ("{member.name}", {kind}),')
        return lines

    def add(self, name: str, node: c_ast.Node, done: dict[str, str]) -> None:
        if name in done:
            return
        lines = self.members(node, name, done)
        anonymous = '  _anonymous_ = ("members",)' if any('"members"' in line for line in lines) else "  pass"
        base = "Union" if isinstance(node, c_ast.Union) else "Structure"
        done[name] = "\n".join(
            [f"class {name}({base}):", anonymous, "", "", f"{name}._fields_ = [", *lines, "]"]
        )


def generate() -> str:
    headers = Headers()
    used = "\n".join(
        path.read_text() for path in sorted(PACKAGE.glob("**/*.py")) if path.name != OUTPUT.name
    )
    structs: dict[str, str] = {}
    for name in sorted(set(re.findall(r"\babi\.(tesela_\w+)", used))):
        if name not in headers.records:
            raise SystemExit(f"the headers have no struct {name}")
        headers.add(name, headers.records[name], structs)
    functions = []
    for name in sorted(set(re.findall(r"\b(?:lib\.|quick\(\")(tesela_\w+)", used))):
        node = headers.functions.get(name)
        if node is None:
            raise SystemExit(f"the headers have no function {name}")
        needs: list[str] = []
        result = headers.kind(node.type, needs)
        arguments = [headers.kind(one.type, needs) for one in node.args.params]
        if arguments == ["None"]:
            arguments = []
        for need in needs:
            headers.add(need, headers.records[need], structs)
        functions.append(f'    "{name}": ({result}, [{", ".join(arguments)}]),')
    constants = []
    for name in sorted(set(re.findall(r"\babi\.(TESELA_[A-Z]\w+)", used))):
        if name not in headers.constants:
            raise SystemExit(f"the headers have no constant {name}")
        constants.append(f"{name} = {headers.constants[name]}")
    tables = [
        f'{name} = {{\n' + "".join(f'    {value}: "{text}",\n' for value, text in table(prefix)) + "}"
        for name, prefix in (("STATUS", "STATUS"), ("REASON", "REASON"), ("DTYPE", "DTYPE"))
    ]
    body = "\n\n".join([*structs.values()])
    names = sorted({word for word in re.findall(r"\bc_\w+", body + "".join(functions))})
    return (
        "# SPDX-License-Identifier: Apache-2.0\n"
        '"""The C headers for ctypes. Written by tools/make_ctypes.py; do not edit."""\n\n'
        "# mypy: ignore-errors\n"
        f"from ctypes import {', '.join(['Structure', 'Union', *names])}\n\n"
        + "\n".join(constants) + "\n\n" + "\n\n".join(tables) + "\n\n\n" + body
        + "\n\n# name: result, arguments\nFUNCTIONS = {\n" + "\n".join(functions) + "\n}\n"
    )  # fmt: skip


def table(which: str) -> list[tuple[int, str]]:
    """The rows of an X macro: its number and its text."""
    text = "".join(path.read_text() for path in sorted((ROOT / "include/tesela").glob("*.h")))
    body = re.search(rf"#define TESELA_{which}_MAP\(X\)(.*?)\n(?!  X|    )", text, re.S)
    assert body
    return [(int(a), b) for a, b in re.findall(r'X\(\w+, (-?\d+), "([^"]*)"', body.group(1))]


def main() -> int:
    new = generate()
    if sys.argv[1:] == ["--check"]:
        if OUTPUT.read_text() != new:
            print(f"{OUTPUT.relative_to(ROOT)} differs from the headers; run tools/make_ctypes.py", file=sys.stderr)
            return 1
        return 0
    OUTPUT.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
