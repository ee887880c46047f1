# SPDX-License-Identifier: Apache-2.0
"""Every function a public header declares is in the list of exported symbols, and nothing else is."""

import os
import re
from pathlib import Path

import pytest

SOURCE = Path(os.environ.get("TESELA_SOURCE", Path(__file__).resolve().parents[2]))


def declared(text):
    """The functions declared with TESELA_API in a header."""
    code = re.sub(r"/\*.*?\*/", "", re.sub(r"//[^\n]*", "", text), flags=re.S)
    return set(re.findall(r"^TESELA_API\b[^;({]*?\b(tesela_\w+)\s*\(", code, flags=re.M))


@pytest.mark.parametrize("library", ["tesela", "tesela_ops"])
def test_declared_functions_are_the_exported_ones(library):
    headers = sorted((SOURCE / "include" / "tesela").glob("*.h"))
    mine = [header for header in headers if (header.stem == "ops") == (library == "tesela_ops")]
    functions = set().union(*(declared(header.read_text()) for header in mine))
    exported = set((SOURCE / "abi" / f"{library}.symbols").read_text().split())
    assert functions - exported == set(), "declared but not exported"
    assert exported - functions == set(), "exported but in no public header"


def idle(functions, texts):
    """The functions without use: no file outside of their own folder calls them, no inline function, no page teaches them."""
    homes = {}
    for path, text in texts.items():
        if path.parts[0] == "src" and path.suffix == ".c":
            for name in re.findall(r"^[A-Za-z][^;{}()=]*?\b(tesela_\w+)\([^;{]*\)\s*\{", text, re.M):
                homes.setdefault(name, path.parent)
    used = set()
    for path, text in texts.items():
        if path.parts[0] == "include":
            text = "".join(re.findall(r"^static inline.*?^}", text, re.M | re.S))
        used |= {name for name in set(re.findall(r"\btesela_\w+", text)) if homes.get(name) != path.parent}
    return functions - used


def test_every_function_is_called_or_taught():
    folders = [("include", "*.h"), ("src", "*.c"), ("docs", "*.md")]
    folders += [(folder, "*.c") for folder in ("cli", "ops", "bench", "examples", "fuzz")]
    texts = {
        path.relative_to(SOURCE): path.read_text() for folder, kind in folders for path in (SOURCE / folder).rglob(kind)
    }
    texts[Path("README.md")] = (SOURCE / "README.md").read_text()
    exported = set((SOURCE / "abi" / "tesela.symbols").read_text().split())
    assert idle(exported, texts) == set(), "say what it is for in docs/, or do not export it"


def test_an_idle_function_is_found():
    own = {Path("src/a/a.c"): "int tesela_a(int x) { return 0; }\n", Path("src/a/b.c"): "int c(void) { return tesela_a(1); }\n"}
    assert idle({"tesela_a"}, own) == {"tesela_a"}
    assert idle({"tesela_a"}, own | {Path("src/b/b.c"): "int d(void) { return tesela_a(1); }\n"}) == set()
    assert idle({"tesela_a"}, own | {Path("include/tesela/a.h"): "int tesela_a(int x);\n"}) == {"tesela_a"}


def test_the_check_reads_declarations():
    text = "TESELA_API int tesela_a(int x);\nTESELA_API const char *const *\ntesela_b (void);\n// TESELA_API int tesela_c(void);"
    assert declared(text) == {"tesela_a", "tesela_b"}
