# SPDX-License-Identifier: Apache-2.0
"""`tesela pack --verify` and `--dry-run`: every bit of a file that is another one is found; nothing is written. And the shards of a
checkpoint: what an index may be, what is refused, what is written."""

import json
import os
import random
import re

import pytest
from command import disturbed, on_a_terminal, run
from tensor_bytes import elements, placed, read_safetensors, safetensors

SEED = int(os.environ.get("TESELA_SEED", "20261123"), 0)
TILED = {"w": "bf16[3,5]{1,0:T(2,2)(2,1)}", "v": "s8[7,3]{0,1:T(4)}", "u": "f32[2,3]{1,0:T(2,4)}"}
TYPES = {"bf16": "BF16", "s8": "I8", "f32": "F32"}
RULES = [f"{name}={layout[layout.index('{'):]}" for name, layout in TILED.items()]
PLAIN = {"step": ("I64", [], bytes(range(8))), "norm": ("I8", [5], b"norms")}


def dims(layout):
    return [int(n) for n in layout.split("[")[1].split("]")[0].split(",")]


def plain(layout):
    return layout.split("{")[0]


def tensors():
    made = {name: (TYPES[layout.split("[")[0]], dims(layout), placed(plain(layout), elements(plain(layout)))) for name, layout in TILED.items()}
    return {**made, **PLAIN}


def pack(*words, status=0, **how):
    done = run("pack", *map(str, words), **how)
    assert done.returncode == status, done.stderr.decode()
    return done


def said(*words, status=2, **how):
    done = pack(*words, status=status, **how)
    assert done.stdout == b""
    return done.stderr.decode()


def ask(folder, requests):
    text = "".join(json.dumps(request) + "\n" for request in requests)
    return [json.loads(line) for line in run("query", f"--files={folder}", text=text).stdout.splitlines()]


@pytest.fixture(scope="module")
def disturb():
    """The environment of a command in which disturb.c is at work."""
    with disturbed() as words:
        yield words


@pytest.fixture
def source(tmp_path):
    (tmp_path / "m").write_bytes(safetensors(tensors(), {"by": "hand"}))
    return tmp_path / "m"


def everything(folder):
    return {p: (p.stat().st_mtime_ns, p.stat().st_ino, p.read_bytes()) for p in folder.rglob("*") if p.is_file()}


# ---- verify ----


@pytest.mark.parametrize("fill", ["zero", "leave", "1", "0x81"])
def test_every_flipped_bit_is_found(source, fill):
    """One byte of the file after the other is another one; the file as it is passes. All in one process."""
    folder = source.parent
    request = {"op": "pack", "file": "m", "rules": RULES, "fill": fill, "threads": 1}
    (first,) = ask(folder, [{**request, "output": "good", "verify": True}])
    assert first["verified"] is True and (first["n_packed"], first["n_tensors"]) == (3, 5)
    good, rng = (folder / "good").read_bytes(), random.Random(SEED)
    print("seed", SEED)
    for at in range(len(good)):
        wrong = good[at] ^ 1 << rng.randrange(8)
        (folder / f"x{at}").write_bytes(good[:at] + bytes([wrong]) + good[at + 1 :])
    (folder / "short").write_bytes(good[:-1])
    (folder / "long").write_bytes(good + b"\0")
    names = ["good", "short", "long", *(f"x{at}" for at in range(len(good)))]
    answers = ask(folder, [{**request, "output": name, "verify": True, "dry_run": True} for name in names])
    assert [name for name, answer in zip(names, answers) if answer["ok"] is not True or answer["verified"]] == ["good"]


