# SPDX-License-Identifier: Apache-2.0
"""`tesela relayout`: the bytes it writes against the oracle's places, in every format; and the files when
something goes wrong."""

import json
import os
import pathlib
import pty
import random
import re
import resource
import signal
import struct
import subprocess
import sys
import time

import numpy as np
import pytest
from command import SANITIZED, TESELA, environment, only_if, run
from tensor_bytes import Array, elements, npy, npy_dict, placed, read_safetensors, safetensors, swapped

SEED = int(os.environ.get("TESELA_SEED", "20261121"), 0)
BIG = "u8[16384,8192]"  # 128 MiB: a copy long enough to be disturbed


def relayout(*words, status=0, **how):
    done = run("relayout", *map(str, words), **how)
    assert done.returncode == status, done.stderr.decode()
    return done


def wrong(*words, status=2, **how):
    """The words on stderr of a run that must fail, and must not write anything to stdout."""
    done = relayout(*words, status=status, **how)
    assert done.stdout == b""
    return done.stderr.decode()


@pytest.fixture
def file(tmp_path):
    """file(name, bytes) writes a file and returns its path."""

    def write(name, data):
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write


# ---- raw bytes against the oracle ----


def random_pairs(n):
    """Pairs of layouts over one shape, of widths that can be moved."""
    rng = random.Random(SEED)
    pairs = []
    while len(pairs) < n:
        a = Array.random(rng, 3000)
        if a.bits not in (1, 2, 4, 8, 16, 32, 64, 128):
            continue
        order = list(range(a.rank))
        rng.shuffle(order)
        tiles = [[rng.choice([2, 3, 4, 8]) for _ in range(rng.randint(1, 2))] for _ in range(rng.randint(0, 2))]
        b = Array(a.dtype, a.dims, order, tiles, rng.choice([1, 1, 16]), a.E)
        pairs.append((a.text(), b.text()) if rng.random() < 0.5 else (b.text(), a.text()))
    return pairs


@pytest.mark.parametrize("source, target", random_pairs(40))
def test_every_element_goes_where_the_oracle_says(file, tmp_path, source, target):
    values = elements(source)
    path = file("in", placed(source, values))
    relayout(path, "-o", tmp_path / "out", "--from", source, "--to", target)
    assert (tmp_path / "out").read_bytes() == placed(target, values)


def test_padding_of_the_input_is_not_copied(file):
    source, target = "s16[3,5]{1,0:T(2,2)}", "s16[3,5]{1,0:T(4)}"
    values = elements(source)
    done = relayout(file("in", placed(source, values, fill=0x5555)), "--from", source, "--to", target)
    assert done.stdout == placed(target, values)


@pytest.mark.parametrize(
    "layout, fill, bits",
    [
        ("f32[3,5]{1,0:T(2,2)}", "zero", 0),
        ("f32[3,5]{1,0:T(2,2)}", "1.5", 0x3FC00000),
        ("f32[3,5]{1,0:T(2,2)}", "0x7fc00001", 0x7FC00001),
        ("bf16[3,5]{1,0:T(2,2)}", "-2", 0xC000),
        ("s8[3,5]{1,0:T(2,2)}", "-1", 0xFF),
        ("u16[3,5]{1,0:T(2,2)}", "65535", 0xFFFF),
        ("s4[3,5]{1,0:T(2,2)E(4)}", "-3", 0xD),
    ],
)
def test_padding_is_filled_as_asked(file, layout, fill, bits):
    plain = Array.from_text(layout)
    source = Array(plain.dtype, plain.dims, E=plain.E).text()
    values = elements(source)
    done = relayout(file("in", placed(source, values)), "--from", source, "--to", layout, f"--fill={fill}")
    assert done.stdout == placed(layout, values, fill=bits)


def test_a_fill_that_is_no_value_is_refused(file):
    path = file("in", bytes(60))
    said = wrong(path, "--from", "f32[3,5]", "--to", "{1,0:T(2,2)}", "--fill", "much")
    assert "--fill is much; expected zero, leave or an element: " in said
    said = wrong(path, "--from=u8[60]", "--to={0:T(8)}", "--fill=256")
    assert "--fill is 256; expected zero, leave or an element: " in said


