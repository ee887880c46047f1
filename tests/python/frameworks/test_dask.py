# SPDX-License-Identifier: Apache-2.0
"""tesela.dask on a local cluster: bit-equal to one machine, retries, failures."""

import importlib
import json
import os

import numpy as np
import pytest

import tesela

distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'dask[distributed]'")

import tesela.dask  # noqa: E402

RULES = {"*.weight": "{1,0:T(8,128)}", "layer.1.*": "{0:T(16)}"}
SEED = int(os.environ.get("TESELA_SEED", "13"))

takes_index = pytest.mark.skipif(
    not any(field["name"] == "dry_run" for field in tesela.op("ops", name="pack")["ops"][0]["fields"]),
    reason="the operation pack takes no index of shards",
)


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def index(tmp_path):
    """Three shards; the rules take no tensor of the last one. A name has characters that patterns use."""
    print("TESELA_SEED", SEED)
    rng = np.random.default_rng(SEED)
    folder = tmp_path / "m"
    folder.mkdir()
    names = {}
    for i, extra in enumerate(["layer.0.[x]*.weight", "layer.1.bias", "norm"]):
        tensors = {extra: rng.random((10, 20) if "weight" in extra else 20).astype(np.float32)}
        if i < 2:
            tensors[f"layer.{i}.weight"] = rng.random((9, 130)).astype(np.float32)
        shard = f"m-{i + 1}-of-3.safetensors"
        tesela.save_file(tensors, folder / shard, metadata={"format": "pt"})
        names |= dict.fromkeys(tensors, shard)
    path = folder / "model.safetensors.index.json"
    path.write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": names}, indent=2))
    return path


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@takes_index
def test_pack_equals_one_machine(client, index, tmp_path):
    one, many = tmp_path / "one", tmp_path / "many"
    one.mkdir(), many.mkdir()
    alone = tesela.pack_file(index, one / index.name, RULES)
    answer = tesela.dask.pack(index, many / index.name, RULES, client=client)
    assert files_of(one) == files_of(many) and len(files_of(one)) == 4
    assert answer["bytes"] == alone["bytes"]
    assert tesela.dask.digest(many / index.name, client=client) == tesela.dask.digest(index, client=client)
    with tesela.safe_open(many / index.name) as packed, tesela.safe_open(index) as plain:
        assert packed["layer.0.[x]*.weight"].layout == tesela.layout("f32[10,20]{1,0:T(8,128)}")
        for name in plain.keys():
            assert (packed.get_tensor(name) == plain.get_tensor(name)).all()
    verified = tmp_path / "verified"
    verified.mkdir()
    assert tesela.dask.pack(index, verified / index.name, RULES, client=client, verify=True)["verified"] is True
    assert files_of(verified) == files_of(one)


@takes_index
def test_pack_refuses_before_it_writes(client, index, tmp_path):
    (tmp_path / "t").mkdir()
    with pytest.raises(tesela.LayoutError, match="wieght"):
        tesela.dask.pack(index, tmp_path / "t" / index.name, {**RULES, "*.wieght": "{1,0:T(8,128)}"}, client=client)
    assert files_of(tmp_path / "t") == {}


def test_pack_of_one_file(client, index, tmp_path):
    src = index.parent / "m-1-of-3.safetensors"
    rules = {"*.weight": "{1,0:T(8,128)}"}
    tesela.pack_file(src, tmp_path / "a.safetensors", rules)
    tesela.dask.pack(src, tmp_path / "b.safetensors", rules, client=client)
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()


def failing(times, then, folder):
    """A task that fails so often for each file; a file beside counts the calls, since tasks are sent to workers."""
    folder.mkdir()

    def task(file):
        count = folder / os.path.basename(file)
        with open(count, "a") as calls:
            calls.write("x")
        if count.stat().st_size <= times:
            raise OSError(f"the disk of {file} is away")
        return then(file)

    return task


def test_retries(client, index, monkeypatch, tmp_path):
    module = importlib.import_module("tesela.dask")
    want, digest = tesela.dask.digest(index, client=client), module._digest
    monkeypatch.setattr(module, "_digest", failing(2, digest, tmp_path / "a"))
    assert tesela.dask.digest(index, client=client, retries=2) == want
    assert [len(calls) for calls in files_of(tmp_path / "a").values()] == [3, 3, 3]
    monkeypatch.setattr(module, "_digest", failing(2, digest, tmp_path / "b"))
    with pytest.raises(OSError, match="is away"):
        tesela.dask.digest(index, client=client, retries=1)


def test_digest_equals_one_machine(client, index):
    found = tesela.dask.digest(index, client=client)
    with tesela.safe_open(index) as f:
        assert sorted(found) == f.keys()
    for shard in sorted(index.parent.glob("*.safetensors")):
        answer = tesela.op("digest", file=shard)
        for one in answer.get("tensors", [answer]):
            assert found[one["tensor"]] == one["digest"]
    assert len(set(found.values())) == len(found)
    shard = index.parent / "m-1-of-3.safetensors"
    with pytest.raises(ValueError, match="and in another file"):
        tesela.dask.digest([shard, shard], client=client)


def test_relayout_equals_one_machine(client, tmp_path):
    rng = np.random.default_rng(SEED)
    arrays = {f"{i}.npy": rng.integers(0, 9, (5 + i, 7)).astype(np.int16) for i in range(3)}
    for folder in ("in", "one", "many"):
        (tmp_path / folder).mkdir()
    for name, x in arrays.items():
        np.save(tmp_path / "in" / name, x)
        tesela.op("relayout", file=tmp_path / "in" / name, output=tmp_path / "one" / name, to="{0,1}")
    files = sorted((tmp_path / "in").iterdir())
    answers = tesela.dask.relayout(files, tmp_path / "many", "{0,1}", client=client)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "many")
    assert [answer["tensors"][0]["to"] for answer in answers] == [f"s16[{5 + i},7]{{0,1}}" for i in range(3)]
    for name, x in arrays.items():
        got = np.load(tmp_path / "many" / name)
        assert (got == x).all() and got.flags.f_contiguous
    with pytest.raises(ValueError, match="two files would become"):
        tesela.dask.relayout([files[0], files[0]], tmp_path / "many", "{0,1}", client=client)


def test_default_client(client, index):
    assert tesela.dask.digest(index) == tesela.dask.digest(index, client=client)


def test_processes_of_their_own(index):
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = tesela.dask.digest(index, client=client)
        with tesela.safe_open(index) as f:
            assert sorted(found) == f.keys()
        shard = index.parent / "m-1-of-3.safetensors"
        shard.write_bytes(shard.read_bytes()[:-1])
        with pytest.raises(tesela.LayoutError) as error:
            tesela.dask.digest(index, client=client, retries=0)
        assert type(error.value) is type(_failure(lambda: tesela.op("digest", file=shard)))


def _failure(call):
    try:
        call()
    except tesela.LayoutError as error:
        return error
