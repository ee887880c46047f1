# SPDX-License-Identifier: Apache-2.0
"""What `tesela report FOLDER` makes of the compiler's own records: random programs are written here as the compiler writes them, as
text in both of its forms and as HloProto, and the peak of each memory space is found by marking every byte."""

import json
import os
import random

import pytest
from command import run

SEED = int(os.environ.get("TESELA_SEED", "1"))
UNIT = 512


class Program:
    """Values in allocations; sizes are multiples of 512 bytes."""

    def __init__(self, rng):
        self.instants = rng.randint(2, 12)
        self.allocations, self.values = [], []
        value = 0
        for number in range(rng.randint(1, 6)):
            space = rng.choice([0, 0, 0, 1, 2])
            use = rng.choice(["preallocated-temp", "preallocated-temp", "parameter", "result", "constant", "thread-local"])
            units = rng.randint(1, 40)
            self.allocations.append({"number": number, "space": space, "use": use, "bytes": units * UNIT})
            for _ in range(rng.randint(1, 6) if use == "preallocated-temp" else 1):
                size = rng.randint(1, units) if use == "preallocated-temp" else units
                offset = rng.randint(0, units - size)
                first = rng.randint(0, self.instants - 1)
                self.values.append({
                    "id": value, "name": f"fusion.{value}", "allocation": number, "space": space,
                    "bytes": size * UNIT, "offset": offset * UNIT, "elements": size * UNIT // 4,
                    "member": rng.choice(["", "", "{1}"]), "from": first, "to": rng.randint(first, self.instants),
                })
                value += 1

    def shape(self, v):
        return f"f32[{v['elements']}]{{0:T(128){'S(%d)' % v['space'] if v['space'] else ''}}}"

    def instruction(self, v):
        array = self.shape(v)
        return f"(s32[]{{:T(128)}}, {array})" if v["member"] else array

    def hlo(self):
        lines = ["HloModule jit_f, is_scheduled=true", "", "FileNames", '1 "model.py"', "", "FileLocations",
                 "1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=1 end_column=2}", "", "StackFrames",
                 "1 {file_location_id=1 parent_frame_id=1}", "", "", "ENTRY %main () -> f32[] {"]
        lines += [f'  %{v["name"]} = {self.instruction(v)} custom-call(), metadata={{op_name="op{v["id"]}" stack_frame_id=1}}'
                  for v in self.values]
        return "\n".join(lines + ["}", ""])

    def total(self):
        return sum(a["bytes"] for a in self.allocations)

    def assignment(self, old=False):
        lines = ["BufferAssignment:"]
        for a in self.allocations:
            use = {"parameter": f"parameter {a['number']}, shape |f32[]| at ShapeIndex {{}}",
                   "result": "output shape is |f32[]|, maybe-live-out"}.get(a["use"], a["use"])
            color = f"color {a['space']}, " if a["space"] else ""
            lines.append(f"allocation {a['number']}: {'0x7f00, ' if old else ''}size {a['bytes']}, {color}{use}:")
            for v in self.values:
                if v["allocation"] != a["number"]:
                    continue
                index = v["member"].replace("{", "[").replace("}", "]") or "[]"
                name = (f"{v['name']}{index}(#{v['id']} @{v['space']})" if old
                        else f"value: <{v['id']} {v['name']}{v['member']} @{v['space']}>")
                lines.append(f" {name} (size={v['bytes']},offset={v['offset']}): {self.shape(v)}")
        return "\n".join(lines + ["", f"Total bytes used: {self.total()} (1B)", ""])

    def live_range(self):
        lines = [f"HloLiveRange (max {self.instants}):", "  InstructionSequence:"]
        lines += [f"    {i}:step.{i}" for i in range(self.instants)] + ["  BufferLiveRange:"]
        lines += [f"    {v['name']}{v['member'] or '{}'}:{v['from']}-{v['to']}" for v in self.values]
        return "\n".join(lines + ["  Live ranges at 0 (peak):", "    x: 1 bytes (cumulative: 1 bytes)", ""])

    def usage(self):
        lines = []
        for space in sorted({a["space"] for a in self.allocations}):
            need = sum(a["bytes"] for a in self.allocations if a["space"] == space)
            lines += [f"Memory Space: any (color={space})", f"Total bytes: {need} (1B)", ""]
        return "\n".join(lines)

    def spaces(self):
        """{space: (needs, peak, first instant of the peak)} by marking units of 512 bytes."""
        answer = {}
        for space in {a["space"] for a in self.allocations}:
            here = [a for a in self.allocations if a["space"] == space]
            always = sum(a["bytes"] for a in here if a["use"] != "preallocated-temp")
            temporary = {a["number"] for a in here if a["use"] == "preallocated-temp"}
            best = (always, None)
            for t in range(self.instants + 1):
                used = {(v["allocation"], unit) for v in self.values
                        if v["allocation"] in temporary and v["from"] <= t <= v["to"]
                        for unit in range(v["offset"] // UNIT, (v["offset"] + v["bytes"]) // UNIT)}
                if used and (best[1] is None or always + len(used) * UNIT > best[0]):
                    best = (always + len(used) * UNIT, t)
            answer[space] = (sum(a["bytes"] for a in here), *best)
        return answer

    def at_peak(self):
        """{name: in use at the peak of its space}; of an allocation that is in use with no value alive, the first largest one."""
        spaces, answer = self.spaces(), {}
        for a in self.allocations:
            mine = [v for v in self.values if v["allocation"] == a["number"]]
            at = spaces[a["space"]][2]
            alive = [v["name"] for v in mine if at is not None and v["from"] <= at <= v["to"]]
            if not alive and a["use"] != "preallocated-temp" and mine:
                alive = [max(mine, key=lambda v: v["bytes"])["name"]]
            answer.update({v["name"]: v["name"] in alive for v in mine})
        return answer

    # the same as HloProto

    def proto_shape(self, v):
        def array(kind, dims, tile, space):
            layout = (packed(1, range(len(dims))) if dims else b"") + field(6, packed(1, tile)) + (number(8, space) if space else b"")
            return number(2, kind) + (packed(3, dims) if dims else b"") + field(5, layout)

        own = array(11, [v["elements"]], [128], v["space"])
        return number(2, 13) + field(4, array(4, [], [128], 0)) + field(4, own) if v["member"] else own

    def proto(self):
        module, buffers = self.proto_parts()
        return module + field(3, buffers)

    def proto_assignment(self):
        return self.proto_parts()[1]

    def proto_parts(self):
        instructions = b"".join(field(2, field(1, v["name"].encode()) + field(3, self.proto_shape(v)) +
                                      field(7, field(2, b"op")) + number(35, v["id"] + (7 << 32)))
                                for v in self.values)
        module = field(1, b"jit_f") + field(2, b"main") + field(3, field(1, b"main") + instructions)
        buffers = b"".join(field(1, number(1, v["id"]) + number(2, v["bytes"]) +
                                 field(3, (packed(3, [1]) if v["member"] else b"") + number(4, v["id"] + (7 << 32))) +
                                 number(4, v["space"])) for v in self.values)
        for a in self.allocations:
            assigned = b"".join(field(9, number(1, v["id"]) + number(2, v["offset"]) + number(3, v["bytes"]))
                                for v in self.values if v["allocation"] == a["number"])
            flags = {"parameter": number(5, 1) + number(6, a["number"]), "result": number(7, 1),
                     "constant": number(12, 1), "thread-local": number(3, 1)}.get(a["use"], b"")
            buffers += field(3, number(1, a["number"]) + number(2, a["bytes"]) + flags + number(8, a["space"]) + assigned)
        return field(1, module), buffers


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def number(n, value):
    return varint(n << 3) + varint(value)


def field(n, data):
    return varint(n << 3 | 2) + varint(len(data)) + data


def packed(n, values):
    return field(n, b"".join(varint(v) for v in values))


def profile(protos):
    """An XSpace as a profiler writes it: a plane of events, and one whose events are programs, among other numbers of theirs."""
    def entry(key, value):
        return field(4, number(1, key) + field(2, value))

    def stat(key, name):
        return field(5, number(1, key) + field(2, number(1, key) + field(2, name)))

    events = b"".join(entry(i, number(1, i) + field(2, b"jit_f(%d)" % i) + field(5, number(1, 5) + number(3, 77)) +
                            field(5, number(1, 4) + field(6, proto))) for i, proto in enumerate(protos, 1))
    host = field(2, b"/host:CPU") + field(3, field(4, b"\x08\x01\x12\x03abc") * 50) + entry(1, number(1, 1) + field(2, b"op"))
    metadata = number(1, 3) + field(2, b"/host:metadata") + events + stat(5, b"program_id") + stat(4, b"Hlo Proto")
    return field(1, host) + field(1, metadata) + field(4, b"worker-0")


START = "module_0001.jit_f.cl_1.after_optimizations"


def write(folder, program, old=False, proto=True, text=True):
    folder.mkdir(exist_ok=True)
    files = {"-live-range.txt": program.live_range(), "-memory-usage-report.txt": program.usage(), ".txt": program.hlo()}
    if text:
        files["-buffer-assignment.txt"] = program.assignment(old)
    for end, words in files.items():
        (folder / (START + end)).write_text(words)
    if proto:
        (folder / (START + ".hlo.pb")).write_bytes(program.proto())
    return folder


def programs(*words):
    done = run("report", "--json", "--top", "0", *map(str, words))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["programs"]


def check(found, program, members=True):
    assert found["name"] == "jit_f"
    spaces = {s["space"]: (s["needs_bytes"], s["peak_bytes"], s["at"]) for s in found["spaces"]}
    assert spaces == program.spaces()
    assert all(s["fragmentation_bytes"] == s["needs_bytes"] - s["peak_bytes"] for s in found["spaces"])
    buffers = {b["instruction"]: b for b in found["buffers"]}
    assert len(buffers) == len(program.values) == found["n_buffers"]
    assert {name: b["at_peak"] for name, b in buffers.items()} == program.at_peak()
    for v in program.values:
        b = buffers[v["name"]]
        assert (b["bytes"], b["offset"], b["space"], b["allocation"]) == (v["bytes"], v["offset"], v["space"], v["allocation"])
        assert (b["from"], b["to"], b["shape"]) == (v["from"], v["to"], program.shape(v))
        assert b["stored_bytes"] == v["bytes"] and b["member"] == (v["member"] or None)
        assert b["location"] == "model.py:7" and b["op_name"] == f"op{v['id']}"
        temporary = program.allocations[v["allocation"]]["use"] == "preallocated-temp"
        assert b["at_peak"] == (not temporary or v["from"] <= spaces[v["space"]][2] <= v["to"])  # others are always in use


@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("how", ["new", "old", "proto", "text"])
def test_random_programs(how, part, tmp_path):
    rng = random.Random(SEED * 1000 + part)
    print("seed", SEED, "part", part)
    for i in range(8):
        program = Program(rng)
        folder = write(tmp_path / str(i), program, how == "old", how != "text", how != "proto")
        (found,) = programs(folder)
        check(found, program)
        assert found["differences"] == [], found["differences"]
        assert found["sum_bytes"] == program.total()
        assert found["total_bytes"] == (None if how == "proto" else program.total())
        tables = sum(bool(v["member"]) for v in program.values)
        assert found["checked"] == {"text": 0, "proto": len(program.values) - tables}.get(how, 2 * len(program.values) - tables)


def plant(program, what):
    v = program.values[0]
    return {
        "total": ("-buffer-assignment.txt", f"used: {program.total()}", f"used: {program.total() + 512}"),
        "size": (".txt", "", ""),
        "usage": ("-memory-usage-report.txt", "Total bytes: ", "Total bytes: 1"),
        "layout": (".txt", f"f32[{v['elements']}]{{0:T(128)", f"f32[{v['elements']}]{{0:T(256)"),
        "unnamed": (".txt", f"%{v['name']} =", "%other ="),
        "outside": ("-buffer-assignment.txt", f"size {program.allocations[0]['bytes']}", "size 1"),
        "broken": ("-buffer-assignment.txt", ",offset=", ",offsets="),
        "proto": ("-buffer-assignment.txt", f"offset={v['offset']})", f"offset={v['offset'] + 4})"),
    }[what]


@pytest.mark.parametrize("what", ["total", "usage", "layout", "unnamed", "outside", "broken", "proto"])
def test_disagreements_are_said(what, tmp_path):
    program = Program(random.Random(SEED))
    folder = write(tmp_path / "dump", program)
    end, before, after = plant(program, what)
    path = folder / (START + end)
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))
    (found,) = programs(folder)
    assert what in {d["code"] for d in found["differences"]}, found["differences"]
    done = run("report", str(folder))
    assert done.returncode == 0 and b"disagree: " in done.stdout


