# SPDX-License-Identifier: Apache-2.0
"""Programs compiled for a TPU that is not there, by libtpu ahead of time, and what its compiler says of them. Nothing is run."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import pathlib
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .._errors import UnsupportedError
from .._report_rows import bytes_of
from ._hlo import Cost, Module, Unestimated

TOPOLOGIES = {
    "v2": "v2:2x2", "v3": "v3:2x2", "v4": "v4:2x2x1", "v5e": "v5e:2x2", "v5p": "v5p:2x2x1", "v6e": "v6e:2x2", "tpu7x": "tpu7x:2x2x1",
}  # fmt: skip
ENVIRONMENT = {
    "JAX_PLATFORMS": "cpu", "TPU_SKIP_MDS_QUERY": "1", "TPU_ACCELERATOR_TYPE": "v5litepod-4", "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_LOG_DIR": "disabled", "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
}  # fmt: skip
SIZES = ("argument", "output", "temp", "alias")


class Measured(NamedTuple):
    """What the compiler says of a program, or of its failure."""

    argument: int
    output: int
    temp: int
    alias: int
    text: str
    """The scheduled HLO; empty if the program does not fit."""
    message: str
    """The compiler's message, if the program does not fit."""
    total: int
    """Of a program that does not fit: the bytes that the message says it needs."""
    lines: dict[str | None, Cost]
    blind: tuple[Unestimated, ...]
    unknown_trips: tuple[str, ...]

    @property
    def fits(self) -> bool:
        return not self.message

    @property
    def hbm(self) -> int:
        """Bytes of arguments, results and temporaries, as memory_analysis() says them; results in donated arguments count once."""
        return self.argument + self.output + self.temp - self.alias if self.fits else self.total

    @property
    def cycles(self) -> float:
        """The estimate: the compiler's cycles times trips, other bytes at a fixed rate, stalls of copies."""
        return sum(cost.total for cost in self.lines.values())


def measured(sizes: Sequence[int], text: str) -> Measured:
    module = Module(text)
    lines, blind = module.costs()
    argument, output, temp, alias = sizes
    return Measured(argument, output, temp, alias, text, "", 0, lines, tuple(blind), tuple(module.unknown_trips))


def too_large(message: str) -> Measured:
    """A program that the compiler refuses: "Used 23.25G of 15.75G hbm", "required for HLO temporaries (24.03G) exceeds"."""
    used = re.search(r"Used ([0-9.]+[KMGT]?) of|HLO temporaries \(([0-9.]+[KMGT]?)\)", message)
    total = bytes_of(used[1] or used[2]) if used else 0
    return Measured(0, 0, 0, 0, "", message, total, {}, (), ())


class Compiler:
    """Compiles flat functions for one target. `cache`: a folder of earlier answers, by the text of the program."""

    def __init__(self, target: str = "v5e", cache: str | os.PathLike[str] | None = None) -> None:
        if target not in TOPOLOGIES:
            raise UnsupportedError(f"unknown target {target!r}; expected one of {', '.join(TOPOLOGIES)}")
        for name, value in ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        self.target, self.compiles = target, 0
        self.cache = pathlib.Path(cache) if cache else None
        self._device: Any = None

    @property
    def device(self) -> Any:
        if self._device is None:
            from jax.experimental import topologies

            topology: Any = topologies.get_topology_desc(platform="tpu", topology_name=TOPOLOGIES[self.target])
            self._device = topology.devices[0]
        return self._device

    def __call__(
        self, function: Callable[..., Any], specs: Sequence[Any], *, donate: Sequence[int] = (), arguments: Any = None, results: Any = None,
    ) -> Measured:  # fmt: skip
        """Compile function(*specs). `arguments`, `results`: layouts, one for all ("auto") or a dict of number -> major_to_minor."""
        import jax
        from jax.sharding import SingleDeviceSharding

        def flat(*given: Any) -> Any:
            return tuple(jax.tree.leaves(function(*given)))

        one = SingleDeviceSharding(self.device)
        n_results = len(jax.eval_shape(flat, *specs))
        program = jax.jit(
            flat, in_shardings=_formats(arguments, len(specs), one), out_shardings=_formats(results, n_results, one),
            donate_argnums=tuple(donate), keep_unused=True,
        )  # fmt: skip
        lowered = program.lower(*specs)
        self.compiles += 1
        return self._kept(lowered, repr((self.target, arguments, results, tuple(donate))))

    def _kept(self, lowered: Any, options: str) -> Measured:
        text = re.sub(r'"[^"]*/tesela/tune/[^"]*":[0-9:to ]+', '"tune"', lowered.as_text(debug_info=True))  # lines of the user's alone
        key = hashlib.sha256((text + options).encode()).hexdigest()[:24]
        path = self.cache / f"{key}.json.gz" if self.cache else None
        if path and path.exists():
            kept = json.loads(gzip.decompress(path.read_bytes()))
            return too_large(kept["message"]) if kept["message"] else measured(kept["sizes"], kept["text"])
        try:
            compiled = lowered.compile()
        except Exception as err:  # the compiler's own kinds
            if "hbm" not in str(err).lower() and "RESOURCE_EXHAUSTED" not in str(err):
                raise
            answer: dict[str, Any] = {"message": str(err), "sizes": [], "text": ""}
        else:
            figures = compiled.memory_analysis()
            sizes = [int(getattr(figures, f"{name}_size_in_bytes")) for name in SIZES]
            answer = {"message": "", "sizes": sizes, "text": compiled.as_text()}
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            scratch = path.with_suffix(f".{os.getpid()}")
            scratch.write_bytes(gzip.compress(json.dumps(answer).encode()))
            scratch.replace(path)
        return too_large(answer["message"]) if answer["message"] else measured(answer["sizes"], answer["text"])


def _formats(layouts: Any, n: int, one: Any) -> Any:
    """Shardings and layouts of n arrays: None, "auto" or {number: major_to_minor}."""
    from jax.experimental.layout import Format, Layout

    if layouts is None:
        return one
    if layouts == "auto":
        return (Format(Layout.AUTO, one),) * n
    return tuple(Format(Layout(major_to_minor=tuple(layouts[i])), one) if i in layouts else one for i in range(n))