def test_braces_take_type_and_dims_from_the_input(file):
    values = elements("f32[3,5]{1,0}")
    path = file("in", placed("f32[3,5]{1,0}", values))
    braces = relayout(path, "--from", "f32[3,5]{1,0}", "--to", "{0,1:T(2,2)}").stdout
    whole = relayout(path, "--from", "f32[3,5]{1,0}", "--to", "f32[3,5]{0,1:T(2,2)}").stdout
    assert braces == whole == placed("f32[3,5]{0,1:T(2,2)}", values)


def test_values_are_converted_and_swapped_on_the_way(file):
    f32 = file("f32", bytes.fromhex("0000803f 000000c0 0000c07f 01000000"))  # 1, -2, NaN, the least number
    bf16 = relayout(f32, "--from", "f32[4]", "--to", "bf16[4]", "--transform=convert").stdout
    assert bf16[:4] == bytes.fromhex("803f 00c0") and bf16[6:] == bytes(2)
    assert int.from_bytes(bf16[4:6], "little") & 0x7FFF > 0x7F80, "NaN stays NaN"
    swap = relayout(f32, "--from", "f32[4]", "--to", "{0}", "--transform=swap").stdout
    assert swap == swapped(f32.read_bytes(), 4)
    third = struct.pack("<d", 1 / 3)
    (high,) = struct.unpack("<f", struct.pack("<f", 1 / 3))
    pair = struct.pack("<ff", high, 1 / 3 - high)
    low = struct.unpack("<ff", pair)[1]
    split = relayout("-", "--from", "f64[1]", "--to", "f64[1]", "--transform=split", text=third).stdout
    merged = relayout("-", "--from", "f64[1]", "--to", "f64[1]", "--transform=merge", text=pair).stdout
    assert (split, merged) == (pair, struct.pack("<d", high + low))


def test_a_type_is_not_changed_unless_asked(file):
    path = file("in", bytes(60))
    said = wrong(path, "--from", "f32[3,5]", "--to", "bf16[3,5]")
    assert "the tensor is f32[3,5]{1,0}; --to has elements of another type or width: bf16[3,5]{1,0}; " in said
    assert "--transform=convert" in said
    assert "--transform=convert" not in wrong(path, "--from", "f32[3,5]", "--to", "c64[3,5]")
    said = wrong(path, "--from", "f32[3,5]", "--to", "f32[5,3]")
    assert "the tensor is f32[3,5]{1,0}; --to has other dims: f32[5,3]{1,0}" in said
    said = wrong(path, "--from", "f32[3,5]", "--to", "c64[3,5]", "--transform=convert")
    assert "no conversion from f32" in said


@pytest.fixture(scope="module")
def large():
    """An array large enough for several threads, row-major and in tiles."""
    data = random.Random(SEED).randbytes(2 * 700 * 3000)
    values = [data[i : i + 2] for i in range(0, len(data), 2)]
    tiles = "{0,1:T(8,128)(2,1)}"
    image = Array.from_text("u16[700,3000]" + tiles).image()
    return data, tiles, b"".join(b"\0\0" if number is None else values[number] for number in image)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("isa", ["c", "best"])
def test_threads_and_instructions_change_nothing(file, large, threads, isa):
    data, tiles, want = large
    words = [f"--to={tiles}", f"--threads={threads}", f"--isa={isa}", "--memory=1MiB"]
    assert relayout(file("in", data), "--from=u16[700,3000]", *words).stdout == want


@pytest.mark.parametrize(
    "words, message",
    [
        (["--threads=0"], "--threads: expected an integer from 1 to 1024, found '0'"),
        (["--memory=17"], "--memory is 17 bytes; expected 1MiB or more"),
        (["--memory=lots"], "--memory: "),
        (["--isa=sse"], "--isa: expected best|"),
        (["--transform=turn"], "--transform: expected none|"),
        (["--format=npz"], "--format: expected raw|"),
        (["--format=npy", "-o", "x.safetensors"], "the name x.safetensors ends in another format"),
        (["--json"], "standard output can receive the data or JSON, not both"),
        (["--tensor=a"], "has one tensor without a name"),
        (["--dtype=bf16"], "unexpected --dtype"),
    ],
)
def test_wrong_options(file, words, message):
    said = wrong(file("in", bytes(60)), "--from", "f32[3,5]", "--to", "{0,1}", *words)
    assert message in said