def test_a_buffer_that_is_too_small(tmp_path):
    program = Program(random.Random(SEED))
    program.values[0]["elements"] += 128
    (found,) = programs(write(tmp_path / "dump", program))
    assert "size" in {d["code"] for d in found["differences"]}


def test_broken_protos(tmp_path):
    """Cut at any byte: an answer, and the byte of the damage or a difference from the text."""
    program = Program(random.Random(SEED + 1))
    whole = program.proto()
    folder = write(tmp_path / "dump", program)
    rng = random.Random(SEED)
    module = len(whole) - len(field(3, program.proto_assignment()))  # without what follows it is whole, too
    for cut in sorted(rng.sample([n for n in range(20, len(whole)) if n != module], 25)):
        (folder / (START + ".hlo.pb")).write_bytes(whole[:cut])
        (found,) = programs(folder)
        said = {d["code"]: d["text"] for d in found["differences"]}
        assert "broken" in said and ".hlo.pb: byte " in said["broken"], (cut, said)
        check(found, program)


@pytest.mark.parametrize("bad, why", [
    (b"\xff" * 11, "a number of more than 64 bits"),
    (b"\x1a\xff\xff\xff\xff\x7f", "ends after its message"),
    (b"\x1b", "a group"),
    (b"\x00\x00", "a field number outside"),
    (b"\x08\x80", "a number that does not end"),
])
def test_hostile_protos(bad, why, tmp_path):
    program = Program(random.Random(SEED))
    folder = write(tmp_path / "dump", program)
    start = program.proto()
    (folder / (START + ".hlo.pb")).write_bytes(start + bad)
    (found,) = programs(folder)
    (said,) = [d["text"] for d in found["differences"] if d["code"] == "broken"]
    assert why in said and f"byte {len(start)}" in said or "byte" in said and why in said


