# SPDX-License-Identifier: Apache-2.0
"""The output file of a copy: killed at any moment, replaced, linked, special, refused; on systems with files
without a name and without them (disturb.c, preloaded, refuses them)."""

import errno
import os
import pathlib
import random
import shutil
import signal
import stat
import subprocess
import tempfile
import time

import pytest
from command import TESELA, disturbed, environment, run

SEED = int(os.environ.get("TESELA_SEED", "20261123"), 0)
WAYS = [None, f"tmpfile:{errno.EOPNOTSUPP}", f"tmpfile:{errno.EISDIR}", f"proc:{errno.ENOENT}"]
KILLS = 200  # for each of two ways


@pytest.fixture(scope="module")
def preload():
    with disturbed() as words:

        def env(fail=None, kill=None):
            if fail is None and kill is None:
                return {}
            failing = {"DISTURB_FAIL": fail} if fail else {}
            return words | failing | ({"DISTURB_KILL": str(kill)} if kill else {})

        yield env


def copy(out, *words, text=b"new!", status=0, **how):
    done = run("relayout", "-", "-o", str(out), f"--from=u8[{len(text)}]", "--to={0}", *words, text=text, **how)
    assert done.returncode == status, done.stderr.decode()
    return done


def names(folder):
    return sorted(p.name for p in folder.iterdir())


# ---- killed ----


def check_left(tmp_path, old, new, whole):
    """Old or new under the name; beside it at most one file, the new one where it had no name before. Leaves old."""
    out = tmp_path / "out"
    left = [p for p in tmp_path.iterdir() if p.name not in ("in", "out")]
    now = out.read_bytes()
    assert now in (old, new) and len(left) <= 1
    for path in left:
        assert path.name.startswith(".out.") and path.name.endswith(".tesela") and now == old
        assert not whole or path.read_bytes() == new
        path.unlink()
    out.write_bytes(old)
    return now == new, len(left)


def make_copy(tmp_path, extent):
    """A transpose of u8[extent,extent]: its words, the old output and the new one."""
    rows = [bytes(random.Random(i).randbytes(extent)) for i in range(extent)]
    old, new = b"old" * 1000, b"".join(bytes(column) for column in zip(*rows))
    (tmp_path / "in").write_bytes(b"".join(rows))
    (tmp_path / "out").write_bytes(old)
    words = [TESELA, "relayout", tmp_path / "in", "-o", tmp_path / "out", f"--from=u8[{extent},{extent}]"]
    return [*words, "--to={0,1}", "--threads=1"], old, new


@pytest.mark.parametrize("way", WAYS[:2])
def test_kill_before_each_call(tmp_path, preload, way):
    words, old, new = make_copy(tmp_path, 64)
    beside = done = 0
    for k in range(1, 100):
        child = subprocess.run(words, env=environment(**preload(way, k)), timeout=60)
        finished, left = check_left(tmp_path, old, new, whole=way is None)
        beside += left
        done += finished
        if child.returncode == 0:
            break
        assert child.returncode == -signal.SIGKILL
    # without names: only between link and rename; else from open to rename. After the rename the folder is synced.
    assert child.returncode == 0 and k > 5 and done > 1
    assert beside == 1 if way is None else beside > 4


@pytest.mark.parametrize("way", WAYS[:2])
def test_kill_at_random_moments(tmp_path, preload, way):
    """The span of moments follows what is seen: about half of the copies end before they are killed."""
    words, old, new = make_copy(tmp_path, 1024)
    rng, span, killed = random.Random(SEED), 0.02, 0
    print("seed", SEED)
    for _ in range(KILLS):
        child = subprocess.Popen(words, env=environment(**preload(way)))
        time.sleep(rng.uniform(0, span))
        child.kill()
        status = child.wait(60)
        assert status in (0, -signal.SIGKILL)
        check_left(tmp_path, old, new, whole=way is None)
        killed += status != 0
        span = span * 1.05 if status else span / 1.05
    assert 0 < killed < KILLS


