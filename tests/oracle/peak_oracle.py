# SPDX-License-Identifier: Apache-2.0
"""The peak of a scheduled HLO module by enumeration: a set of instants for each array, and a sum for each instant.

It reads the subset of HLO text that test_report_peak.py writes: untiled f32 vectors, tuples, and the opcodes below. It shares
no code with the library, and has no data structure but dicts, lists and sets.
"""

import re


class Array:
    def __init__(self, size, space, at, kind, maker):
        self.size, self.space, self.kind = size, space, kind
        self.maker = maker  # the name of its instruction
        self.first, self.uses, self.output = at, {at}, False
        self.home = {self}  # all arrays in the same memory

    def instants(self):
        return set(range(self.first, max(self.uses) + 1))


def read(text):
    modules, name = {}, None
    for line in text.splitlines():
        if line.endswith("{"):
            name = line.split()[-2].lstrip("%")
            modules[name] = []
            entry = name if line.startswith("ENTRY") else None
        elif " = " in line:
            root, of, shape, opcode, operands, rest = re.match(
                r" *(ROOT )?%(\S+) = (.*?) ([a-z-]+)\(([^)]*)\)(.*)", line).groups()  # fmt: skip
            modules[name].append((of, shape, opcode, re.findall(r"%([\w.]+)", operands), operands, rest, bool(root)))
    header = text.splitlines()[0]
    donated = [(int(a), int(b)) for a, b in re.findall(r"\{(\d+)\}: \((\d+), \{\}", header)]
    return modules, entry, donated