def test_deep_protos(tmp_path):
    """A tuple in a tuple, 20,000 deep: no recursion."""
    shape = b""
    for _ in range(20000):
        shape = number(2, 13) + field(4, shape)
    module = field(1, b"jit_f") + field(3, field(2, field(1, b"deep") + field(3, shape) + number(35, 1)))
    value = field(1, number(1, 1) + field(3, packed(3, [0] * 16) + number(4, 1)))
    proto = field(1, module) + field(3, value + field(3, number(2, 512) + field(9, number(1, 1) + number(3, 512))))
    (tmp_path / "deep.hlo.pb").write_bytes(proto)
    (found,) = programs(tmp_path / "deep.hlo.pb")
    assert found["buffers"][0]["member"] == "{" + ",".join(["0"] * 16) + "}"


def test_programs_in_a_profile(tmp_path):
    """Each program of a profile by itself; beside the texts of its module both are compared."""
    rng = random.Random(SEED + 2)
    several = [Program(rng) for _ in range(3)]
    file = tmp_path / "vm.xplane.pb"
    file.write_bytes(profile([program.proto() for program in several]))
    found = programs(file)
    assert [p["records"] for p in found] == [["profile"]] * 3 and [p["name"] for p in found] == ["jit_f"] * 3
    for one, program in zip(found, several, strict=True):
        assert {s["space"]: s["needs_bytes"] for s in one["spaces"]} == {n: s[0] for n, s in program.spaces().items()}
        assert {(b["instruction"], b["offset"], b["bytes"], b["shape"]) for b in one["buffers"]} == {
            (v["name"], v["offset"], v["bytes"], program.shape(v)) for v in program.values}
        assert one["differences"] == []
    folder = write(tmp_path / "dump", several[1], proto=False)
    beside = [p for p in programs(folder, file) if "hlo" in p["records"]]
    assert len(beside) == 1 and "profile" in beside[0]["records"]
    check(beside[0], several[1])
    tables = sum(bool(v["member"]) for v in several[1].values)
    assert beside[0]["differences"] == [] and beside[0]["checked"] >= 2 * len(several[1].values) - tables