@pytest.mark.parametrize(
    "words, message",
    [
        (["--to={0,1}"], "in is raw; missing its layout, as in --from='f32[1000,200]{1,0}'"),
        (["--to={0,1}"], "usage: tesela relayout FILE --to=LAYOUT [-o OUT]"),
        (["--from=f32[3,5]", "--to={0,1}", "-o", "x.npz"], "cannot write the format of x.npz"),
        (["--from=f32[3,5]", "--to={0,1}", "-o", "x.gguf"], "cannot write the format of x.gguf"),
        (["--from=f32[3,5]"], "missing option --to"),
        (["--from=f32[3,5]{1,0:T(0,2)}", "--to={0,1}"], "tile extent 0"),
        (["--from=f32[3,5]", "--to={0,1:T(0,2)}"], "tile extent 0"),
        (["--from=f32[3,5]", "--to={0}"], "the layout orders 1 dim; the array has 2"),
        (["--from=f32[4,5]", "--to={0,1}"], "has 60 bytes; expected 80 for f32[4,5]{1,0}"),
        (["--from=f32[2,5]", "--to={0,1}"], "has 60 bytes; expected 40 for f32[2,5]{1,0}"),
        (["--from=f32[3,5]{1,0:T(2,2)}", "--to={0,1}"], "has 60 bytes; expected 96 for f32[3,5]{1,0:T(2,2)}"),
        (["--from=f32[1048576,1048576,1048576,1048576]", "--to={0,1,2,3}"], "64 bits"),
    ],
)
def test_layouts_that_do_not_fit(tmp_path, words, message):
    (tmp_path / "in").write_bytes(bytes(60))
    assert message in wrong("in", *words, cwd=tmp_path)


def test_json_says_what_was_done(file, tmp_path):
    path, out = file("in", bytes(60)), str(tmp_path / "out")
    done = relayout(path, "-o", out, "--from", "f32[3,5]", "--to", "{1,0:T(2,2)}", "--json")
    said = json.loads(done.stdout)
    (tensor,) = said.pop("tensors")
    assert said == {"output": out, "format": "raw", "bytes": 96}
    assert tensor.pop("plan")
    assert tensor == {
        "from": "f32[3,5]{1,0}", "to": "f32[3,5]{1,0:T(2,2)}", "offset": 0, "bytes": 96,
    }  # fmt: skip
    named = tmp_path / "x.safetensors"
    done = relayout(path, "-o", named, "--from", "f32[3,5]", "--to", "{1,0:T(2,2)}", "--json")
    assert json.loads(done.stdout)["tensors"][0]["name"] == "tensor"


def test_a_name_of_another_format_is_written_when_told(file, tmp_path):
    words = [file("in", b"abcd"), "-o", tmp_path / "x.pt", "--from=u8[4]", "--to={0}"]
    assert "--format=raw" in wrong(*words)
    relayout(*words, "--format=raw")
    assert (tmp_path / "x.pt").read_bytes() == b"abcd"


# ---- .npy ----


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("fortran", [False, True])
@pytest.mark.parametrize("order", "<>")
def test_npy_says_type_dims_and_order(file, version, fortran, order):
    values = elements("s16[3,5]{1,0}")
    data = placed("s16[3,5]{0,1}" if fortran else "s16[3,5]{1,0}", values)
    path = file("x.npy", npy(order + "i2", (3, 5), data if order == "<" else swapped(data, 2), fortran, version))
    assert relayout(path, "--to", "{1,0:T(2,2)}").stdout == placed("s16[3,5]{1,0:T(2,2)}", values)