def test_what_differs_is_said(source):
    folder, out = source.parent, source.parent / "p"
    pack(source, "-o", out, *RULES, "--verify")
    good = out.read_bytes()
    tensors, _ = read_safetensors(good)
    for name, layout, index in (("w", TILED["w"], 7), ("u", TILED["u"], 4)):
        begin = good.index(tensors[name][2])
        bad = bytearray(good)
        width = len(tensors[name][2]) // tensors[name][1][0]
        values = elements(plain(layout))
        where = tensors[name][2].index(values[index].to_bytes(width, "little")) // width
        bad[begin + where * width] ^= 1
        out.write_bytes(bad)
        text = said(source, "-o", out, *RULES, "--verify", "--dry-run", status=1)
        columns = dims(layout)[1]
        found = f"0x{values[index] ^ 1:0{2 * width}x}; expected 0x{values[index]:0{2 * width}x} (1 elements differ)"
        assert f"tensor {name}: element ({index // columns},{index % columns}), at place {where}, is {found}" in text
    assert sorted(os.listdir(folder)) == ["m", "p"]


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_threads_find_the_same_first_difference(tmp_path, threads):
    """Large enough for several threads; of two bytes that are wrong the first tensor's is named, be it an element or padding."""
    rng, source, out = random.Random(SEED), tmp_path / "m", tmp_path / "p"
    source.write_bytes(safetensors({name: ("I16", [2048, 1025], rng.randbytes(2048 * 1025 * 2)) for name in "abcd"}))
    words = (source, "-o", out, "a={1,0:T(8,128)(2,1)}", "b={0,1:T(8,128)}", "c={1,0:T(8,128)}", f"--threads={threads}", "--verify")
    pack(*words)
    pack(*words, "--dry-run")
    good = out.read_bytes()
    begin = 8 + int.from_bytes(good[:8], "little")
    row = 9 * 128 * 8 * 2  # bytes of a row of tiles of 1025 columns, in a and c
    ends = {name: begin + offsets[1] for name, offsets in data_offsets(good).items()}
    for places, message in (
        ([ends["a"] - 1, ends["b"] - 1], "tensor a: padding at place"),  # the last place of a tile whose one column is used
        ([ends["a"] - row, ends["a"] - 1], "tensor a: element (2040,0)"),
        ([ends["d"] - 1, ends["c"] - row], "tensor c: element (2040,0)"),
        ([ends["d"] - 1], f"tensor d: byte {2048 * 1025 * 2 - 1} is"),
        ([ends["b"] - 2], "tensor b: padding at place"),
    ):
        bad = bytearray(good)
        for at in places:
            bad[at] ^= 4
        out.write_bytes(bad)
        text = said(*words, "--dry-run", status=1)
        assert message in text, (places, text)


def data_offsets(file):
    header = json.loads(file[8 : 8 + int.from_bytes(file[:8], "little")])
    return {name: tensor["data_offsets"] for name, tensor in header.items() if name != "__metadata__"}


def test_a_flip_while_it_is_written(source, disturb):
    """The bytes on the disk are another one after they were synced: no output, and an old one stays."""
    out = source.parent / "p"
    pack(source, "-o", out, *RULES)
    good = out.read_bytes()
    out.write_bytes(b"old")
    for at in (3, 100, len(good) - 70, len(good) - 40, len(good) - 1):
        text = said(source, "-o", out, *RULES, "--verify", status=3, env={**disturb, "DISTURB_FLIP": str(at)})
        assert "expected 0x" in text or "is not" in text
        assert out.read_bytes() == b"old" and sorted(os.listdir(source.parent)) == ["m", "p"]
    pack(source, "-o", out, *RULES, env={**disturb, "DISTURB_FLIP": "100"})  # without --verify it is not seen
    assert out.read_bytes() != good


def test_verify_of_numbers_that_are_swapped_is_refused(tmp_path):
    from tensor_bytes import npy

    (tmp_path / "x.npy").write_bytes(npy(">i2", (2, 3), bytes(12)))
    text = said(tmp_path / "x.npy", "-o", tmp_path / "p", "--to={0,1}", "--verify")
    assert "cannot verify a copy that changes the bytes of numbers" in text and not (tmp_path / "p").exists()


# ---- dry run ----