def members(shape):
    """(bytes, space) of each array of a shape."""
    return [(-(-int(n) * 4 // 512) * 512 if not s or s == "0" else int(n) * 4, int(s or 0))
            for n, s in re.findall(r"f32\[(\d+)\](?:\{0(?::S\((\d+)\))?\})?", shape)]  # fmt: skip


class Run:
    def __init__(self, text):
        self.text, self.entry, self.donated = read(text)
        self.time, self.arrays, self.pairs = 0, [], []
        self.beside = {}  # of the table of a start: the arrays and pairs of its computation
        self.running = []  # the names of the instructions that run, each called by the one before
        self.same = {}  # a loop's parameter that the loop carries unchanged: the array before the loop
        out = self.computation(self.entry, None)
        self.outputs = out
        for array in self.leaves(out) + self.tables(out):
            array.uses.add(self.time - 1)
            array.output = True
        self.join()

    # a value is an Array, or (table, [values]) of a tuple

    def leaves(self, value):
        return [self.real(value)] if isinstance(value, Array) else [leaf for v in value[1] for leaf in self.leaves(v)]

    def tables(self, value):
        return [] if isinstance(value, Array) else [value[0]] + [t for v in value[1] for t in self.tables(v)]

    def array(self, size, space, kind="temporary"):
        made = Array(size, space, self.time, kind, self.running[-1])
        self.arrays.append(made)
        return made

    def make(self, shape, kind="temporary"):
        if not shape.startswith("("):
            return self.array(*members(shape)[0], kind)
        return (self.array(512, 0, "table"), [self.array(size, space, kind) for size, space in members(shape)])

    def use(self, *values):
        for value in values:
            for array in self.leaves(value) + self.tables(value):
                array.uses.add(self.time)

    def real(self, array):
        while array in self.same:
            array = self.same[array]
        return array

    def share(self, a, b, by=None, dying=False):
        """b is in the memory of a if a is not used after an instant."""
        self.pairs.append([a, b, self.time if by is None else by, dying])

    def loop(self, init, body, condition):
        self.use(init)
        begin = self.time
        inner = (init[0], [self.array(a.size, a.space, "passed") for a in init[1]])
        self.computation(condition, [inner])
        table, root = self.computation(body, [inner])
        self.share(init[0], table, 10**9)  # one table, whenever it is written
        result = []
        for a, p, r in zip(init[1], inner[1], root):
            a, p, r = self.real(a), self.real(p), self.real(r)
            if r is p:  # carried unchanged: the same array, through the whole loop
                a.uses |= p.uses | {self.time}
                self.arrays.remove(p)
                self.same[p] = a
                result.append(a)
                continue
            r.uses.add(self.time)
            end = self.array(r.size, r.space, "passed")
            self.share(a, p, begin)
            self.share(p, r, r.first)
            self.share(r, end)
            result.append(end)
        return (init[0], result)

    def inside(self, value, began):
        """What a branch gets: the array outside in the main memory; else an array of its own, which dies after its last use in this
        branch. It is the array outside where that is used after the conditional began or stays for the caller; else it is in its
        memory."""
        if not isinstance(value, Array):
            return (value[0], [self.inside(v, began) for v in value[1]])
        outer = self.real(value)
        if outer.space == 0:
            return outer
        own = self.array(outer.size, outer.space, "passed")
        own.maker = outer.maker
        self.share(outer, own, began, "branch")
        return own

    def start(self, name, given):
        """A computation that may run until its end is waited for: (operands, result, context)."""
        arrays, pairs = set(self.arrays), len(self.pairs)
        result = self.computation(name, given)
        table = self.array(512, 0, "table")
        self.beside[table] = [a for a in self.arrays if a not in arrays], self.pairs[pairs:]
        return (table, [(self.array(512, 0, "table"), given), result, self.array(4, 2)])

    def done(self, started):
        """What the computation made lives until now; what it has written in place by its end may be written until now."""
        arrays, pairs = self.beside[started[0]]
        for pair in pairs:
            if not pair[3] and max(self.real(pair[0]).uses) <= pair[2]:
                pair[2] = max(pair[2], self.time)
        for array in arrays:
            self.real(array).uses.add(self.time)
        self.use(started)
        return started[1][1]

    def computation(self, name, given):
        env = {}
        for of, shape, opcode, operands, inside, rest, root in self.text[name]:
            ops = [env[o] for o in operands]
            self.running.append(of)
            called = re.findall(r"(?:body|condition|calls|to_apply)=%([\w.]+)", rest)
            if opcode == "parameter":
                value = self.make(shape, "argument") if given is None else given[int(inside)]
            elif opcode == "tuple":
                value = (self.array(512, 0, "table"), ops)
            elif opcode == "get-tuple-element":
                ops[0][0].uses.add(self.time)
                value = ops[0][1][int(re.search(r"index=(\d+)", rest).group(1))]
            elif opcode == "bitcast":
                value = ops[0]
            elif opcode == "while":
                value = self.loop(ops[0], re.search(r"body=%([\w.]+)", rest).group(1),
                                  re.search(r"condition=%([\w.]+)", rest).group(1))  # fmt: skip
            elif opcode == "call":
                value = self.computation(called[0], ops)
            elif opcode == "conditional":
                self.use(*ops)
                began = self.time
                names = re.search(r"branch_computations=\{(.*?)\}", rest).group(1).replace("%", "").split(", ")
                roots, free = [], []  # free: pairs of which only another branch uses the first array later
                for k, branch in enumerate(names):
                    begun = len(self.pairs)
                    got = self.computation(branch, [self.inside(ops[1 + k], began)])
                    self.real(got).uses.add(self.time - 1)
                    free += [p for p in self.pairs[begun:] if not p[3] and max(self.real(p[0]).uses) <= p[2] < 10**8]
                    if roots:
                        self.share(roots[0], got, self.real(got).first)
                    roots.append(got)
                for pair in free:
                    pair[2] = self.time
                for array in [a for op in ops[1:] for a in self.leaves(op) + self.tables(op) if a.space == 0]:
                    array.uses.add(self.time)
                value = self.array(*members(shape)[0], "passed")
                self.share(roots[0], value)
            elif opcode in ("async-start", "call-start"):
                value = self.start(called[0], ops)
            elif opcode in ("async-done", "call-done"):
                value = self.done(ops[0])
            elif opcode == "copy-start":
                self.use(*ops)
                value = self.make(shape)
                self.arrays.remove(value[1][1])
                value[1][1] = ops[0]
            elif opcode == "copy-done":
                self.use(*ops)
                value = ops[0][1][0]
            else:
                self.use(*ops)
                value = self.make(shape, "constant" if opcode == "constant" else "temporary")
                if opcode == "dynamic-update-slice":
                    self.share(ops[0], value)
                for out, operand in re.findall(r"\{(\d*)\}: \((\d+), ", rest):
                    self.share(ops[int(operand)], self.leaves(value)[int(out or 0)])
                if opcode in ("add", "negate"):
                    for o in ops:
                        self.share(o, value, dying=True)
            env[of] = value
            if root or of == self.text[name][-1][0]:
                result = value
            self.time += 1
            self.running.pop()
        return result

    def join(self):
        arguments = [a for a in self.arrays if a.kind == "argument"]
        given = {id(arguments[b]) for _, b in self.donated}
        kept = lambda a: a.kind == "constant" or (a.kind == "argument" and id(a) not in given)  # noqa: E731
        for a, b, at, dying in self.pairs:
            a, b = self.real(a), self.real(b)
            if dying == "branch" and (max(a.uses) > at or any(kept(x) for x in a.home)):
                self.same[b] = a
                a.uses |= b.uses
                self.arrays.remove(b)
                continue
            if a.home is b.home or a.space != b.space or max(a.uses) > at:
                continue
            if any(kept(x) for x in a.home | b.home):
                continue
            if all(any(x.kind == "argument" for x in home) for home in (a.home, b.home)):
                continue
            if dying is True and (max(max(x.uses) for x in a.home) > at or a.size != b.size or len(b.home) > 1
                          or any(x.kind == "argument" for x in a.home)):  # fmt: skip
                continue
            self.merge(a, b)
        for out, number in self.donated:
            a, b = arguments[number], self.leaves(self.outputs)[out]
            if a.home is not b.home and not any(x.kind == "argument" for x in b.home):
                self.merge(a, b)

    def merge(self, a, b):
        both = a.home | b.home
        for x in both:
            x.home = both

    def after_operands(self):
        """{instruction: its place}: computation by computation, each instruction after its operands, the first of these first."""
        place, operands = {}, {line[0]: line[3] for lines in self.text.values() for line in lines}

        def visit(name):
            for operand in operands[name] if name not in place else ():
                visit(operand)
            place.setdefault(name, len(place))

        used = {operand for names in operands.values() for operand in names}
        for name in operands:
            if name not in used:
                visit(name)
        return place

    def peaks(self):
        """{space: (bytes, first instant)}."""
        homes, seen = [], set()
        for array in self.arrays:
            if id(array.home) not in seen:
                seen.add(id(array.home))
                homes.append(array.home)
        size = lambda home: max(a.size for a in home)  # noqa: E731
        is_kind = lambda home, kind: any(a.kind == kind for a in home)  # noqa: E731
        is_output = lambda home: any(a.output for a in home)  # noqa: E731
        lives = lambda home: (set(range(self.time)) if is_kind(home, "constant")  # noqa: E731
                              else set().union(*(a.instants() for a in home)))  # fmt: skip
        space = lambda home: next(iter(home)).space  # noqa: E731
        place = self.after_operands()
        first = lambda home: (min(place[a.maker] for a in home), min(self.arrays.index(a) for a in home))  # noqa: E731
        kept = [h for h in homes if is_kind(h, "argument") or is_output(h)]
        rest = [h for h in homes if h not in kept]
        # temporaries of 64 KiB or more in the memory of results, the largest first
        hosts = sorted((h for h in kept if is_output(h) and size(h) >= 65536), key=lambda h: (size(h), [-n for n in first(h)]))
        busy = {id(h): lives(h) for h in hosts}
        outside = []
        for home in sorted(rest, key=lambda h: (-size(h), first(h))):
            room = [h for h in hosts if size(h) >= size(home) >= 65536 and space(h) == space(home)
                    and not busy[id(h)] & lives(home) and not is_kind(home, "constant")]  # fmt: skip
            if room:
                busy[id(room[0])] |= lives(home)
            else:
                outside.append(home)
        answer = {}
        for s in {0} | {space(h) for h in homes}:
            base = sum(size(h) for h in kept if space(h) == s)
            best = (0, 0)
            for t in range(self.time):
                alive = sum(size(h) for h in outside if space(h) == s and t in lives(h))
                if alive > best[0]:
                    best = (alive, t)
            answer[s] = (base + best[0], best[1])
        return answer