@pytest.mark.parametrize(
    "descr, layout",
    [
        ("|b1", "pred"), ("|i1", "s8"), ("<i2", "s16"), ("<i4", "s32"), ("<i8", "s64"), ("|u1", "u8"), ("<u2", "u16"),
        ("<u4", "u32"), ("<u8", "u64"), ("<f2", "f16"), ("<f4", "f32"), ("<f8", "f64"), ("<c8", "c64"),
        ("<c16", "c128"),
    ],
)  # fmt: skip
def test_npy_in_and_out_for_every_type(file, tmp_path, descr, layout):
    source, target = f"{layout}[2,3]{{1,0}}", f"{layout}[2,3]{{0,1}}"
    values = elements(source)
    path = file("x.npy", npy(descr, (2, 3), placed(source, values)))
    relayout(path, "-o", tmp_path / "y.npy", "--from", source, "--to", target)
    assert (tmp_path / "y.npy").read_bytes() == npy(descr, (2, 3), placed(target, values), fortran=True)


def test_each_half_of_a_complex_number_is_swapped(file):
    values = elements("c64[3]")
    path = file("x.npy", npy(">c8", (3,), swapped(placed("c64[3]", values), 4)))
    assert relayout(path, "--to", "{0}").stdout == placed("c64[3]", values)


def test_types_that_numpy_lacks_come_as_bytes(file, tmp_path):
    values = elements("bf16[3,5]")
    path = file("x.npy", npy("<V2", (3, 5), placed("bf16[3,5]", values)))
    assert "the elements have 16 bits and no type; give it with --dtype=bf16" in wrong(path, "--to", "{1,0}")
    assert "has elements of 16 bits, but --dtype f32 has 32" in wrong(path, "--to", "{1,0}", "--dtype=f32")
    assert "did you mean bf16" in wrong(path, "--to", "{1,0}", "--dtype=bf17")
    assert "expected an element type, found 'token'" in wrong(path, "--to", "{1,0}", "--dtype=token")
    for spelling in ("bfloat16", "torch.bfloat16", "ml_dtypes.bfloat16"):
        assert relayout(path, "--to", "{1,0}", "--dtype", spelling).stdout == placed("bf16[3,5]", values)
    done = relayout(path, "-o", tmp_path / "y.npy", "--to", "{0,1}", "--dtype", "bf16")
    assert b"NumPy has no type bf16; it reads the elements as type <V2" in done.stderr
    assert (tmp_path / "y.npy").read_bytes() == npy("<V2", (3, 5), placed("bf16[3,5]{0,1}", values), fortran=True)


@pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 0, 2), (1, 1, 1)])
def test_npy_of_rank_0_and_of_no_elements(file, tmp_path, shape):
    dims = ",".join(map(str, shape))
    values = elements(f"f32[{dims}]")
    order = ",".join(map(str, reversed(range(len(shape)))))
    path = file("x.npy", npy("<f4", shape, placed(f"f32[{dims}]", values)))
    relayout(path, "-o", tmp_path / "y.npy", "--to", f"{{{order}}}")
    assert (tmp_path / "y.npy").read_bytes() == path.read_bytes()
    assert relayout(path, "--to", f"f32[{dims}]").stdout == placed(f"f32[{dims}]", values)


def test_the_header_of_python_2_is_read(file):
    path = file("x.npy", npy_dict("{\"shape\":(2L,3L),'descr':\"<i2\",'fortran_order':False}", bytes(range(12))))
    assert relayout(path, "--to", "{1,0}").stdout == bytes(range(12))


def test_bytes_behind_the_array_are_noted(file):
    done = relayout(file("x.npy", npy("|u1", (2,), b"ab more")), "--to", "{0}")
    assert done.stdout == b"ab" and b"5 bytes after the array are ignored" in done.stderr


def test_what_npy_cannot_hold_is_refused(file, tmp_path):
    path, out = file("x.npy", npy("<f4", (3, 5), bytes(60))), tmp_path / "y.npy"
    said = wrong(path, "-o", out, "--to", "{1,0:T(2,2)}")
    assert "without padding, and f32[3,5]{1,0:T(2,2)} is not" in said
    assert "{1,0,2}" in wrong("-", "-o", out, "--from=u8[2,2,2]", "--to={1,0,2}", text=bytes(8))
    said = wrong("-", "-o", out, "--from=s4[4]{0:E(4)}", "--to={0:E(4)}", text=bytes(2))
    assert "cannot hold elements of 4 bits" in said
    assert "pairs of f32" in wrong("-", "-o", out, "--from=f64[1]", "--to={0}", "--transform=split", text=bytes(8))
    assert not out.exists()