def test_a_dry_run_writes_nothing(source, tmp_path):
    before = everything(tmp_path)
    done = pack(source, "-o", tmp_path / "p", *RULES, "--dry-run")
    assert done.stderr.decode().startswith("3 of 5 tensors would be packed, ") and done.stdout == b""
    pack(source, "-o", source, *RULES, "--dry-run", "--resume")
    said(source, "-o", tmp_path / "p", *RULES, "--dry-run", "--verify")  # there is no output
    assert everything(tmp_path) == before
    dry = json.loads(pack(source, "-o", tmp_path / "p", *RULES, "--dry-run", "--json").stdout)
    real = json.loads(pack(source, "-o", tmp_path / "p", *RULES, "--json").stdout)
    assert dry.pop("dry_run") is True and dry == real and real["bytes"] == (tmp_path / "p").stat().st_size


def test_a_dry_run_refuses_what_a_run_refuses(source, tmp_path):
    for words in (["w={0,1,2}"], ["zz={0,1}"], ["w={1,0}", "--fill=x"], ["w=f32[3,5]{1,0}"]):
        assert said(source, "-o", tmp_path / "p", *words, "--dry-run") == said(source, "-o", tmp_path / "p", *words)


# ---- the summary ----


def test_the_summary(source, tmp_path):
    text = pack(source, "-o", tmp_path / "p", *RULES).stderr.decode()
    assert re.fullmatch(r"3 of 5 tensors packed, \d+ B in \d+\.\d s\n", text), text
    text = pack(source, "-o", tmp_path / "p", *RULES, "--verify", "--resume").stderr.decode()
    assert re.fullmatch(r"3 of 5 tensors packed and verified, \d+ B in \d+\.\d s\n", text), text
    assert pack(source, "-o", tmp_path / "p", *RULES, "--json").stderr == b""
    whole = (tmp_path / "p").read_bytes()
    done = pack(source, *RULES)  # to standard output
    assert done.stdout == whole and b"3 of 5 tensors packed" in done.stderr


LINE = re.compile(r"\r *(\d+)%  ([\d.]+) MiB of ([\d.]+) MiB, ([\d.]+) MiB/s, (\d+) s left \x1b\[K")


def test_what_is_left_on_a_terminal(tmp_path, disturb):
    """Each look at the clock is half a second after the last one: shape and numbers of all lines, and that nothing of them stays."""
    source, out = tmp_path / "m", tmp_path / "p"
    source.write_bytes(safetensors({name: ("I8", [6144, 1024], random.Random(SEED).randbytes(6 << 20)) for name in "abc"}))
    words = ["pack", source, "-o", out, "a={1,0:T(8,128)}", "b={0,1}", "--threads=1", "--verify"]
    text, status = on_a_terminal(*words, **disturb, DISTURB_CLOCK="500")
    assert status == 0, text
    lines = [[float(n) for n in line] for line in LINE.findall(text)]
    end = LINE.sub("", text)
    assert re.fullmatch(r"\r\x1b\[K2 of 3 tensors packed and verified, 18.00 MiB in \d+\.\d s\n", end), end
    seconds = 0
    for percent, done, total, speed, left in lines:
        assert total == 2 * 18 and abs(percent - 100 * done / total) <= 0.51
        assert -0.1 <= left - (total - done) / speed <= 1.1  # to the next whole second
        assert done / speed > seconds
        seconds = done / speed
    assert len(lines) > 15 and lines[0][1] < 6 and lines[-1][1] > 30 and [line[1] for line in lines] == sorted(line[1] for line in lines)
    quiet = pack(source, "-o", out, "a={1,0}", env={**disturb, "DISTURB_CLOCK": "500"}).stderr
    assert b"left" not in quiet and b"\r" not in quiet


# ---- shards ----

SHARDS = {"a.safetensors": ["w", "step"], "b.safetensors": ["v", "norm"], "c.safetensors": ["u"]}


