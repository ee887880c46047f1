# SPDX-License-Identifier: Apache-2.0
"""`tesela tune MODULE.py:FUNCTION`, also `python -m tesela.tune`."""

from __future__ import annotations

import argparse
import importlib.util
import json
import pathlib
import re
import sys
from typing import Any

from . import tune
from ._compile import TOPOLOGIES, Compiler


def function_of(text: str) -> Any:
    """The module and the function that "step.py:step" names."""
    path, _, name = text.rpartition(":")
    if not path or not name or not pathlib.Path(path).exists():
        raise SystemExit(f"tesela tune: error: expected MODULE.py:FUNCTION with a file that exists, found '{text}'")
    sys.path.insert(0, str(pathlib.Path(path).resolve().parent))
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    if not callable(getattr(module, name, None)):
        names = sorted(key for key, value in vars(module).items() if callable(value) and not key.startswith("_"))
        raise SystemExit(f"tesela tune: error: {path} has no function '{name}'; it has {', '.join(names[:20])}")
    return module, getattr(module, name)


def array_of(text: str) -> Any:
    """A ShapeDtypeStruct from "f32[8,3]"."""
    import jax
    import jax.numpy as jnp

    names = {"f": "float", "bf": "bfloat", "s": "int", "u": "uint", "c": "complex", "pred": "bool"}
    found = re.fullmatch(r"(pred|f8e\w+|(?:bf|f|s|u|c)(?=\d))(\d*)\[([0-9, ]*)\]", text.strip())
    if not found:
        raise SystemExit(f"tesela tune: error: expected an array such as f32[8,3], found '{text}'")
    kind, bits, dims = found.groups()
    name = f"float8_{kind[2:]}" if kind.startswith("f8e") else names[kind] + bits
    dtype = getattr(jnp, "bool_" if name == "bool" else name, None)
    if dtype is None:
        raise SystemExit(f"tesela tune: error: unknown element type {kind}{bits} in '{text}'; expected f32, bf16, s32, u8, pred, f8e4m3fn, ..")
    return jax.ShapeDtypeStruct(tuple(int(one) for one in dims.split(",") if one.strip()), dtype)


def arguments_of(module: Any, name: str, texts: list[str] | None) -> list[Any]:
    if texts is not None:
        return [array_of(text) for text in texts]
    make = getattr(module, f"{name}_arguments", None)
    if make is None:
        raise SystemExit(f"tesela tune: error: missing arguments; give --args 'f32[8,3]' ..., or a function {name}_arguments() beside {name}")
    return list(make())


def traced(function: Any, values: list[Any], name: str) -> None:
    """A function that JAX cannot trace with these arguments is refused in one line."""
    import jax

    try:
        jax.eval_shape(function, *values)
    except Exception as err:  # whatever the function raises
        words = " ".join(str(err).split())[:300]
        given = ", ".join(str(getattr(one, "shape", type(one).__name__)) for one in values)
        raise SystemExit(f"tesela tune: error: {name} cannot be traced with arguments of shapes {given}: {type(err).__name__}: {words}") from None


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tesela tune", description="What to change in a JAX program, judged by the compiler of TPUs.")
    parser.add_argument("function", metavar="MODULE.py:FUNCTION")
    parser.add_argument("--args", nargs="*", metavar="ARRAY", help="f32[8,3]; default: what FUNCTION_arguments() returns")
    parser.add_argument("--target", default="v5e", choices=sorted(TOPOLOGIES))
    parser.add_argument("--donate", type=int, nargs="*", default=[], metavar="N", help="numbers of donated arrays")
    parser.add_argument("--compiles", type=int, default=24, metavar="N", help="at most (default: 24)")
    parser.add_argument("--cache", metavar="FOLDER", help="keep the compiler's answers there")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    if given.compiles < 2:
        parser.error(f"argument --compiles: expected at least 2 (the program as it is and AUTO), found {given.compiles}")
    if importlib.util.find_spec("jax") is None or importlib.util.find_spec("libtpu") is None:
        raise SystemExit("tesela tune: error: needs JAX and libtpu, the compiler of TPUs: pip install 'jax[tpu]'")
    Compiler(given.target)  # its settings come before jax
    module, function = function_of(given.function)
    values = arguments_of(module, given.function.rpartition(":")[2], given.args)
    traced(function, values, given.function)
    try:
        found = tune(
            function, *values, target=given.target, compiles=given.compiles, donate=given.donate, cache=given.cache, name=given.function,
            progress=lambda words: print(f"tesela: compiling: {words}", file=sys.stderr),
        )  # fmt: skip
    except ValueError as err:
        raise SystemExit(f"tesela tune: error: {err}") from None
    sys.stdout.write(json.dumps(found.json) + "\n" if given.json else found.text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