def test_tiles_that_move_nothing_are_fine_in_npy(file, tmp_path):
    values = elements("f32[4,8]")
    path = file("x.npy", npy("<f4", (4, 8), placed("f32[4,8]", values)))
    relayout(path, "-o", tmp_path / "y.npy", "--to", "{1,0:T(2,8)}")
    assert (tmp_path / "y.npy").read_bytes() == path.read_bytes()


def test_a_layout_that_contradicts_the_file_is_refused(file):
    path = file("x.npy", npy("<f4", (3, 5), bytes(60)))
    for said in ("f32[3,5]{0,1}", "f32[5,3]", "s32[3,5]", "{0,1}", "f32[3,5]{1,0:T(2,2)}"):
        assert "is f32[3,5]{1,0}; the layout given is " in wrong(path, "--from", said, "--to", "{0,1}")


def test_numpy_reads_what_is_written(file, tmp_path):
    want = np.arange(3 * 5 * 7, dtype="<f4").reshape(3, 5, 7)
    for name, array in {"c": want, "f": np.asfortranarray(want), "b": want.astype(">f4")}.items():
        np.save(tmp_path / f"{name}.npy", array)
        for order in ("2,1,0", "0,1,2"):
            relayout(tmp_path / f"{name}.npy", "-o", tmp_path / "y.npy", "--to", f"{{{order}}}")
            got = np.load(tmp_path / "y.npy")
            assert got.dtype == want.dtype and (got == want).all()
            assert got.flags.f_contiguous == (order == "0,1,2")


# ---- .safetensors ----


def test_one_tensor_of_several(file, tmp_path):
    a, b = elements("f32[3,5]", 1), elements("s8[7]", 2)
    path = file(
        "x.safetensors",
        safetensors({"a": ("F32", (3, 5), placed("f32[3,5]", a)), "b": ("I8", (7,), placed("s8[7]", b))}, {"by": "hand"}),
    )
    assert "has 2 tensors; --tensor=NAME selects one" in wrong(path, "--to", "{0}")
    assert "has no tensor c" in wrong(path, "--to", "{0}", "--tensor=c")
    assert relayout(path, "--to", "{0,1}", "--tensor=a").stdout == placed("f32[3,5]{0,1}", a)
    relayout(path, "-o", tmp_path / "y.safetensors", "--to", "{0:T(4)}", "--tensor=b")
    tensors, metadata = read_safetensors((tmp_path / "y.safetensors").read_bytes())
    assert tensors == {"b": ("I8", [8], placed("s8[7]{0:T(4)}", b))}
    assert metadata == {"by": "hand", "tesela.layout.b": "s8[7]{0:T(4)}"}


def test_a_recorded_layout_is_the_inputs(file, tmp_path):
    values = elements("f32[3,5]")
    path, packed = file("x.npy", npy("<f4", (3, 5), placed("f32[3,5]", values))), tmp_path / "p.safetensors"
    relayout(path, "-o", packed, "--to", "{1,0:T(2,2)}")
    assert relayout(packed, "--to", "{0,1}").stdout == placed("f32[3,5]{0,1}", values)
    assert "is f32[3,5]{1,0:T(2,2)}; the layout given is f32[3,5]{1,0}" in wrong(packed, "--to", "{0,1}", "--from", "{1,0}")


# ---- standard streams ----


def test_standard_input_and_output(file):
    values = elements("f32[3,5]")
    array = npy("<f4", (3, 5), placed("f32[3,5]", values))
    want = placed("f32[3,5]{0,1}", values)
    assert relayout("-", "--to", "{0,1}", text=array).stdout == want
    with open(file("x.npy", array), "rb") as stream:
        assert relayout("-", "--to", "{0,1}", "-o", "-", stdin=stream).stdout == want
    with open(file("x.npy", b"junk" + array), "rb") as stream:
        os.lseek(stream.fileno(), 4, os.SEEK_SET)
        assert relayout("-", "--to", "{0,1}", stdin=stream).stdout == want
    assert relayout("-", "--to", "{0,1}", "--format=npy", text=array).stdout == npy("<f4", (3, 5), want, fortran=True)


