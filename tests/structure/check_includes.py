#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which folder may include which: reads the #include lines of a tree and names each that points the wrong way.

    check_includes.py [TREE]        exit 1 if there is one; TREE is this checkout if it is not given

The folders of src/, the public headers that are theirs, and what each may include stand in a table of docs/design.md. Every
folder may include itself, base and system headers besides; a public header may include what one of its folders may. A public
header may be included where it, or a folder that it belongs to, may be. ops/ includes public headers and itself; the command public
headers, itself, and those of ops/ in a list there, which has no others.
"""

import re
import sys
from pathlib import Path

ROW = re.compile(r"^\| `([a-z/]+)` \| ([^|]*)\| [^|]+ \| ([^|]*)\|$", re.M)

# Third-party headers and the only file that may use them.
THIRD_PARTY = {
    "jansson.h": "ops/json_in.c",
    "zlib.h": "ops/decompress.c",
    "zstd.h": "ops/decompress.c",
    "zstd_errors.h": "ops/decompress.c",
}

# What an operating system has: only these files know one. signal.h is standard C, for handlers of the command.
SYSTEM = re.compile(r"^(unistd|fcntl|pthread|sched|signal|poll|dirent|dlfcn|io|windows)\.h$|^(sys|linux)/")
OF_A_SYSTEM = re.compile(r"^(src/base|ops|cli/main)/os_[a-z_]+\.[ch]$|^cli/graph/graph_progress\.c$")

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.M)


class Table:
    """The table of docs/design.md."""

    def __init__(self, tree):
        text = (tree / "docs/design.md").read_text()
        rows = ROW.findall(text)
        self.headers = {folder: re.findall(r"`([a-z_]+)\.h`", headers) for folder, headers, _ in rows}
        shared = re.search(r"^Of `ops/` the command includes only [^`]*((?:\s*`[a-z_]+`)+)\.$", text, re.M)
        self.used = set()  # of the shared ones
        self.shared = {f"ops/{name}.h" for name in re.findall(r"`([a-z_]+)`", shared[1] if shared else "")}
        self.may = {folder: sorted({"base", *re.findall(r"`([a-z/]+)`", may)} - {folder}) for folder, _, may in rows}

    def folders(self, path):
        """The folders a file belongs to: one of src/, or those whose header it is; the top folder for others."""
        top, *rest = path.parts
        if top == "src":
            return ["/".join(rest[:-1]) or "tesela"]
        if top == "include":
            return [folder for folder, names in self.headers.items() if path.stem in names] or [path.stem]
        return [top]


def included_file(tree, path, quoted, angled):
    """The file of this tree that an #include names, relative to it; None for a system header."""
    folders = {"cli": ["include", "cli", "ops"], "ops": ["include", "ops"]}.get(path.parts[0], ["include", "src"])
    places = ([path.parent] if quoted else []) + [Path(folder) for folder in folders]
    for place in places:
        found = place / (quoted or angled)
        if (tree / found).is_file():
            return Path(*(tree / found).resolve().relative_to(tree.resolve()).parts)
    return None


def what_is_wrong(table, tree, path, quoted, angled):
    name, here = quoted or angled, table.folders(path)
    if name in THIRD_PARTY and path.as_posix() != THIRD_PARTY[name]:
        return f"only {THIRD_PARTY[name]} may use it"
    if SYSTEM.search(name) and not OF_A_SYSTEM.search(path.as_posix()):
        return "only os_*.c of src/base, ops and cli/main know an operating system"
    found = included_file(tree, path, quoted, angled)
    if found is None:
        return "no such file" if quoted or name.startswith("tesela/") else None
    there = table.folders(found)
    if path.parts[0] == "include" and found.parts[0] != "include":
        return "a public header includes public headers only"
    if here == ["tesela"]:
        return None
    if path.parts[0] == "cli":
        if found.as_posix() in table.shared:
            table.used.add(found.as_posix())
        elif found.parts[0] not in ("include", "cli"):
            return "the command uses public headers only, and those of ops/ that docs/design.md lists"
        return None
    if path.parts[0] == "ops":
        return None if found.parts[0] in ("include", "ops") else "ops/ uses public headers only"
    for folder in here:
        if folder not in table.may:
            return f"docs/design.md has no row for {folder}"
    allowed = {*here}.union(*(table.may[folder] for folder in here))
    if not allowed.intersection(there):
        return f"{' '.join(here)} may include: {' '.join(sorted(allowed - {*here})) or 'only itself'}"
    return None


def wrong_includes(tree):
    """One line for each #include that points the wrong way."""
    wrong, table = [], Table(tree)
    for folder in ("include", "src", "ops", "cli"):
        for file in sorted((tree / folder).rglob("*.*")):
            if file.suffix not in (".c", ".h", ".inc"):
                continue
            text, path = file.read_text(), file.relative_to(tree)
            for match in INCLUDE.finditer(text):
                reason = what_is_wrong(table, tree, path, *match.groups())
                if reason:
                    line = text.count("\n", 0, max(match.start(1), match.start(2))) + 1
                    wrong.append(f"{path}:{line}: includes {match[1] or match[2]}; {reason}")
    return wrong + [f"docs/design.md: the command includes {name} no longer" for name in sorted(table.shared - table.used)]


def main():
    tree = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    wrong = wrong_includes(tree)
    print("\n".join(wrong) or "every include points the right way")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
