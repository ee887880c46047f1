#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a release hands out, in build/dist: `make dist`.

    tesela-VERSION-TARGET.tar.gz    the command, statically linked, with the licences of what is in it
    tesela_VERSION_amd64.deb        the same command, its manual and completions
    tesela-VERSION.tar.gz           the sources of the last commit
    tesela-VERSION.spdx.json        what the binaries are made of (SPDX 2.3)
    SHA256SUMS                      of all of them

The same commit gives the same bytes. Each binary that runs here is run: it must print the version of the public header. The package for
Debian is unpacked and its command run; the sources are built and their command is run.
"""

import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from datetime import datetime, timezone
from pathlib import Path

import portable
from portable import SOURCE, Failed, run

# Static ones; glibc is not linked statically, so Linux gets musl.
BINARIES = ["musl-x86_64", "musl-aarch64", "linux-riscv64", "windows-x86_64", "macos-arm64"]


def version():
    text = (SOURCE / "include/tesela/base.h").read_text()
    return ".".join(re.search(rf"TESELA_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def git(*arguments):
    return run(["git", "-C", SOURCE, *arguments]).strip()


def pack(path, members, time):
    """A .tar.gz of {name: (bytes, mode)} that depends on nothing else."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        for name, (data, mode) in sorted(members.items()):
            info = tarfile.TarInfo(name)
            info.size, info.mode, info.mtime = len(data), mode, time
            tar.addfile(info, io.BytesIO(data))
    path.write_bytes(gzip.compress(raw.getvalue(), mtime=time))


