#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which module may include which: reads the #include lines of a tree and names each that points the wrong way.

    check_includes.py [TREE]        exit 1 if there is one; TREE is this checkout unless told

The modules are the folders of src/; a public header belongs to the module it is named after (or that PUBLIC
says). Every module includes itself, system headers, and what stands after it here, nothing else.
"""

import re
import sys
from pathlib import Path

MAY_INCLUDE = {
    "base": "",
    "arena": "base",
    "assign": "base",
    "layout": "base",
    "xla": "base layout",
    "register": "base layout",
    "tile": "base layout register",
    "notation": "base layout xla register tile device",
    "infer": "base layout register tile notation",
    "kernels": "base",
    "relayout": "base layout kernels",
    "device": "base layout relayout",
    "graph": "base layout xla relayout notation device arena assign",
    "report": "base layout xla notation",
    "draw": "base arena layout xla register notation",
    "codegen": "base layout register tile",
}

# Public headers that are not named after their module.
PUBLIC = {
    "dtype": "layout", "program": "layout", "walk": "layout", "xla_bitcast": "xla", "xla_interchange": "xla",
    "values": "relayout", "fragment": "register", "tile_memory": "tile", "access": "tile",
    "exchange": "tile", "register_text": "notation", "draw_register": "draw", "draw_arena": "draw", "target": "device", "dma": "device",
    "device_view": "device", "transfer": "device", "device_text": "notation", "propagate": "graph",
    "graph_loops": "graph", "graph_run": "graph", "graph_memory": "graph", "graph_padding": "graph", "graph_text": "graph"
}

# Third-party headers and the only folder that may use them.
THIRD_PARTY = {"jansson.h": "cli"}

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.M)


def module_of(path):
    """The module of a file: "layout", "cli", "tesela" for the headers and the file that include all."""
    folder, *rest = path.parts
    if folder == "src":
        return rest[0] if len(rest) > 1 else "tesela"
    if folder == "include":
        return PUBLIC.get(path.stem, path.stem)
    return folder


def included_file(tree, path, quoted, angled):
    """The file of this tree that an #include names, relative to it; None for a system header."""
    folders = ["include"] if path.parts[0] == "cli" else ["include", "src"]
    places = ([path.parent] if quoted else []) + [Path(folder) for folder in folders]
    for place in places:
        found = place / (quoted or angled)
        if (tree / found).is_file():
            return Path(*(tree / found).resolve().relative_to(tree.resolve()).parts)
    return None


def what_is_wrong(tree, path, quoted, angled):
    name, here = quoted or angled, module_of(path)
    if name in THIRD_PARTY and here != THIRD_PARTY[name]:
        return f"only {THIRD_PARTY[name]}/ may use it"
    found = included_file(tree, path, quoted, angled)
    if found is None:
        return "no such file" if quoted or name.startswith("tesela/") else None
    there = module_of(found)
    if path.parts[0] == "include" and found.parts[0] != "include":
        return "a public header includes public headers only"
    if here in (there, "tesela"):
        return None
    if here == "cli":
        return None if found.parts[0] == "include" else "the command uses public headers only"
    if here not in MAY_INCLUDE:
        return f"{here} is not a module that check_includes.py knows"
    if there not in MAY_INCLUDE[here].split():
        return f"{here} may include: {MAY_INCLUDE[here] or 'only itself'}"
    return None


def wrong_includes(tree):
    """One line for each #include that points the wrong way."""
    wrong = []
    for folder in ("include", "src", "cli"):
        for file in sorted((tree / folder).rglob("*.*")):
            if file.suffix not in (".c", ".h", ".inc"):
                continue
            text, path = file.read_text(), file.relative_to(tree)
            for match in INCLUDE.finditer(text):
                reason = what_is_wrong(tree, path, *match.groups())
                if reason:
                    line = text.count("\n", 0, max(match.start(1), match.start(2))) + 1
                    wrong.append(f"{path}:{line}: includes {match[1] or match[2]}; {reason}")
    return wrong


def main():
    tree = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    wrong = wrong_includes(tree)
    print("\n".join(wrong) or "every include points the right way")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