def heed_signals():
    """Undo what the tests were started with: nohup and a shell's & leave signals ignored."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_removes_the_name_beside(tmp_path, preload, number):
    """Where files have names from the beginning; again if the copy was done before."""
    for _ in range(5):
        words, old, _ = make_copy(tmp_path, 2048)
        child = subprocess.Popen(words, env=environment(**preload(WAYS[1])), preexec_fn=heed_signals)
        while child.poll() is None and len(names(tmp_path)) == 2:
            time.sleep(0.0002)
        child.send_signal(number)
        if child.wait(60) != 0:
            assert child.returncode == -number and names(tmp_path) == ["in", "out"]
            assert (tmp_path / "out").read_bytes() == old
            return
    raise AssertionError("every copy was done before it could be disturbed")


def test_what_others_use_stays(tmp_path):
    """Names that look like unfinished ones may belong to a process at work."""
    others = [".out.1a2b3c.tesela", ".out.000000.tesela", ".other.ffffff.tesela"]
    for name in others:
        (tmp_path / name).write_bytes(name.encode())
    copy(tmp_path / "out")
    copy(tmp_path / "out", text=b"again")
    assert names(tmp_path) == sorted([*others, "out"])
    assert all((tmp_path / name).read_bytes() == name.encode() for name in others)


@pytest.mark.parametrize("way", WAYS[:2])
def test_concurrent_writers(tmp_path, preload, way):
    """The last one to finish wins; each file is whole."""
    rng = random.Random(SEED)
    for _ in range(10):
        texts = [bytes([i]) * (1 << 20) for i in range(3)]
        children = []
        for text in texts:
            words = [TESELA, "relayout", "-", "-o", tmp_path / "out", f"--from=u8[{len(text)}]", "--to={0}"]
            children.append(subprocess.Popen(words, stdin=subprocess.PIPE, env=environment(**preload(way))))
        rng.shuffle(children)
        for child, text in zip(children, texts):
            child.stdin.write(text)
            child.stdin.close()
        assert [child.wait(60) for child in children] == [0, 0, 0]
        assert (tmp_path / "out").read_bytes() in texts and names(tmp_path) == ["out"]


# ---- what is replaced ----


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o666, 0o4751])
def test_the_mode_stays(tmp_path, preload, mode, way):
    out = tmp_path / "out"
    out.write_bytes(b"old")
    out.chmod(mode)
    copy(out, umask=0o077, env=preload(way))
    assert (out.read_bytes(), stat.S_IMODE(out.stat().st_mode)) == (b"new!", mode)
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("way", WAYS)
def test_a_new_file_gets_what_the_umask_leaves(tmp_path, preload, way):
    copy(tmp_path / "out", umask=0o027, env=preload(way))
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640 and names(tmp_path) == ["out"]


def test_the_owner_stays_where_that_is_allowed(tmp_path, preload):
    out = tmp_path / "out"
    out.write_bytes(b"old")
    if os.geteuid() == 0:
        os.chown(out, 1234, 2345)
    before = out.stat()
    out.chmod(0o6754)
    copy(out)
    after = out.stat()
    assert (after.st_uid, after.st_gid, stat.S_IMODE(after.st_mode)) == (before.st_uid, before.st_gid, 0o6754)
    # Not allowed: the members of another group get no more than others, and nothing runs as another owner.
    copy(out, env=preload(f"chown:{errno.EPERM}"))
    assert stat.S_IMODE(out.stat().st_mode) == 0o744


def test_links(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    target, link, second = folder / "target", tmp_path / "link", tmp_path / "second"
    second.symlink_to("link")
    link.symlink_to("folder/target")
    copy(second, text=b"dangling")  # makes the target
    assert target.read_bytes() == b"dangling" and link.is_symlink() and second.is_symlink()
    copy(second, text=b"there")
    assert target.read_bytes() == b"there" and link.is_symlink() and second.is_symlink()
    assert names(folder) == ["target"]
    (tmp_path / "circle").symlink_to("circle")
    assert b"circle: Too many levels" in copy(tmp_path / "circle", status=3).stderr


def test_a_hard_link_keeps_the_old_bytes(tmp_path):
    out, other = tmp_path / "out", tmp_path / "other"
    out.write_bytes(b"old")
    os.link(out, other)
    copy(out)
    assert (out.read_bytes(), other.read_bytes()) == (b"new!", b"old")


# ---- outputs other than files ----


def test_special_files(tmp_path):
    copy("/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE)
    copy(tmp_path / "pipe")
    assert reader.communicate(timeout=60)[0] == b"new!" and names(tmp_path) == ["pipe"]


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_is_written_where_it_stands(tmp_path, name):
    """Not replaced: what a shell appends to keeps what it has."""
    out = tmp_path / "out"
    out.write_bytes(b"head ")
    with open(out, "ab") as to:
        copy(name, stdout=to)
    assert out.read_bytes() == b"head new!" and names(tmp_path) == ["out"]
    assert b"the data or JSON, not both" in copy(name, "--json", status=2).stderr


def test_another_descriptor(tmp_path):
    out = tmp_path / "out"
    with open(out, "wb") as to:
        copy(f"/dev/fd/{to.fileno()}", pass_fds=[to.fileno()])
    assert out.read_bytes() == b"new!"


# ---- what fails ----


@pytest.mark.parametrize("way", WAYS[:2])
@pytest.mark.parametrize("call", ["fallocate", "fsync", "rename"])
@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_a_failure_leaves_the_old_file_alone(tmp_path, preload, way, call, reason):
    out = tmp_path / "out"
    out.write_bytes(b"old")
    done = copy(out, status=3, env=preload(" ".join(filter(None, [way, f"{call}:{reason}"]))))
    assert str(out) in done.stderr.decode() and os.strerror(reason) in done.stderr.decode()
    assert out.read_bytes() == b"old" and names(tmp_path) == ["out"]


def test_a_link_that_cannot_be_made_is_said(tmp_path, preload):
    done = copy(tmp_path / "out", status=3, env=preload(f"link:{errno.EXDEV}"))
    assert os.strerror(errno.EXDEV) in done.stderr.decode() and names(tmp_path) == []


@pytest.fixture
def open_folder():
    """A folder that every user reaches, with the command in it."""
    folder = pathlib.Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    shutil.copy(TESELA, folder / "tesela")
    (folder / "counters").mkdir()  # of a coverage build
    (folder / "counters").chmod(0o777)
    yield folder
    shutil.rmtree(folder)


def copy_as_nobody(open_folder, out):
    who = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    words = [open_folder / "tesela", "relayout", "-", "-o", out, "--from=u8[4]", "--to={0}"]
    env = environment(GCOV_PREFIX=str(open_folder / "counters"))
    done = subprocess.run(words, input=b"new!", capture_output=True, env=env, timeout=60, **who)
    return done.returncode, done.stderr.decode()


def test_permissions(open_folder):
    inner = open_folder / "inner"
    inner.mkdir()
    out = inner / "out"
    out.write_bytes(b"old")
    for path, mode in (out, 0o444), (inner, 0o777):
        path.chmod(mode)
    status, said = copy_as_nobody(open_folder, out)
    assert status == 2 and said == f"tesela: error: {out}: is read-only and not replaced: Permission denied\n"
    out.chmod(0o666)
    inner.chmod(0o555)
    status, said = copy_as_nobody(open_folder, out)
    assert status == 2 and f"{out}: cannot create a file in its folder" in said and "-o - > FILE" in said
    status, said = copy_as_nobody(open_folder, inner / "new")
    assert (status, said) == (2, f"tesela: error: {inner}/new: Permission denied\n")
    assert out.read_bytes() == b"old" and names(inner) == ["out"]
    inner.chmod(0o777)
    assert copy_as_nobody(open_folder, out) == (0, "") and out.read_bytes() == b"new!"
    assert stat.S_IMODE(out.stat().st_mode) == 0o666


@pytest.mark.parametrize("name", ["", "x" * 300, "x/", "link"])
def test_names_that_cannot_be(tmp_path, name):
    (tmp_path / "link").symlink_to("y" * 300)
    done = run("relayout", "-", "-o", name, "--from=u8[4]", "--to={0}", text=b"new!", cwd=tmp_path)
    assert done.returncode == 2 and done.stderr and names(tmp_path) == ["link"]
