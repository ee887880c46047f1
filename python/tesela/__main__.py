# SPDX-License-Identifier: Apache-2.0
"""`python -m tesela VERB ...` and the script `tesela`: the command itself, which is in the package as a program; `tune` is the package's own."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys


def command() -> str:
    """The path of the command: in this package, or what TESELA_COMMAND names (for work on tesela itself)."""
    name = "tesela.exe" if sys.platform == "win32" else "tesela"
    path = os.environ.get("TESELA_COMMAND") or str(pathlib.Path(__file__).parent / "bin" / name)
    if not os.path.exists(path):
        raise SystemExit(
            "tesela: this package was built without the command, which needs jansson; expected " + path + "\n"
            "tesela: install libjansson-dev and pkg-config (their names in Debian), then build the package again, "
            "or call the operations from Python: help(tesela.op)"
        )
    return path


def main() -> int:
    """Become the command, with the arguments of this process."""
    if sys.argv[1:2] == ["tune"]:  # needs JAX, so it is Python's
        from .tune.__main__ import main as tune

        return tune(sys.argv[2:])
    path, arguments = command(), sys.argv[1:]
    if sys.platform == "win32":
        return subprocess.run([path, *arguments], check=False).returncode
    os.execv(path, ["tesela", *arguments])


if __name__ == "__main__":
    sys.exit(main())