def sbom(path, files, jansson, zig_version, time):
    """SPDX: the binaries, and the packages each contains."""
    made = datetime.fromtimestamp(time, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    parts = [("tesela", version(), "Apache-2.0"), ("jansson", jansson, "MIT"), ("musl", f"as in zig {zig_version}", "MIT"),
             ("compiler-rt", f"as in zig {zig_version}", "MIT"),
             ("mingw-w64-runtime", f"as in zig {zig_version}", "ZPL-2.1")]
    packages = [{"SPDXID": f"SPDXRef-{name}", "name": name, "versionInfo": number, "licenseConcluded": licence,
                 "licenseDeclared": licence, "copyrightText": "NOASSERTION", "downloadLocation": "NOASSERTION",
                 "filesAnalyzed": False} for name, number, licence in parts]
    entries = [{"SPDXID": f"SPDXRef-File-{index}", "fileName": f"./{file.name}", "copyrightText": "NOASSERTION",
                "licenseConcluded": "NOASSERTION",
                "checksums": [{"algorithm": "SHA1", "checksumValue": hashlib.sha1(file.read_bytes()).hexdigest()},
                              {"algorithm": "SHA256", "checksumValue": hashlib.sha256(file.read_bytes()).hexdigest()}]}
               for index, file in enumerate(files)]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-tesela"}]
    for entry in entries:
        runtime = "mingw-w64-runtime" if "windows" in entry["fileName"] else "" if "macos" in entry["fileName"] else "musl"
        for part in ("tesela", "jansson", "compiler-rt", runtime):
            if part:
                relations.append({"spdxElementId": entry["SPDXID"], "relationshipType": "CONTAINS",
                                  "relatedSpdxElement": f"SPDXRef-{part}"})
    document = {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
                "name": f"tesela-{version()}", "documentNamespace": f"urn:tesela:{version()}:{git('rev-parse', 'HEAD')}",
                "creationInfo": {"created": made, "creators": ["Tool: tools/portable/dist.py"]},
                "packages": packages, "files": entries, "relationships": relations}
    path.write_text(json.dumps(document, indent=1) + "\n")


def deb(folder, path, command, texts, time):
    """A package of the static command; the pages are what the command prints about itself."""
    root = folder / "deb"
    shutil.rmtree(root, ignore_errors=True)
    pages = {"usr/share/man/man1/tesela.1.gz": "--man", "usr/share/bash-completion/completions/tesela": "--completion=bash",
             "usr/share/zsh/vendor-completions/_tesela": "--completion=zsh",
             "usr/share/fish/vendor_completions.d/tesela.fish": "--completion=fish"}
    files = {"usr/bin/tesela": command.read_bytes(),
             "usr/share/doc/tesela/copyright": b"\n\n".join(texts[name] for name in sorted(texts))}
    for name, option in pages.items():
        page = subprocess.run([command, "help", option], stdout=subprocess.PIPE, check=True).stdout
        files[name] = gzip.compress(page, mtime=time) if name.endswith(".gz") else page
    size = sum(map(len, files.values())) // 1024 + 1
    files["DEBIAN/control"] = (
        f"Package: tesela\nVersion: {version()}\nArchitecture: amd64\nSection: science\nPriority: optional\n"
        f"Maintainer: the authors of tesela <tesela@localhost>\nInstalled-Size: {size}\n"
        "Description: physical layouts of tensors\n"
        " Where each element of a tensor lies in memory, in XLA's tiles and other notations; relayout, memory\n"
        " reports, register layouts, graphs.\n").encode()
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
        (root / name).chmod(0o755 if name == "usr/bin/tesela" else 0o644)
    for directory in (root, *(found for found in root.rglob("*") if found.is_dir())):
        directory.chmod(0o755)
    run(["dpkg-deb", "--root-owner-group", "--build", root, path], env={**os.environ, "SOURCE_DATE_EPOCH": str(time)})


def check_version(command, through=""):
    """Run a command, through these programs."""
    said = run([*[part for part in through.split(";") if part], command, "--version"])
    if version() not in said:
        raise Failed(f"{command} says {said!r}, not {version()}")
    return "runs"


def check_deb(folder, path):
    root = folder / "deb"
    shutil.rmtree(root, ignore_errors=True)
    run(["dpkg-deb", "-x", path, root])
    check_version(root / "usr/bin/tesela")
    print(f"dist: {path.name} {path.stat().st_size} bytes, unpacked, runs", flush=True)


def check_sources(folder, path):
    """The sources in a tarball are all that a build needs."""
    root = folder / "sources"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    run(["tar", "xf", path, "-C", root])
    run(["cmake", "-S", root / path.name.removesuffix(".tar.gz"), "-B", root / "build", "-DCMAKE_BUILD_TYPE=Debug",
         "-DTESELA_BUILD_TESTS=OFF", "-DTESELA_BUILD_BENCH=OFF"], folder / "sources.log")  # fmt: skip
    run(["cmake", "--build", root / "build", "-j", str(os.cpu_count()), "--target", "tesela_command"], folder / "sources.log")
    check_version(root / "build/tesela")
    print(f"dist: {path.name} {path.stat().st_size} bytes, builds and runs", flush=True)


def main():
    build, dist, name = SOURCE / "build/portable", SOURCE / "build/dist", f"tesela-{version()}"
    time = int(git("log", "-1", "--format=%ct"))
    if git("status", "--porcelain"):
        print("dist: there are changes that are not committed; the source tarball is that of the last commit")
    shutil.rmtree(dist, ignore_errors=True)
    dist.mkdir(parents=True)
    targets, zig = portable.set_up(build, BINARIES, os.cpu_count())
    jansson = portable.jansson_source(build).name.removeprefix("jansson-")
    made = []
    for target in targets:
        command = target.make_command()
        what = check_version(command, target.run) if target.tests else "not run"
        path = dist / f"{name}-{target.name.replace('musl-', 'linux-')}.tar.gz"
        texts = target.licences()
        members = {f"{path.name.removesuffix('.tar.gz')}/{file}": (data, 0o644) for file, data in texts.items()}
        members[f"{path.name.removesuffix('.tar.gz')}/{command.name}"] = (command.read_bytes(), 0o755)
        pack(path, members, time)
        made.append(path)
        print(f"dist: {path.name} {path.stat().st_size} bytes, {what}", flush=True)
        if target.name == "musl-x86_64":
            deb(build, dist / f"tesela_{version()}_amd64.deb", command, texts, time)
            check_deb(build, dist / f"tesela_{version()}_amd64.deb")
    run(["git", "-C", SOURCE, "archive", "--format=tar.gz", f"--prefix={name}/", "-o", dist / f"{name}.tar.gz", "HEAD"])
    check_sources(build, dist / f"{name}.tar.gz")
    sbom(dist / f"{name}.spdx.json", made, jansson, run([zig, "version"]).strip(), time)
    sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in sorted(dist.iterdir())]
    (dist / "SHA256SUMS").write_text("".join(sums))
    run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=dist)
    print("".join(sums), end="")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as why:
        sys.exit(f"dist: {why}")
