#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run a WebAssembly program with WASI: its arguments, standard streams, TESELA_* variables, and the current folder.

    wasi_run.py PROGRAM [ARGUMENT...]
"""

import os
import sys
import tempfile

import wasmtime


def main():
    engine = wasmtime.Engine()
    wasi = wasmtime.WasiConfig()
    wasi.argv = sys.argv[1:]
    wasi.env = [(name, value) for name, value in os.environ.items() if name.startswith("TESELA_")]
    wasi.inherit_stdin()
    wasi.inherit_stdout()
    wasi.inherit_stderr()
    with tempfile.TemporaryDirectory() as folder:
        wasi.preopen_dir(".", ".")
        wasi.preopen_dir(folder, "/tmp")
        store = wasmtime.Store(engine)
        store.set_wasi(wasi)
        linker = wasmtime.Linker(engine)
        linker.define_wasi()
        module = wasmtime.Module.from_file(engine, sys.argv[1])
        try:
            linker.instantiate(store, module).exports(store)["_start"](store)
        except wasmtime.ExitTrap as stop:
            return stop.code
    return 0


if __name__ == "__main__":
    sys.exit(main())