def test_a_slow_pipe_is_waited_for(tmp_path):
    fifo, data = tmp_path / "fifo", bytes(range(60))
    os.mkfifo(fifo)
    child = subprocess.Popen(
        [TESELA, "relayout", fifo, "--from=f32[3,5]", "--to={1,0}"], stdout=subprocess.PIPE, env=environment()
    )
    with open(fifo, "wb", buffering=0) as pipe:
        for i in range(0, 60, 20):
            pipe.write(data[i : i + 20])
            time.sleep(0.02)
    assert child.communicate(timeout=60)[0] == data and child.returncode == 0


def test_temporary_data_goes_to_TMPDIR_and_is_gone(tmp_path):
    folder = tmp_path / "tmp"
    folder.mkdir()
    relayout("-", "--from=u8[4]", "--to={0}", text=b"abcd", env={"TMPDIR": str(folder)})
    assert list(folder.iterdir()) == []
    said = wrong("-", "--from=u8[4]", "--to={0}", text=b"abcd", env={"TMPDIR": str(folder / "no")}, status=3)
    assert "standard input: no temporary file" in said


def test_a_terminal_gets_no_data(file):
    master, slave = pty.openpty()
    done = run("relayout", file("in", b"abcd"), "--from=u8[4]", "--to={0}", stdout=slave)
    os.close(slave)
    os.set_blocking(master, False)
    assert done.returncode == 2 and b"standard output: is a terminal" in done.stderr
    with pytest.raises(OSError):
        os.read(master, 1)
    os.close(master)


def test_a_full_disk(file):
    path = file("in", bytes(60))
    with open("/dev/full", "wb") as full:
        said = relayout(path, "--from=f32[3,5]", "--to={1,0}", status=3, stdout=full).stderr
    assert b"standard output: No space left on device" in said
    assert "/dev/full: No space left on device" in wrong(
        path, "-o", "/dev/full", "--from=f32[3,5]", "--to={1,0}", status=3
    )


def test_a_file_that_is_too_large_for_its_folder(file, tmp_path):
    """A limit on the size of files stands for a disk that is full: room is made before anything is written."""
    path, out = file("in", bytes(1 << 20)), tmp_path / "out"
    script = f"ulimit -f 100; exec {TESELA} relayout {path} -o {out} --from='u8[1048576]' --to='{{0}}'"
    done = subprocess.run(["bash", "-c", script], env=environment(), capture_output=True, timeout=60)
    assert done.returncode == 3 and b"no space for 1048576 bytes" in done.stderr
    assert sorted(tmp_path.iterdir()) == [path]