def checkpoint(folder, change=lambda places: places, **more):
    """The tensors in three shards; `change` makes the text of weight_map."""
    folder.mkdir(exist_ok=True)
    all_tensors = tensors()
    for shard, names in SHARDS.items():
        (folder / shard).write_bytes(safetensors({name: all_tensors[name] for name in names}, {"of": shard}))
    places = {name: shard for shard, names in SHARDS.items() for name in names}
    index = {"metadata": {"total_size": 7, "note": "{\u00e9}"}, "weight_map": change(places), **more}
    (folder / "m.index.json").write_text(json.dumps(index, indent=3))
    return folder / "m.index.json"


def test_shards(tmp_path):
    index, out = checkpoint(tmp_path / "in", spare=[1, {"x": None}]), tmp_path / "out"
    out.mkdir()
    answer = json.loads(pack(index, "-o", out / "n.index.json", *RULES, "--verify", "--json").stdout)
    assert sorted(os.listdir(out)) == ["a.safetensors", "b.safetensors", "c.safetensors", "n.index.json"]
    size = 0
    for shard, names in SHARDS.items():
        pack(tmp_path / "in" / shard, "-o", tmp_path / "alone", *[rule for rule in RULES if rule[0] in names])
        assert (out / shard).read_bytes() == (tmp_path / "alone").read_bytes()
        size += sum(len(data) for _, _, data in read_safetensors((out / shard).read_bytes())[0].values())
    assert (out / "n.index.json").read_text() == index.read_text().replace('"total_size": 7', f'"total_size": {size}')
    assert [shard["output"] for shard in answer["shards"]] == [str(out / shard) for shard in sorted(SHARDS)]
    assert (answer["n_tensors"], answer["n_packed"], answer["verified"]) == (5, 3, True)
    assert answer["bytes"] == sum((out / shard).stat().st_size for shard in SHARDS)
    assert b"3 of 5 tensors verified" in pack(index, "-o", out / "n.index.json", *RULES, "--verify", "--dry-run").stderr
    wrong = (out / "b.safetensors").read_bytes()
    (out / "b.safetensors").write_bytes(wrong[:-1] + bytes([wrong[-1] ^ 1]))
    text = said(index, "-o", out / "n.index.json", *RULES, "--verify", "--dry-run", status=1)
    assert "b.safetensors: tensor " in text and "the output differs" in text


def test_shards_of_a_request(tmp_path):
    checkpoint(tmp_path / "in")
    (tmp_path / "out").mkdir()
    request = {"op": "pack", "file": "in/m.index.json", "output": "out/m.index.json", "rules": RULES, "verify": True, "resume": True}
    (answer,) = ask(tmp_path, [request])
    assert answer["ok"] is True and [shard["output"] for shard in answer["shards"]] == [f"out/{shard}" for shard in sorted(SHARDS)]
    assert (answer["n_packed"], answer["n_resumed"]) == (3, 0) and sorted(os.listdir(tmp_path / "out")) == [*sorted(SHARDS), "m.index.json"]
    (tmp_path / "out" / "a.safetensors").unlink()
    (tmp_path / "out" / "a.safetensors").symlink_to(tmp_path / "victim")
    (answer,) = ask(tmp_path, [request])
    assert answer["ok"] is False and not (tmp_path / "victim").exists()


def twice(index):
    """"w" a second time, which json.dumps cannot write."""
    index.write_text(index.read_text().replace('"weight_map": {', '"weight_map": {"w": "b.safetensors",'))


