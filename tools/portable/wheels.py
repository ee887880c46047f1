#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package for every machine, in build/wheels: `make wheels`.

    wheels.py [TARGET...]    (default: those of WHEELS)

    tesela-VERSION-py3-none-PLATFORM.whl    library, modules and the command; compiled by zig
    tesela-VERSION.tar.gz                   the source distribution

Each is checked: twine, auditwheel (the platform of the name is what the binaries need), its files, its size, the version. The wheel for
this machine and the source distribution are installed into a new virtual environment and used; that for aarch64 is unpacked beside
Debian's Python for arm64, and used under qemu. Exit 1 if a check fails.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import portable
from portable import SOURCE, Failed, run

# The platform that a wheel is for, by the name of its target in portable.py. No Python of Windows is there to import one.
WHEELS = {
    "linux-x86_64": "manylinux2014_x86_64.manylinux_2_17_x86_64",
    "linux-aarch64": "manylinux2014_aarch64.manylinux_2_17_aarch64",
    "musl-x86_64": "musllinux_1_2_x86_64",
    "musl-aarch64": "musllinux_1_2_aarch64",
    "macos-arm64": "macosx_11_0_arm64",
}
TOOLS = ["auditwheel", "build", "twine", "wheel"]
LIMIT = 3 << 20  # bytes of a wheel

USE = """
import subprocess, sys
import numpy as np
import tesela
L = tesela.layout("f32[3,5]{1,0:T(2,2)}")
assert L.where(2, 3) == 17 and tesela.__version__ == sys.argv[1]
x = np.arange(15, dtype=np.float32).reshape(3, 5)
assert np.array_equal(np.asarray(tesela.pack(x, L)), x)
assert tesela.op("where", layout=str(L), indices=[[2, 3]]) == {"places": [17]}
for command in ([sys.executable, "-m", "tesela"], [sys.argv[2]]) if len(sys.argv) > 2 else ():
    shown = subprocess.run([*command, "where", str(L), "2,3"], capture_output=True, text=True, check=True).stdout
    assert "17" in shown, shown
"""


def version():
    text = (SOURCE / "include/tesela/base.h").read_text()
    return ".".join(re.search(rf"TESELA_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def make_tools(folder):
    """PyPI's tools for packages, in a virtual environment of their own; its Python."""
    python = folder / "venv/bin/python"
    if not python.exists():
        run([sys.executable, "-m", "venv", folder / "venv"])
        run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *TOOLS])
    return python


def make_wheel(python, target, folder):
    """The wheel of a target, named for its platform."""
    target.folder.mkdir(parents=True, exist_ok=True)
    target.make_jansson()
    made = folder / target.name
    shutil.rmtree(made, ignore_errors=True)
    licence = portable.jansson_source(target.build) / "LICENSE"
    options = [*target.common, f"-DTESELA_JANSSON_LICENSE={licence}", "-DCMAKE_SHARED_LINKER_FLAGS_RELEASE=-s"]
    run([python, "-m", "build", "--wheel", "-o", made, f"-Cbuild-dir={folder}/{target.name}.build", "-Cinstall.strip=false", SOURCE],
        folder / f"{target.name}.log", env={**os.environ, "CMAKE_ARGS": shlex.join(options)})  # fmt: skip
    [wheel] = made.glob("*.whl")
    run([python, "-m", "wheel", "tags", "--remove", "--platform-tag", WHEELS[target.name], wheel])
    [wheel] = made.glob("*.whl")
    return wheel.rename(folder / wheel.name)


def check_wheel(python, target, wheel):
    """What a wheel must be, whatever the machine."""
    if not wheel.name.startswith(f"tesela-{version()}-py3-none-"):
        raise Failed(f"{wheel.name}: expected version {version()} for every Python 3")
    if wheel.stat().st_size > LIMIT:
        raise Failed(f"{wheel.name} has {wheel.stat().st_size} bytes; expected at most {LIMIT}")
    names = zipfile.ZipFile(wheel).namelist()
    library = "tesela/libtesela.dylib" if "macos" in target.name else "tesela/libtesela.so"
    for name in ("tesela/__init__.py", "tesela/py.typed", library, "tesela/bin/tesela", "licenses/LICENSE", "licenses/jansson.txt"):
        if not any(one.endswith(name) for one in names):
            raise Failed(f"{wheel.name} lacks {name}")
    if "macos" not in target.name:
        shown = run([python, "-m", "auditwheel", "show", wheel])
        wanted = WHEELS[target.name].split(".")[-1]
        if f'platform tag: "{wanted}"' not in " ".join(shown.split()):
            raise Failed(f"{wheel.name}: auditwheel says {shown}")


def use(what, folder):
    """Install a wheel or a source distribution into a new virtual environment, and use it there."""
    venv = folder / "use"
    shutil.rmtree(venv, ignore_errors=True)
    run([sys.executable, "-m", "venv", venv])
    run([venv / "bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check", what])
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TESELA"))}
    run([venv / "bin/python", "-c", USE, version(), venv / "bin/tesela"], cwd=folder, env=environment)


