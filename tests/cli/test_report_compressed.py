# SPDX-License-Identifier: Apache-2.0
"""`tesela report` reads gzip and zstd data: files, standard input, folders; what is damaged or cut is an error with the byte."""

import ctypes
import ctypes.util
import gzip
import json
import os
import random

import pytest
from command import run
from report_verb import OOM, STEP, report_json
from test_report_folder import Program, programs, write

SEED = int(os.environ.get("TESELA_SEED", "1"))


def zstd(data):
    """One frame, by libzstd itself."""
    library = ctypes.CDLL(ctypes.util.find_library("zstd"))
    library.ZSTD_compressBound.restype = library.ZSTD_compress.restype = ctypes.c_size_t
    library.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    library.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
    room = ctypes.create_string_buffer(library.ZSTD_compressBound(len(data)))
    n = library.ZSTD_compress(room, len(room), data, len(data), 3)
    return room.raw[:n]


FORMS = {"gz": gzip.compress, "zst": zstd}
forms = pytest.mark.parametrize("ending", FORMS)


def without_inputs(found):
    return {name: value for name, value in found.items() if name not in ("inputs", "sections", "arrays", "peak", "notes")}


@forms
def test_the_answer_is_that_of_the_text(ending, tmp_path):
    for source in (OOM, STEP):
        packed = tmp_path / f"{source.name}.{ending}"
        packed.write_bytes(FORMS[ending](source.read_bytes()))
        expected = run("report", "-", text=source.read_bytes())
        assert run("report", "-", text=packed.read_bytes()).stdout == expected.stdout
        assert without_inputs(report_json(packed)) == without_inputs(report_json(source))


@forms
def test_members_follow_each_other(ending, tmp_path):
    text, rng = OOM.read_bytes() + b"noise\n" * 60000, random.Random(SEED)
    cuts = [0, *sorted(rng.sample(range(1, len(text)), 6)), len(text)]
    packed = b"".join(FORMS[ending](text[a:b]) for a, b in zip(cuts, cuts[1:], strict=False)) + FORMS[ending](b"")
    assert run("report", "-", text=packed).stdout == run("report", "-", text=text).stdout
    if ending == "gz":
        assert run("report", "-", text=packed + bytes(70000)).stdout == run("report", "-", text=text).stdout


@forms
def test_a_long_text_in_little_memory(ending, tmp_path):
    """64 MiB from a few KiB."""
    text = OOM.read_bytes() + b"a line of a log\n" * (4 << 20)
    assert run("report", "-", text=FORMS[ending](text)).stdout == run("report", "-", text=text).stdout


@forms
def test_what_is_cut_is_an_error_with_the_byte(ending, tmp_path):
    packed, rng = FORMS[ending](OOM.read_bytes()), random.Random(SEED)
    start = 4 if ending == "zst" else 2  # below, it is not known what it is
    for cut in sorted(rng.sample(range(start, len(packed)), 20)):
        file = tmp_path / f"cut.{ending}"
        file.write_bytes(packed[:cut])
        done = run("report", str(file))
        assert done.returncode == 2, (cut, done)
        assert f"cut.{ending}: byte {cut}: the {'gzip' if ending == 'gz' else 'zstd'} data ends before its last block" in done.stderr.decode()
        done = run("report", str(file), str(STEP))
        assert done.returncode == 2 and b"HBM at the peak" in done.stdout
        assert run("report", "--max-waste", "100%", str(file), str(STEP)).returncode == 2


@forms
def test_what_is_damaged_is_an_error(ending, tmp_path):
    """Any byte of the checksum at the end, of the data, and what follows: an error, or the text as it was."""
    packed, rng = FORMS[ending](OOM.read_bytes()), random.Random(SEED)
    expected, file, errors = run("report", str(OOM)).stdout, tmp_path / f"bad.{ending}", 0
    for at in rng.sample(range(10, len(packed)), 40):
        bad = bytearray(packed)
        bad[at] ^= 1 << rng.randrange(8)
        file.write_bytes(bad)
        done = run("report", str(file))
        assert done.returncode in (0, 2)
        if done.returncode == 2:
            errors += f"bad.{ending}: byte " in done.stderr.decode()
        elif ending == "gz":  # which has a checksum
            assert done.stdout.replace(b".gz", b"") == expected
    assert errors >= 5  # zstd's library writes no checksum here
    file.write_bytes(packed + b"other")
    done = run("report", str(file))
    assert done.returncode == 2 and f"bad.{ending}: byte " in done.stderr.decode()
    if ending == "gz":
        assert f"byte {len(packed)}: other data after the end of the gzip data" in done.stderr.decode()


@forms
def test_a_file_inside_another_form_is_refused(ending):
    done = run("report", "-", text=FORMS[ending](FORMS[ending](OOM.read_bytes())))
    assert done.returncode == 2 and b"decompress it first" in done.stderr


@forms
def test_folders(ending, tmp_path):
    """Records keep their places whatever their files are packed in."""
    rng = random.Random(SEED)
    for i in range(4):
        folder = write(tmp_path / str(i), Program(rng))
        expected = programs(folder)
        (folder / "module_0001.jit_f.cl_1.0003.some-pass.txt").write_text("HloModule jit_f\n")
        for file in list(folder.iterdir()):
            (folder / f"{file.name}.{ending}").write_bytes(FORMS[ending](file.read_bytes()))
            file.unlink()
        assert programs(folder) == expected
        done = run("report", str(folder))
        assert done.returncode == 0 and b"neither the final text of a module nor a record of it" in done.stderr


@forms
def test_requests(ending, tmp_path):
    file = tmp_path / f"log.{ending}"
    file.write_bytes(FORMS[ending](OOM.read_bytes()))
    request = json.dumps({"op": "report", "files": [file.name]}) + "\n"
    done = run("query", "--files", str(tmp_path), text=request)
    assert json.loads(done.stdout)["totals"] == report_json(OOM)["totals"]
    file.write_bytes(FORMS[ending](OOM.read_bytes())[:200])
    answer = json.loads(run("query", "--files", str(tmp_path), text=request).stdout)
    assert answer["ok"] is False and "byte 200" in answer["error"]["message"]