REFUSED = {
    "a missing shard": ({"u": "d.safetensors"}, "a shard that it lists cannot be read: {in}/d.safetensors: No such file or directory"),
    "a tensor in the wrong shard": ({"w": "b.safetensors"}, "{in}/a.safetensors: has tensor w, which the index lists for b.safetensors"),
    "a tensor that is not there": ({"zz": "c.safetensors"}, "{in}/c.safetensors: lacks tensor zz, which the index lists for it"),
    "a tensor that is not listed": ({"norm": None}, "{in}/b.safetensors: has tensor norm, which the index does not list"),
    "a path upwards": ({"w": "../a.safetensors"}, "tensor w is in ../a.safetensors; expected the name of a file beside the index"),
    "two dots": ({"w": ".."}, "tensor w is in ..; expected the name of a file beside the index"),
    "an absolute path": ({"w": "/etc/passwd"}, "tensor w is in /etc/passwd; expected the name of a file"),
    "a folder": ({"w": "sub/a.safetensors"}, "expected the name of a file beside the index"),
    "no name": ({"w": ""}, 'tensor w is in ""; expected the name of a file'),
    "a reserved name": ({"__metadata__": "a.safetensors"}, "weight_map lists a tensor __metadata__: .safetensors files reserve that name"),
    "a number": ({"w": 7}, "a tensor of weight_map: expected the name of a file"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_an_index_that_is_wrong(tmp_path, name):
    changes, message = REFUSED[name]
    index = checkpoint(tmp_path / "in", lambda places: {k: v for k, v in {**places, **changes}.items() if v is not None})
    (tmp_path / "out").mkdir()
    text = said(index, "-o", tmp_path / "out" / "m.index.json", *RULES)
    assert message.replace("{in}", str(tmp_path / "in")) in text
    assert os.listdir(tmp_path / "out") == []


def test_indices_that_are_wrong_as_texts(tmp_path):
    index, out = checkpoint(tmp_path / "in"), tmp_path / "out"
    out.mkdir()
    good = index.read_text()
    twice(index)
    assert "tensor w is listed twice" in said(index, "-o", out / "m.json", *RULES)
    for text, message in (
        ("", "the index is empty"), ("[]", "expected an object"), ("{}", "it has no weight_map"), ('{"weight_map": 3}', "is not an object"),
        ('{"weight_map": {}}', "weight_map lists no tensor"), (good[:-2], "the index is not valid JSON"), (good + "x", "text after its end"),
        (good.replace('"metadata"', '"weight_map": {"x": "y"}, "metadata"'), "two members weight_map"),
    ):  # fmt: skip
        index.write_text(text)
        assert message in said(index, "-o", out / "m.json", *RULES)
    index.write_text(good)
    assert "max_header is 100" in said(index, "-o", out / "m.json", *RULES, "--max-header=100")
    assert os.listdir(out) == []


def test_outputs_of_an_index(tmp_path):
    index = checkpoint(tmp_path / "in")
    before = everything(tmp_path)
    assert "expected --output to end in .index.json" in said(index, *RULES)
    assert "expected --output to end in .index.json" in said(index, "-o", tmp_path / "p.safetensors", *RULES)
    assert "in the folder of the input" in said(index, "-o", tmp_path / "in" / "other.json", *RULES)
    (tmp_path / "link").symlink_to(tmp_path / "in")
    assert "in the folder of the input" in said(index, "-o", tmp_path / "link" / "other.json", *RULES)
    assert "found an index of shards" in said(index, "-o", tmp_path / "p.json", *RULES, "--dtype=bf16")
    assert "No such file" in said(index, "-o", tmp_path / "none" / "p.json", *RULES)
    (tmp_path / "link").unlink()
    assert everything(tmp_path) == before


def test_rules_are_for_all_shards(tmp_path):
    index, out = checkpoint(tmp_path / "in"), tmp_path / "out"
    out.mkdir()
    assert "no tensor matches 'x*'; the file has 5: step, w, norm, v, u" in said(index, "-o", out / "m.json", "x*={1,0}", *RULES)
    text = said(index, "-o", out / "m.json", *RULES[:2], "u={1,0:T(0)}")
    assert "tile extent 0" in text and "^" in text and os.listdir(out) == []


def test_a_shard_that_fails_leaves_nothing(tmp_path):
    """Without --resume the files that are whole already are removed again; old ones stay."""
    index, out = checkpoint(tmp_path / "in"), tmp_path / "out"
    out.mkdir()
    (out / "a.safetensors").write_bytes(b"old")
    (out / ".c.safetensors.partial.tesela").mkdir()
    text = said(index, "-o", out / "m.json", *RULES, status=2)
    assert "its partial file" in text
    assert sorted(os.listdir(out)) == [".c.safetensors.partial.tesela", "a.safetensors"]
    assert (out / "a.safetensors").read_bytes() == b"old"
