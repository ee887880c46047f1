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


def test_the_check_reads_declarations():
    text = "TESELA_API int tesela_a(int x);\nTESELA_API const char *const *\ntesela_b (void);\n// TESELA_API int tesela_c(void);"
    assert declared(text) == {"tesela_a", "tesela_b"}