def test_a_profile_that_disagrees(tmp_path):
    program = Program(random.Random(SEED))
    (tmp_path / "vm.xplane.pb").write_bytes(profile([program.proto()]))
    folder = write(tmp_path / "dump", program, proto=False)
    end, before, after = plant(program, "proto")
    path = folder / (START + end)
    path.write_text(path.read_text().replace(before, after, 1))
    (found,) = programs(folder, tmp_path / "vm.xplane.pb")
    assert "proto" in {d["code"] for d in found["differences"]}


def test_broken_profiles(tmp_path):
    """Cut at any byte: the byte is said, or it was between two planes."""
    rng = random.Random(SEED)
    whole = profile([Program(rng).proto(), Program(rng).proto()])
    file = tmp_path / "vm.xplane.pb"
    for cut in rng.sample(range(30, len(whole) - len(field(4, b"worker-0"))), 25):
        file.write_bytes(whole[:cut])
        done = run("report", "--json", str(file))
        if done.returncode == 2:  # the plane with programs is missing as a whole
            assert b"nothing recognised" in done.stderr or b"protobuf" in done.stderr
            continue
        said = [d["text"] for p in json.loads(done.stdout)["programs"] for d in p["differences"] if d["code"] == "broken"]
        assert said and "vm.xplane.pb: byte " in said[0], (cut, done)


