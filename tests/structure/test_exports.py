# SPDX-License-Identifier: Apache-2.0
"""Every function a public header declares is in the list of exported symbols, and nothing else is."""

import os
import re
from pathlib import Path

SOURCE = Path(os.environ.get("TESELA_SOURCE", Path(__file__).resolve().parents[2]))


def declared(text):
    """The functions declared with TESELA_API in a header."""
    code = re.sub(r"/\*.*?\*/", "", re.sub(r"//[^\n]*", "", text), flags=re.S)
    return set(re.findall(r"^TESELA_API\b[^;({]*?\b(tesela_\w+)\s*\(", code, flags=re.M))


def test_declared_functions_are_the_exported_ones():
    headers = sorted((SOURCE / "include" / "tesela").glob("*.h"))
    functions = set().union(*(declared(header.read_text()) for header in headers))
    exported = set((SOURCE / "abi" / "tesela.symbols").read_text().split())
    assert functions - exported == set(), "declared but not exported"
    assert exported - functions == set(), "exported but in no public header"


def test_the_check_reads_declarations():
    text = "TESELA_API int tesela_a(int x);\nTESELA_API const char *const *\ntesela_b (void);\n// TESELA_API int tesela_c(void);"
    assert declared(text) == {"tesela_a", "tesela_b"}
