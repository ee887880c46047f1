#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Build the library and the command for other machines, and run the unit tests there: `make portable`.

    portable.py [--build=FOLDER] [--jobs=N] [--list] [TARGET...]    (default: all targets, build/portable)

Everything that it needs and that is missing is installed: Debian's packages by name, PyPI's (requirements.txt beside this file)
into FOLDER/venv, jansson from Debian's source package into FOLDER/TARGET/prefix. For each target it prints how many test programs
ran, which of them failed, and which did not run, by name. Exit 1 if a target does not build or a test fails.
"""

import argparse
import os
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import xml.etree.ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1]

# name, zig's name, Debian's packages, what runs its programs ("{build}" is the build folder); None: compiled and linked only
TARGETS = [
    ("linux-x86_64", "x86_64-linux-gnu.2.17", "", []),
    ("linux-aarch64", "aarch64-linux-gnu.2.17", "qemu-user libc6-arm64-cross", ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]),
    ("musl-x86_64", "x86_64-linux-musl", "", []),
    ("musl-aarch64", "aarch64-linux-musl", "qemu-user", ["qemu-aarch64"]),
    ("windows-x86_64", "x86_64-windows-gnu", "wine64", ["env", "WINEPREFIX={build}/wine", "WINEDEBUG=-all", "{wine}"]),
    ("wasm32-wasi", "wasm32-wasi", "", ["{build}/venv/bin/python", str(HERE / "wasi_run.py")]),
    ("macos-arm64", "aarch64-macos.11.0", "", None),
    ("linux-riscv64", "riscv64-linux-musl", "", None),
]

LIBRARY_ONLY = {"wasm32-wasi"}  # no command: WebAssembly has neither signals nor processes
FOR_ALL = "make cmake pkg-config python3-venv"
WINE = "/usr/lib/wine/wine64"  # Debian's; not in PATH


class Failed(Exception):
    """A step failed; the text says which and where its log is."""


def run(command, log=None, **more):
    """Run a command, its output to a file; Failed with the end of it."""
    if log is None:
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)
        text = result.stdout
    else:
        with open(log, "w", encoding="utf-8", errors="replace") as to:
            result = subprocess.run(command, stdout=to, stderr=subprocess.STDOUT, check=False, **more)
        text = Path(log).read_text(errors="replace")
    if result.returncode:
        lines = text.splitlines()
        wrong = [line for line in lines if re.search(r"\b[Ee]rror:|undefined", line)] or lines
        raise Failed("\n  ".join([f"{' '.join(map(str, command[:4]))} ... failed (log: {log})", *wrong[:12]]))
    return text


# ---- set-up -------------------------------------------------------------------------------------------------


def is_installed(package):
    result = subprocess.run(["dpkg-query", "-W", "-f", "${Status}", package], capture_output=True, text=True, check=False)
    return result.stdout == "install ok installed"


def install_packages(names):
    """Debian's packages that are missing."""
    if not shutil.which("apt-get"):
        return
    missing = [name for name in names if not is_installed(name)]
    if not missing:
        return
    root = [] if os.geteuid() == 0 else ["sudo"]
    print("portable: installing", *missing, flush=True)
    run([*root, "apt-get", "update", "-q"])
    run([*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-q", "-y", "--no-install-recommends", *missing])


def make_venv(build):
    """PyPI's packages, in a virtual environment of this build; the path of zig."""
    venv, wanted = build / "venv", (HERE / "requirements.txt").read_text()
    kept = venv / "requirements.txt"
    if not kept.exists() or kept.read_text() != wanted:
        print("portable: making", venv, flush=True)
        shutil.rmtree(venv, ignore_errors=True)
        run(["/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable, "-m", "venv", venv])
        run([venv / "bin/pip", "install", "-q", "--disable-pip-version-check", "-r", HERE / "requirements.txt"])
        kept.write_text(wanted)
    return next(venv.glob("lib/python3*/site-packages/ziglang/zig"))


def jansson_source(build):
    """The folder of jansson's source: Debian's, fetched with lists and a deb-src line that are this build's alone."""
    found = sorted(build.glob("jansson-*/CMakeLists.txt"))
    if found:
        return found[-1].parent
    apt = build / "apt"
    for folder in ("lists/partial", "cache/archives/partial"):
        (apt / folder).mkdir(parents=True, exist_ok=True)
    form = "$(REPO_URI) $(RELEASE) $(COMPONENT)"
    lines = run(["apt-get", "indextargets", "--format", form, "Created-By: Packages", "Origin: Debian"]).splitlines()
    sources = sorted({f"deb-src {line}\n" for line in lines if line.endswith(" main")})
    (apt / "sources.list").write_text("".join(sources))
    own = [f"Dir::Etc::sourcelist={apt}/sources.list", "Dir::Etc::sourceparts=-", f"Dir::State::lists={apt}/lists",
           f"Dir::Cache={apt}/cache", "APT::Sandbox::User=root"]
    options = [part for option in own for part in ("-o", option)]
    run(["apt-get", *options, "update", "-q"])
    run(["apt-get", *options, "source", "-q", "--download-only", "jansson"], cwd=apt)
    with tarfile.open(next(apt.glob("jansson_*.orig.tar.*"))) as packed:
        packed.extractall(build)
    return next(build.glob("jansson-*/CMakeLists.txt")).parent


# ---- one target ---------------------------------------------------------------------------------------------


class Target:
    """A row of TARGETS and where it is built."""

    def __init__(self, build, zig, row, jobs):
        self.name, self.machine, _, runs = row
        self.folder, self.build, self.zig, self.jobs = build / self.name, build, zig, jobs
        self.prefix = self.folder / "prefix"
        self.tests = runs is not None
        self.run = ";".join(part.format(build=build, wine=WINE) for part in runs or [])
        self.common = [f"-DCMAKE_TOOLCHAIN_FILE={SOURCE}/cmake/zig.cmake", f"-DZIG={zig}", f"-DZIG_TARGET={self.machine}",
                       f"-DZIG_PREFIX={self.prefix}", f"-DZIG_RUN={self.run}", "-DCMAKE_BUILD_TYPE=Release"]

    def configure(self):
        command = self.name not in LIBRARY_ONLY
        self.folder.mkdir(parents=True, exist_ok=True)
        if command:
            self.make_jansson()
        return [f"-DTESELA_BUILD_CLI={command}", f"-DTESELA_BUILD_TESTS={self.tests}", "-DTESELA_BUILD_BENCH=OFF",
                "-DTESELA_WERROR=ON"]

    def make(self, source, folder, options, *targets):
        log = self.folder / f"{folder.name}.log"
        run(["cmake", "-S", source, "-B", folder, *self.common, *options], log)
        run(["cmake", "--build", folder, "-j", str(self.jobs), *(["--target", *targets] if targets else []), "--", "-k"], log)

    def make_jansson(self):
        if not (self.prefix / "lib/pkgconfig/jansson.pc").exists():
            self.make(jansson_source(self.build), self.folder / "jansson",
                      ["-DJANSSON_BUILD_DOCS=OFF", "-DJANSSON_WITHOUT_TESTS=ON", "-DJANSSON_EXAMPLES=OFF",
                       "-DJANSSON_BUILD_SHARED_LIBS=OFF", f"-DCMAKE_INSTALL_PREFIX={self.prefix}",
                       "-DCMAKE_INSTALL_LIBDIR=lib", "-Wno-dev"], "install")

    def make_tesela(self):
        self.make(SOURCE, self.folder / "tesela", [*self.configure(), "-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG"])

    def licences(self):
        """The texts that go with a program or library for this target, with all that is linked into it."""
        libc = self.zig.parent / "lib/libc"
        files = {"jansson": jansson_source(self.build) / "LICENSE", "zig": self.zig.parent / "LICENSE"}  # zig: its compiler runtime
        if re.search("musl|windows", self.machine):  # some functions of mingw-w64 are those of musl
            files["musl"] = libc / "musl/COPYRIGHT"
        if "windows" in self.machine:
            files["mingw-w64"] = libc / "mingw/COPYING"
        return {f"LICENSE.{name}": path.read_bytes() for name, path in files.items()} | {"LICENSE": (SOURCE / "LICENSE").read_bytes()}

    def make_command(self):
        """The command alone, as for users; its path."""
        self.make(SOURCE, self.folder / "dist", self.configure(), "tesela_command")
        return next(path for end in ("", ".exe") if (path := self.folder / f"dist/tesela{end}").is_file())

    def try_command(self):
        """Does the command answer, pack, unpack and refuse as on every system? What it does otherwise."""
        work = self.folder / "command"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        command = next(path for end in ("", ".exe") if (path := self.folder / f"tesela/tesela{end}").is_file())
        header, values = b'{"w":{"dtype":"U8","shape":[3,5],"data_offsets":[0,15]}}', bytes(range(15))
        (work / "a.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + values)
        (work / "a.safetensors.index.json").write_text('{"metadata":{"total_size":15},"weight_map":{"w":"a.safetensors"}}')
        rule, index = "[!x]={1,0:T(2,2)}", ["pack", "a.safetensors.index.json", "-o"]
        for status, said, arguments in (
            (0, "17", ["where", "f32[3,5]{1,0:T(2,2)}", "2,3"]),
            (0, "", ["pack", "a.safetensors", "-o", "b.safetensors", rule]),
            (0, "", ["unpack", "b.safetensors", "-o", "c.safetensors"]),
            (2, "no tensor matches 'x*'", ["pack", "a.safetensors", "-o", "d.safetensors", "x*={1,0}"]),
            (2, "is in the folder of the input", [*index, f"{work}/b.safetensors.index.json", rule]),
        ):
            result = subprocess.run([*self.run.split(";"), command, *arguments] if self.run else [command, *arguments], cwd=work,
                                    capture_output=True, text=True, check=False)  # fmt: skip
            if result.returncode != status or said not in result.stdout + result.stderr:
                return f"{arguments}: expected status {status} and '{said}', found {result.returncode}: {result.stdout}{result.stderr}"
        packed, unpacked = ((work / name).read_bytes() for name in ("b.safetensors", "c.safetensors"))
        tiles = bytes([0, 1, 5, 6, 2, 3, 7, 8, 4, 0, 9, 0, 10, 11, 0, 0, 12, 13, 0, 0, 14, 0, 0, 0])
        return "" if packed.endswith(tiles) and unpacked.endswith(values) else "what it packed or unpacked is wrong"

    def test(self):
        """Names of the test programs that ran, failed, did not run; the command is one."""
        results = self.folder / "tests.xml"
        subprocess.run(["ctest", "--test-dir", self.folder / "tesela", "-j", str(self.jobs), "--output-junit", results,
                        "--output-log", self.folder / "tests.log", "-Q"], check=False)
        ran, failed, skipped = [], [], []
        for case in xml.etree.ElementTree.parse(results).getroot().iter("testcase"):
            name, status = case.get("name").removeprefix("unit."), case.get("status")
            if status == "disabled":
                skipped.append(name)
                continue
            ran.append(name)
            if status != "run":
                failed.append(name)
            output = case.findtext("system-out") or ""
            skipped += [f"{name}:{part}" for part in re.findall(r"\[  SKIPPED \] (\w+)", output)]
        if not ran:
            raise Failed(f"no test ran (log: {self.folder}/tests.log)")
        if self.name not in LIBRARY_ONLY:
            ran.append("command")
            if wrong := self.try_command():
                failed.append("command")
                print(f"{self.name}: command: {wrong}")
        return ran, failed, skipped


def set_up(build, names, jobs):
    """The targets of these names, all of them for none, with what they need installed; the path of zig."""
    rows = [row for row in TARGETS if not names or row[0] in names]
    build.mkdir(parents=True, exist_ok=True)
    install_packages([*FOR_ALL.split(), *sorted({package for row in rows for package in row[2].split()})])
    zig = make_venv(build)
    os.environ["ZIG_GLOBAL_CACHE_DIR"] = os.environ["ZIG_LOCAL_CACHE_DIR"] = str(build / "zig")
    os.environ.pop("CMAKE_C_COMPILER_LAUNCHER", None)  # zig has a cache of its own
    return [Target(build, zig, row, jobs) for row in rows], zig


def report(name, ran, failed, skipped):
    print(f"{name}: {len(ran)} test programs run, {len(failed)} failed, {len(skipped)} skipped")
    for what, names in (("failed", failed), ("skipped", skipped)):
        if names:
            print(f"  {what}: {' '.join(sorted(names))}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    parser.add_argument("--build", type=Path, default=SOURCE / "build/portable")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true", help="print the targets")
    args = parser.parse_args()
    known = [row[0] for row in TARGETS]
    unknown = [name for name in args.targets if name not in known]
    if args.list or unknown:
        print("\n".join(known) if args.list else f"portable: unknown target '{unknown[0]}'; expected one of {' '.join(known)}")
        return 2 if unknown else 0
    targets, _ = set_up(args.build.resolve(), args.targets, args.jobs)
    wrong = []
    for target in targets:
        try:
            target.make_tesela()
            if target.tests:
                ran, failed, skipped = target.test()
                report(target.name, ran, failed, skipped)
            else:
                failed = []
                print(f"{target.name}: compiled and linked, nothing run", flush=True)
            if failed:
                wrong.append(target.name)
        except Failed as why:
            print(f"{target.name}: {why}", flush=True)
            wrong.append(target.name)
    print(f"portable: {len(targets) - len(wrong)} of {len(targets)} targets are right" + (f"; not {' '.join(wrong)}" if wrong else ""))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