def test_memory_space_assignment(tmp_path):
    """The tables of --xla_jf_dump_to go to the program whose instructions they name."""
    program = Program(random.Random(SEED))
    first, last = program.values[0]["name"], program.values[-1]["name"]
    write(tmp_path / "xla", program)
    jf = tmp_path / "jf"
    jf.mkdir()
    (jf / "00-memory-space-assignment-bufferinfo.txt").write_text(
        "buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times,use_names,is_scoped\n"
        f'38,"<38 {first}>",0,512,1,"5","x, operand 1",0\n')
    (jf / "01-memory-space-assignment-allocinfo.txt").write_text(
        "buffer_id,size,offset,start_time,end_time\n38,512,1024,0,1\n40,256,0,1,1\n")
    (jf / "02-memory-space-assignment-scheduleinfo.txt").write_text(f"time,instruction_name\n0,{first}\n1,{last}\n")
    (found,) = programs(tmp_path / "xla", jf)
    assert found["stays"] == [
        {"instruction": first, "offset": 1024, "bytes": 512, "from": 0, "to": 1, "first": first, "last": last},
        {"instruction": None, "offset": 0, "bytes": 256, "from": 1, "to": 1, "first": last, "last": last},
    ]


def test_fragmentation_is_named(tmp_path):
    """Two values of 1 MiB alive at once in 4 MiB: peak 2 MiB, needs 4 MiB."""
    program = Program(random.Random(SEED))
    mib = 1 << 20
    program.allocations = [{"number": 0, "space": 0, "use": "preallocated-temp", "bytes": 4 * mib}]
    program.values = [
        {"id": i, "name": f"fusion.{i}", "allocation": 0, "space": 0, "bytes": mib, "offset": 3 * mib * i,
         "elements": mib // 4, "member": "", "from": 0, "to": 1} for i in range(2)]
    folder = write(tmp_path / "dump", program)
    path = folder / (START + ".txt")
    head, _, tail = path.read_text().rpartition("custom-call()")
    path.write_text(head + "custom-call(%fusion.0)" + tail)
    done = run("report", str(folder))
    assert b"fragmentation: 2.00 MiB; peak 2.00 MiB, needs 4.00 MiB" in done.stdout, done.stdout


MIB = 1 << 20


def value(i, allocation, mib, offset=0, space=0):
    return {"id": i, "name": f"fusion.{i}", "allocation": allocation, "space": space, "bytes": mib * MIB, "offset": offset * MIB,
            "elements": mib * MIB // 4, "member": "", "from": 0, "to": 1}


def temporaries(*mib):
    program = Program(random.Random(SEED))
    program.allocations = [{"number": i, "space": 0, "use": "preallocated-temp", "bytes": n * MIB} for i, n in enumerate(mib)]
    return program


@pytest.mark.parametrize("what, peak", [("no values", 33), ("no life", 2), ("outside", 3)])
def test_what_cannot_be_followed_is_in_use(what, peak, tmp_path):
    """The compiler's own memory has no values; a value without a life, or outside its allocation: no fragmentation is claimed."""
    program = temporaries(2, 32)
    program.values = [value(0, 0, 1)]
    if what == "no life":
        program.values += [value(1, 1, 1)]
    if what == "outside":
        program.values += [value(1, 0, 2, 1), value(2, 1, 1)]
    folder = write(tmp_path / "dump", program, proto=False)
    if what == "no life":
        path = folder / (START + "-live-range.txt")
        path.write_text(path.read_text().replace("    fusion.1{}:0-1\n", ""))
    (found,) = programs(folder)
    (space,) = found["spaces"]
    assert (space["needs_bytes"], space["peak_bytes"], space["fragmentation_bytes"]) == (34 * MIB, peak * MIB, None)
    assert b"fragmentation" not in run("report", str(folder)).stdout


def test_only_memory_without_values(tmp_path):
    """All of a space without values, as libtpu reserves it: in use."""
    program = temporaries(2, 32)
    program.allocations[1]["space"] = 1
    program.values = [value(0, 0, 2)]
    (found,) = programs(write(tmp_path / "dump", program))
    assert [(s["peak_bytes"], s["fragmentation_bytes"]) for s in found["spaces"]] == [(2 * MIB, 0), (32 * MIB, None)]


SCHEDULED = """HloModule jit_f, is_scheduled=true

ENTRY %main (p: f32[262144]) -> f32[N] {
  %p = f32[262144]{0:T(128)} parameter(0)
  %fusion.0 = f32[N]{0:T(128)} custom-call(%p), custom_call_target="a"
  ROOT %fusion.1 = f32[N]{0:T(128)} custom-call(%fusion.0), custom_call_target="b"
}
"""


@pytest.mark.parametrize("elements, agree", [(MIB, True), (MIB + 32 * 1024, True), (MIB + 40 * 1024, False), (3 * MIB // 4, False)])
def test_peaks_that_differ_are_said(elements, agree, tmp_path):
    """Records of 9 MiB at the peak beside HLO text of 1 MiB and two values of about 4 MiB: they agree within 3 % or 256 KiB."""
    program = temporaries(8, 4)
    program.allocations += [{"number": 2, "space": 0, "use": "parameter", "bytes": MIB}]
    program.values = [value(0, 0, 4), value(1, 0, 4, 4)]
    program.values += [{**value(2, 1, 4), "bytes": 512, "elements": 128}]
    folder = write(tmp_path / "dump", program, proto=False)
    (folder / (START + ".txt")).write_text(SCHEDULED.replace("[N]", f"[{elements}]"))
    (found,) = programs(folder)
    (space,) = found["spaces"]
    own, peak = MIB + 2 * 4 * elements, 9 * MIB + 512
    assert (space["own_peak_bytes"], space["peak_bytes"]) == (own, peak)
    said = [d for d in found["differences"] if d["code"] == "peak"]
    assert len(said) == (not agree)
    assert space["fragmentation_bytes"] == (None if said else 13 * MIB - peak)
    if said:
        assert str(own) in said[0]["text"] and str(peak) in said[0]["text"]
        done = run("report", str(folder))
        assert b"disagree: memory space 0: the peak is" in done.stdout and b"fragmentation:" not in done.stdout


def test_two_programs_of_one_name(tmp_path):
    """Each gets the peak of its own HLO text, and the text names their files; the one that needs most comes first."""
    sizes = {"module_0001": 2, "module_0002": 5}
    for start, mib in sizes.items():
        program = temporaries(2 * mib)
        program.allocations += [{"number": 1, "space": 0, "use": "parameter", "bytes": MIB}]
        program.values = [value(0, 0, mib), value(1, 0, mib, mib)]
        folder = write(tmp_path / start, program, proto=False)
        (folder / (START + ".txt")).write_text(SCHEDULED.replace("[N]", f"[{mib * MIB // 4}]"))
        for file in folder.iterdir():
            (tmp_path / "dump").mkdir(exist_ok=True)
            file.rename(tmp_path / "dump" / file.name.replace("module_0001", start))
    found = programs(tmp_path / "dump")
    assert [[s["own_peak_bytes"] for s in p["spaces"]] for p in found] == [[(2 * mib + 1) * MIB] for mib in sizes.values()]
    text = run("report", str(tmp_path / "dump")).stdout.decode()
    assert text.index("module_0002.jit_f.): ") < text.index("module_0001.jit_f.): ")


def test_small_programs_are_counted(tmp_path):
    for i, mib in enumerate((200, 1, 1)):
        program = temporaries(mib)
        program.values = [value(0, 0, mib)]
        write(tmp_path / str(i), program, proto=False)
    text = run("report", str(tmp_path)).stdout.decode()
    assert text.count("memory of jit_f") == 1 and "... and 2 smaller programs; --top 0 shows all" in text
    assert run("report", "--top", "0", str(tmp_path)).stdout.count(b"memory of jit_f") == 3


def test_the_peak_is_listed_and_not_what_lives_at_other_times(tmp_path):
    program = temporaries(4)
    program.values = [value(0, 0, 1), value(1, 0, 1, 1), {**value(2, 0, 2, 2), "from": 1}]
    program.instants = 2
    text = run("report", str(write(tmp_path / "dump", program, proto=False))).stdout.decode().partition("HBM at its peak, instant 1:\n")[2]
    assert text.splitlines()[1].split() == [
        "2.00", "MiB", str(2 * MIB), "HBM", "temporary", "1-1", "fusion.2", f"f32[{MIB // 2}]{{0:T(128)}}", "model.py:7"]
    program.values[0]["to"] = program.values[1]["to"] = 0
    text = run("report", str(write(tmp_path / "dump", program, proto=False))).stdout.decode().partition("HBM at its peak, instant 0:\n")[2]
    assert "fusion.0" in text and "fusion.1" in text and "fusion.2" not in text


def test_totals_alone(tmp_path):
    """A memory usage report, or the values of a buffer assignment, without the rest: the compiler's totals, and no arrays."""
    program = Program(random.Random(SEED))
    (tmp_path / (START + "-memory-usage-report.txt")).write_text(program.usage())
    (found,) = programs(tmp_path)
    needs = {s: needs for s, (needs, _, _) in program.spaces().items()}
    assert {s["space"]: (s["needs_bytes"], s["printed_bytes"], s["peak_bytes"]) for s in found["spaces"]} == {
        s: (n, n, None) for s, n in needs.items()}
    (tmp_path / (START + "-memory-usage-report.txt")).unlink()
    (tmp_path / (START + "-buffer-assignment-values.txt")).write_text(
        "\nTotal bytes used: 4096 (4.0KiB)\n\nUsed values:\n<0 fusion @0>\n from instruction: %fusion = f32[8,128]{1,0:T(8,128)} iota()\n")
    done = run("report", "--json", str(tmp_path))
    answer = json.loads(done.stdout)
    assert done.returncode == 0 and answer["totals"]["hlo"]["arrays"] == 0
    assert [p["total_bytes"] for p in answer["programs"]] == [4096]


def test_diff_names_what_grew_at_the_peak(tmp_path):
    program = Program(random.Random(SEED))
    mib = 1 << 20
    program.allocations = [{"number": 0, "space": 0, "use": "preallocated-temp", "bytes": 4 * mib}]
    program.values = [
        {"id": i, "name": f"fusion.{i}", "allocation": 0, "space": 0, "bytes": mib, "offset": mib * i,
         "elements": mib // 4, "member": "", "from": i // 2, "to": i // 2} for i in range(3)]
    before = write(tmp_path / "before", program)
    program.values[1].update(bytes=3 * mib, elements=3 * mib // 4)
    after = write(tmp_path / "after", program)
    done = run("diff", "--json", str(before), str(after))
    assert done.returncode == 1, done.stderr
    (memory,) = json.loads(done.stdout)["memory"]
    assert memory == {
        "name": "jit_f", "space": 0, "before": {"needs_bytes": 4 * mib, "peak_bytes": 2 * mib},
        "after": {"needs_bytes": 4 * mib, "peak_bytes": 4 * mib},
        "grew": [{"instruction": "fusion.1", "shape": f"f32[{3 * mib // 4}]{{0:T(128)}}", "bytes": 2 * mib}],
    }
    done = run("diff", str(before), str(after))
    assert b"S(0) at the peak: 2.00 MiB -> 4.00 MiB, needs 4.00 MiB -> 4.00 MiB" in done.stdout