def test_a_reader_that_leaves(file):
    path = file("in", bytes(8 << 20))
    child = subprocess.Popen(
        [TESELA, "relayout", path, "--from=u8[8388608]", "--to={0}"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
    )  # fmt: skip
    assert len(child.stdout.read(10)) == 10
    child.stdout.close()
    assert child.stderr.read() == b"" and child.wait(60) == -signal.SIGPIPE
    child.stderr.close()


# ---- files ----


def test_the_output_may_be_the_input(file, tmp_path):
    values = elements("f32[3,5]")
    path = file("x.npy", npy("<f4", (3, 5), placed("f32[3,5]", values)))
    relayout(path, "-o", path, "--to", "{0,1}")
    assert path.read_bytes() == npy("<f4", (3, 5), placed("f32[3,5]{0,1}", values), fortran=True)
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(file, tmp_path):
    target, link = file("target", b"old"), tmp_path / "link"
    link.symlink_to("target")
    relayout("-", "-o", link, "--from=u8[4]", "--to={0}", text=b"abcd")
    assert link.is_symlink() and target.read_bytes() == b"abcd"


@pytest.mark.parametrize("out, message", [("no/out", "No such file"), ("", "directory"), ("in/out", "Not a directory")])
def test_an_output_that_cannot_be(file, tmp_path, out, message):
    path = file("in", b"abcd")
    assert message in wrong(path, "-o", tmp_path / out, "--from=u8[4]", "--to={0}")
    assert list(tmp_path.iterdir()) == [path]


def test_an_input_that_cannot_be(tmp_path):
    assert "no: No such file" in wrong("no", "--to={0}", cwd=tmp_path)
    assert "is a folder" in wrong(tmp_path, "--to={0}")


def test_an_old_file_stays_when_the_input_is_wrong(file):
    path, old = file("x.npy", npy("<f4", (3, 5), bytes(59))), file("out", b"old")
    wrong(path, "-o", old, "--to", "{0,1}")
    assert old.read_bytes() == b"old"


# ---- in the middle of a copy ----


def heed_signals():
    """Undo what the tests were started with: nohup and a shell's & leave signals ignored."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def holds_unnamed(pid, folder):
    """Has the process a file without a name in the folder open?"""
    try:
        open_files = [os.readlink(link) for link in pathlib.Path(f"/proc/{pid}/fd").iterdir()]
        return any(name.startswith(f"{folder}/#") and name.endswith(" (deleted)") for name in open_files)
    except OSError:  # it closed one meanwhile, or ended
        return False


def disturbed(tmp_path, disturb, *words):
    """Start a long copy over a file that exists and disturb it as soon as its unfinished output is there (without a name,
    where the system has such files). Returns what the process said, its status and the files left beside the input and the
    old one; again if it was done before that."""
    path, out = tmp_path / "in", tmp_path / "out"
    for _ in range(5):
        with open(path, "wb") as big:
            big.truncate(128 << 20)  # takes no room
        out.write_bytes(b"old")
        child = subprocess.Popen(
            [TESELA, "relayout", path, "-o", out, f"--from={BIG}", "--to={0,1}", "--threads=1", "--isa=c", *words],
            stderr=subprocess.PIPE, env=environment(), preexec_fn=heed_signals,
        )  # fmt: skip
        while child.poll() is None and len(list(tmp_path.iterdir())) == 2 and not holds_unnamed(child.pid, tmp_path):
            time.sleep(0.0005)
        disturb(child, path)
        said = child.communicate(timeout=60)[1].decode()
        if child.returncode != 0:
            assert out.read_bytes() == b"old"
            return said, child.returncode, [p.name for p in tmp_path.iterdir() if p not in (path, out)]
    raise AssertionError("every copy was done before it could be disturbed")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_removes_what_is_unfinished(tmp_path, number):
    said, status, left = disturbed(tmp_path, lambda child, path: child.send_signal(number))
    assert (said, status, left) == ("", -number, [])


def test_an_input_that_shrinks_is_said(tmp_path):
    said, status, left = disturbed(tmp_path, lambda child, path: os.truncate(path, 0))
    assert "a file was truncated while it was copied" in said
    assert (status, left) == (3, [])


def test_an_input_that_shrinks_is_an_error_of_a_bounded_copy(tmp_path):
    said, status, left = disturbed(tmp_path, lambda child, path: os.truncate(path, 0), "--memory=16MiB")
    found = re.search(rf"the source was truncated while it was read: it has (\d+) bytes; expected {128 << 20}\n", said)
    assert found and int(found[1]) < 128 << 20  # where a read was cut short, or the length after it
    assert (status, left) == (3, [])


@only_if(not SANITIZED)  # shadow memory needs addresses
def test_a_limit_of_addresses_is_named(tmp_path):
    with open(tmp_path / "in", "wb") as big:
        big.truncate(512 << 20)
    words = [TESELA, "relayout", "in", "-o", "out", "--from=f32[8192,16384]", "--to={0,1}", "--memory=16MiB"]
    limit = (lambda: resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20)))
    done = subprocess.run(words, cwd=tmp_path, env=environment(), preexec_fn=limit, capture_output=True, text=True)
    assert f"its {512 << 20} bytes cannot be mapped" in done.stderr and f"{400 << 20} bytes (ulimit -v)" in done.stderr
    assert done.returncode == 3 and not (tmp_path / "out").exists()


def test_an_ignored_signal_stays_ignored(tmp_path):
    """As under nohup: the copy goes on."""
    (tmp_path / "in").write_bytes(bytes(1 << 20))
    script = f"trap '' HUP; exec {TESELA} relayout - -o out --from='u8[4]' --to='{{0}}'"
    child = subprocess.Popen(["bash", "-c", script], stdin=subprocess.PIPE, cwd=tmp_path, env=environment())
    child.stdin.write(b"ab")
    child.stdin.flush()
    while pathlib.Path(f"/proc/{child.pid}/comm").read_text() != "tesela\n":  # no trap yet, perhaps
        time.sleep(0.001)
    child.send_signal(signal.SIGHUP)
    child.stdin.write(b"cd")
    child.stdin.close()
    assert child.wait(60) == 0 and (tmp_path / "out").read_bytes() == b"abcd"


def peak_kib(tmp_path, *words):
    """Most memory that a copy had at a time, mapped pages of files included. (A small process starts it: what is measured
    begins with the memory of whoever does.)"""
    script = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True)"
    script += "; print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    words = [sys.executable, "-c", script, TESELA, "relayout", "in", "-o", "out", "--threads=1", *words]
    return int(subprocess.run(words, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, check=True).stdout)


def test_memory_is_bounded(tmp_path):
    """64 MiB to 64 MiB: all of the input would be there in the end. With a bound, nothing but the parts of the copy."""
    with open(tmp_path / "in", "wb") as big:
        big.write(os.urandom(1 << 20) * 64)
    words = ["--from=f32[4096,4096]", "--to={1,0:T(8,128)}"]
    free = peak_kib(tmp_path, *words)
    bound = peak_kib(tmp_path, *words, "--memory=16MiB")
    assert free > 64 << 10 and (SANITIZED or free < 96 << 10)  # a sanitizer's own memory counts
    assert SANITIZED or bound < (16 + 16) << 10


@only_if(not SANITIZED)  # a sanitizer's own memory would count
def test_memory_of_a_transpose_is_bounded(tmp_path):
    """The values are those of the whole copy."""
    with open(tmp_path / "in", "wb") as big:
        big.write(os.urandom(1 << 20) * 64)
    words = ["--from=f32[4096,4096]", "--to={0,1}"]
    assert peak_kib(tmp_path, *words) > 64 << 10
    (tmp_path / "out").rename(tmp_path / "whole")
    assert peak_kib(tmp_path, *words, "--memory=16MiB") < (16 + 16) << 10
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("format", ["npy", "safetensors"])
def test_bounded_copies_of_other_files(tmp_path, format):
    """16 MiB with a header before them, which moves all stretches from pages and lines."""
    (tmp_path / "in").write_bytes(random.Random(SEED).randbytes(2 * 2063 * 4021))
    relayout("in", "-o", f"x.{format}", "--from=f16[2063,4021]", "--to={1,0}", cwd=tmp_path)
    for to, out in [("{0,1}", format), ("{1,0:T(8,128)(2,1)}", "safetensors"), ("{0,1:T(8,128)}", "raw")]:
        words = [f"x.{format}", "-o", f"out.{out}", f"--to={to}", "--threads=2"]
        relayout(*words, cwd=tmp_path)
        whole = (tmp_path / f"out.{out}").read_bytes()
        relayout(*words, "--memory=2MiB", cwd=tmp_path)
        assert (tmp_path / f"out.{out}").read_bytes() == whole


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_chunks_of_a_bounded_copy_are_all_run(tmp_path, threads):
    """Large enough for several chunks (2 MiB each), with padding to fill; the sides are not multiples of any tile."""
    data = random.Random(SEED).randbytes(4 * 1021 * 2053)
    (tmp_path / "in").write_bytes(data)
    words = ["in", "-o", "out", "--from=f32[1021,2053]", "--to={0,1:T(8,128)}", f"--threads={threads}"]
    relayout(*words, cwd=tmp_path)
    (tmp_path / "out").rename(tmp_path / "whole")
    relayout(*words, "--memory=1MiB", cwd=tmp_path)
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()
    back = ["out", "--from=f32[1021,2053]{0,1:T(8,128)}", "--to={1,0}", "--memory=1MiB", f"--threads={threads}"]
    assert relayout(*back, cwd=tmp_path).stdout == data