def arm64_python(folder):
    """Debian's Python for arm64 and what it needs, unpacked, with NumPy and ml_dtypes of PyPI; the root."""
    root, apt = folder / "arm64", folder / "apt"
    if (root / "site/ml_dtypes").exists():
        return root
    for part in ("lists/partial", "cache/archives/partial"):
        (apt / part).mkdir(parents=True, exist_ok=True)
    form = "deb $(REPO_URI) $(RELEASE) $(COMPONENT)"
    lines = run(["apt-get", "indextargets", "--format", form, "Created-By: Packages", "Origin: Debian"]).splitlines()
    (apt / "sources.list").write_text("".join(f"{line}\n" for line in sorted(set(lines)) if line.endswith(" main")))
    (apt / "status").touch()
    own = [f"Dir::Etc::sourcelist={apt}/sources.list", "Dir::Etc::sourceparts=-", f"Dir::State::lists={apt}/lists", f"Dir::Cache={apt}/cache",
           f"Dir::State::status={apt}/status", "APT::Architecture=arm64", "APT::Architectures=arm64", "APT::Sandbox::User=root"]  # fmt: skip
    options = [part for option in own for part in ("-o", option)]
    run(["apt-get", *options, "update", "-q"])
    run(["apt-get", *options, "install", "-q", "-y", "--download-only", "--no-install-recommends", "python3-minimal", "libpython3-stdlib",
         "libstdc++6"])  # fmt: skip
    for package in (apt / "cache/archives").glob("*.deb"):
        run(["dpkg-deb", "-x", package, root])
    number = next((root / "usr/bin").glob("python3.[0-9]*")).name.removeprefix("python")
    platforms = [f"--platform=manylinux_2_{minor}_aarch64" for minor in (17, 27, 28)]
    run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target", root / "site", "--only-binary=:all:",
         *platforms, "--implementation=cp", f"--python-version={number}", "numpy>=2", "ml_dtypes"])  # fmt: skip
    return root


def use_aarch64(wheel, folder):
    """Import the wheel for aarch64 with a Python of that machine, under qemu."""
    root = arm64_python(folder)
    shutil.rmtree(root / "tesela", ignore_errors=True)
    zipfile.ZipFile(wheel).extractall(root / "tesela")
    [python] = (root / "usr/bin").glob("python3.[0-9]*")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TESELA"))}
    run(["qemu-aarch64", "-L", root, python, "-c", USE, version()], cwd=root,
        env={**environment, "PYTHONPATH": f"{root}/tesela:{root}/site"})  # fmt: skip


def make_sdist(python, folder):
    run([python, "-m", "build", "--sdist", "-o", folder, SOURCE], folder / "sdist.log")
    [sdist] = folder.glob("*.tar.gz")
    use(sdist, folder)
    print(f"{sdist.name}: {sdist.stat().st_size} bytes, builds and is used", flush=True)


def make_and_check(python, target, folder):
    wheel = make_wheel(python, target, folder)
    check_wheel(python, target, wheel)
    how = "checked"
    if target.name == "linux-x86_64":
        use(wheel, folder)
        how = "checked and used"
    elif target.name == "linux-aarch64":
        use_aarch64(wheel, folder)
        how = "checked and used under qemu"
    elif target.name == "musl-x86_64":  # no Python for musl is here; the command runs
        run([folder / f"{target.name}.build/tesela", "--version"])
        how = "checked, the command runs"
    print(f"{wheel.name}: {wheel.stat().st_size} bytes, {how}", flush=True)


def main():
    folder = SOURCE / "build/wheels"
    names = sys.argv[1:] or list(WHEELS)
    for name in names:
        if name not in WHEELS:
            print(f"wheels: unknown target '{name}'; expected one of {' '.join(WHEELS)}")
            return 2
    folder.mkdir(parents=True, exist_ok=True)
    for old in (*folder.glob("*.whl"), *folder.glob("*.tar.gz")):
        old.unlink()
    python = make_tools(folder)
    targets, _ = portable.set_up(SOURCE / "build/portable", names, os.cpu_count())
    steps = [("sdist", lambda: make_sdist(python, folder))]
    steps += [(target.name, lambda target=target: make_and_check(python, target, folder)) for target in targets]
    steps += [("twine", lambda: run([python, "-m", "twine", "check", "--strict", *folder.glob("tesela-*")]))]
    wrong = []
    for name, step in steps:
        try:
            step()
        except (Failed, subprocess.CalledProcessError) as why:
            print(f"{name}: {why}", flush=True)
            wrong.append(name)
    print(f"wheels: {len(steps) - len(wrong)} of {len(steps)} steps are right" + (f"; not {' '.join(wrong)}" if wrong else ""))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
