# SPDX-License-Identifier: Apache-2.0
"""relayout inside jax.jit: jit, vmap, jvp, grad, stored programs, and the handler that is compiled on first use. The images are by
NumPy's pad, reshape and transpose; gradients by the definition of a linear map."""

import concurrent.futures
import doctest
import os
import pickle
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tesela
import tesela.jax
from tesela.jax import _handler, from_places, relayout, to_places

pytestmark = pytest.mark.frameworks

SEED = int(os.environ.get("TESELA_SEED", "14"))
TILES = "{1,0:T(2,2)}"


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    """Handlers of these tests are compiled here."""
    folder = tmp_path_factory.mktemp("cache")
    before, os.environ["TESELA_CACHE"] = os.environ.get("TESELA_CACHE"), str(folder)
    yield folder
    if before is None:
        del os.environ["TESELA_CACHE"]
    else:
        os.environ["TESELA_CACHE"] = before


def image(x, minor_to_major, tile, fill=0):
    """The places of a matrix whose minor dims are tiled, by the definition."""
    x = np.asarray(x).transpose(minor_to_major[::-1])
    padded = [-(-n // t) * t for n, t in zip(x.shape, tile)]
    y = np.full(padded, fill, x.dtype)
    y[: x.shape[0], : x.shape[1]] = x
    return y.reshape(padded[0] // tile[0], tile[0], padded[1] // tile[1], tile[1]).transpose(0, 2, 1, 3).ravel()


def some(rng, shape, dtype):
    return jnp.asarray(rng.integers(-50, 50, shape)).astype(dtype)


TYPES = {"bool": "pred", "int8": "s8", "uint16": "u16", "bfloat16": "bf16", "float16": "f16", "float32": "f32", "int32": "s32",
         "complex64": "c64", "float8_e4m3fn": "f8e4m3fn"}  # fmt: skip


def test_images_are_those_of_numpy():
    print("TESELA_SEED", SEED)
    rng = np.random.default_rng(SEED)
    for dtype, name in TYPES.items():
        m, n, *tile = map(int, (*rng.integers(1, 12, 2), *rng.integers(1, 5, 2)))
        order = [[1, 0], [0, 1]][rng.integers(2)]
        lies = f"{name}[{m},{n}]{{{order[0]},{order[1]}:T({tile[0]},{tile[1]})}}"
        other = f"{name}[{m},{n}]{{{order[1]},{order[0]}:T({tile[1]},{tile[0]})}}"
        x = some(rng, (m, n), dtype)

        def f(x):
            places = to_places(x, lies)
            return places, from_places(places, lies), relayout(places, lies, other)

        places, back, moved = jax.jit(f)(x)
        assert places.dtype == back.dtype == x.dtype
        assert np.asarray(places).tobytes() == image(x, order, tile).tobytes(), lies
        assert np.array_equal(np.asarray(back), np.asarray(x)), lies
        assert np.asarray(moved).tobytes() == image(x, order[::-1], tile[::-1]).tobytes(), (lies, other)


def test_outside_of_jit_too():
    x = jnp.arange(15.0).reshape(3, 5)
    assert np.array_equal(to_places(x, TILES), image(x, [1, 0], (2, 2)))
    assert np.array_equal(to_places(np.ones((2, 2), np.float32), TILES, fill=3), [1, 1, 1, 1])


def test_more_bytes_than_one_thread_copies():
    x = jax.random.normal(jax.random.key(0), (1030, 1025))
    assert np.array_equal(jax.jit(lambda x: to_places(x, "{0,1:T(8,128)}"))(x), image(x, [0, 1], (8, 128)))


def test_arrays_without_elements_and_of_one():
    assert to_places(jnp.ones((0, 5)), TILES).shape == (0,)
    assert from_places(jnp.ones(0), "f32[0,5]{1,0:T(2,2)}").shape == (0, 5)
    assert to_places(jnp.float32(3), "f32[]{:T(128)}").tolist() == [3, *[0] * 127]
    assert jax.vmap(lambda x: to_places(x, TILES))(jnp.ones((0, 2, 2))).shape == (0, 4)


def test_vmap():
    x = some(np.random.default_rng(SEED), (3, 2, 4, 5), "float32")
    f = lambda x: to_places(x, "{0,1:T(2,4)}")  # noqa: E731
    want = np.stack([np.stack([image(x[i, j], [0, 1], (2, 4)) for j in range(2)]) for i in range(3)])
    assert np.array_equal(jax.jit(jax.vmap(jax.vmap(f)))(x), want)
    assert np.array_equal(jax.vmap(jax.vmap(f, in_axes=2), in_axes=1)(jnp.transpose(x, (2, 0, 3, 1))), want)
    assert np.array_equal(jax.vmap(f, in_axes=2, out_axes=1)(jnp.moveaxis(x[0], 0, 2)), want[0].T)
    back = jax.vmap(lambda p: from_places(p, "f32[4,5]{0,1:T(2,4)}"))(jnp.asarray(want[0]))
    assert np.array_equal(back, x[0])


def test_one_custom_call_for_a_batch():
    f = jax.jit(jax.vmap(lambda x: to_places(x, TILES)))
    text = f.lower(jnp.ones((7, 3, 5))).as_text()
    assert text.count("custom_call @tesela_relayout") == 1 and "while" not in text and "7x24" in text


def matrix(f, n, m):
    """The m x n matrix of a linear map, column by column."""
    return np.stack([f(column) for column in np.eye(n, dtype=np.float32)], 1).reshape(m, n)


def test_gradients_are_the_transposed_map():
    tiles = "f32[3,5]{1,0:T(2,2)}"
    for fill in (0, 7):
        A = matrix(lambda e: image(e.reshape(3, 5), [1, 0], (2, 2)), 15, 24)  # padding depends on nothing
        f = lambda x: to_places(x.reshape(3, 5), tiles, fill=fill)  # noqa: E731, B023
        x = jnp.arange(15.0)
        assert np.array_equal(f(x), image(x.reshape(3, 5), [1, 0], (2, 2), fill))
        assert np.array_equal(jax.jit(jax.jacfwd(f))(x), A)
        assert np.array_equal(jax.jit(jax.jacrev(f))(x), A)
        ct = jnp.arange(1.0, 25.0)  # cotangents of padding reach no element
        assert np.array_equal(jax.vjp(f, x)[1](ct)[0], A.T @ np.asarray(ct))
    assert np.array_equal(jax.linear_transpose(lambda x: to_places(x, tiles), jnp.ones((3, 5)))(ct)[0], (A.T @ ct).reshape(3, 5))
    # back: places of padding get zeros
    assert np.array_equal(jax.jacrev(lambda p: from_places(p, tiles).ravel())(jnp.ones(24)), A.T)
    # tiles to other tiles, and second derivatives
    B = matrix(lambda e: image(e.reshape(3, 5), [0, 1], (4, 2)), 15, 32)
    g = lambda p: relayout(p, tiles, "{0,1:T(4,2)}")  # noqa: E731
    assert np.array_equal(jax.jacrev(g)(jnp.ones(24)), B @ A.T) and np.array_equal(jax.jacfwd(g)(jnp.ones(24)), B @ A.T)
    H = jax.hessian(lambda p: (g(p) ** 2).sum() / 2)(jnp.ones(24))
    assert np.array_equal(H, A @ B.T @ B @ A.T)


def test_gradients_of_a_batch_and_of_integers():
    x = some(np.random.default_rng(SEED), (4, 3, 5), "float32")
    c = jnp.arange(24.0)
    got = jax.jit(jax.vmap(jax.grad(lambda x: (to_places(x, TILES) ** 2 @ c))))(x)
    weight = np.zeros(24)
    weight[:] = c
    places = image(np.arange(1, 16).reshape(3, 5), [1, 0], (2, 2))  # element number + 1 at each place, 0: padding
    of_element = np.array([weight[list(places).index(k + 1)] for k in range(15)]).reshape(3, 5)
    assert np.array_equal(got, 2 * np.asarray(x) * of_element)

    def mixed(x, n):
        return (to_places(x, TILES) * to_places(n, TILES)).sum()

    n = jnp.arange(15, dtype=jnp.int32).reshape(3, 5)
    assert np.array_equal(jax.grad(mixed)(x[0], n), n)


def test_conversions_are_linear_too():
    x = some(np.random.default_rng(SEED), (3, 5), "float32") / 3
    f = lambda x: relayout(x, "f32[3,5]", "bf16[3,5]{1,0:T(2,2)}", transform="convert")  # noqa: E731
    assert np.asarray(f(x)).tobytes() == image(x.astype(jnp.bfloat16), [1, 0], (2, 2)).tobytes()
    got = jax.grad(lambda x: f(x).astype(jnp.float32).sum())(x)
    assert got.dtype == jnp.float32 and np.array_equal(got, np.ones((3, 5)))


def test_layouts_of_devices():
    x = some(np.random.default_rng(SEED), (3, 70), "float16")
    D = tesela.device_layout((3, 70), "f16", dim_order=[0, 1], target="spyre")
    want = np.pad(np.asarray(x), ((0, 0), (0, 58))).reshape(3, 2, 64).transpose(1, 0, 2)
    got = jax.jit(lambda x: to_places(x, D))(x)
    assert got.shape == D.physical_shape == (2, 3, 64) and np.array_equal(got, want)
    assert np.array_equal(from_places(got, D), x)
    # stored in another type, as the target says
    B = tesela.device_layout((3, 70), "bf16", dim_order=[0, 1], target="spyre")
    assert B.device_type == "f16"
    places = to_places(x.astype(jnp.bfloat16), B)
    assert places.dtype == jnp.float16 and np.array_equal(places, want)
    assert from_places(places, B).dtype == jnp.bfloat16 and np.array_equal(from_places(places, B), x)


def test_gaps_are_zero_and_their_gradient_too():
    D = tesela.device_layout((2, 64), "f16", dims=[(0, 1, 2), (1, 1, 64)], device_strides=[128, 1])
    x = jnp.ones((2, 64), jnp.float16)
    want = np.zeros(D.places, np.float16)
    for i in range(2):
        want[128 * i : 128 * i + 64] = 1
    junk = jnp.full((4, 2, 64), 9, jnp.float16) * 2  # memory that was used before
    for _ in range(3):
        assert np.array_equal(np.ravel(jax.jit(lambda x: to_places(x, D))(x)), want)
        assert np.array_equal(np.ravel(jax.vjp(lambda p: from_places(p, D), jnp.asarray(want))[1](x)[0]), want)
    del junk


def test_replicas_have_no_gradient():
    D = tesela.device_layout((2, 64), "f16", dims=[(-2, 1, 3), (0, 1, 2), (1, 1, 64)])
    x = some(np.random.default_rng(SEED), (2, 64), "float16")
    assert np.array_equal(np.ravel(to_places(x, D)), np.tile(np.ravel(x), 3))
    with pytest.raises(tesela.UnsupportedError, match="no gradient: .* holds each element 3 times"):
        jax.grad(lambda x: to_places(x, D).sum())(x)


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda x: to_places(x, TILES, fill=None), "fill is None"),
        (lambda x: to_places(x, "f16[3,5]"), "the array is float32; expected float16"),
        (lambda x: to_places(x, "f32[3,4]"), r"the array has shape \(3, 5\); expected \(3, 4\)"),
        (lambda x: relayout(x, "f32[3,4]", "{0,1}"), r"expected 12 elements"),
        (lambda x: from_places(x, "f32[3,5]{1,0:T(2,2)}"), r"expected 24 elements"),
        (lambda x: to_places(x, "spatial(3,5)"), "no element type"),
        (lambda x: to_places(x.astype(jnp.int4), "{0,1}"), "below 8 bits"),
        (lambda x: to_places(x, "f32[3,5]{1,0:E(64)}"), "elements of 64 bits"),
        (lambda x: relayout(x, "f32[3,5]", "f64[3,5]", transform="convert"), "set jax_enable_x64"),
        (lambda x: relayout(x, "f32[3,5]", "f16[3,5]"), "elements of 32 bits in src and of 16 bits in dst"),
        (lambda x: relayout(x, "f32[3,5]", "pred[3,5]", transform="convert"), "convert with x.astype first"),
        (lambda x: relayout(x, "f32[3,5]", "{0,1}", transform="swap"), "transform is 'swap'"),
        (lambda x: relayout(x, "f32[3,5]", "f32[5,3]"), "extent 5 of dim 0 in dst, but 3 in src"),
    ],
)
def test_what_is_refused_when_it_is_traced(call, said):
    with pytest.raises(tesela.LayoutError, match=said):
        jax.make_jaxpr(call)(jnp.ones((3, 5)))


def test_fill_must_be_known():
    with pytest.raises(TypeError, match="expected a number that is known"):
        jax.jit(lambda x, fill: to_places(x, TILES, fill=fill))(jnp.ones((3, 5)), 2.0)


def test_other_machines_are_refused():
    traced = jax.jit(lambda x: to_places(x, TILES)).trace(jnp.ones((3, 5)))
    with pytest.raises(tesela.UnsupportedError, match="runs on the CPU, found tpu; .*jax_expr"):
        traced.lower(lowering_platforms=("tpu",))


def test_many_threads():
    f = jax.jit(lambda x: from_places(to_places(x, "{0,1:T(3,2)}"), "f32[3,5]{0,1:T(3,2)}") + 1)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda k: f(jnp.full((3, 5), float(k))), range(24)))
    assert [float(one[2, 4]) for one in found] == [k + 1.0 for k in range(24)]


def test_calls_that_are_not_ours_fail_without_harm():
    to_places(jnp.ones((3, 5)), TILES)  # registered
    shape = jax.ShapeDtypeStruct((24,), jnp.float32)
    plan = '["f32[3,5]{1,0}", "f32[3,5]{1,0:T(2,2)}", "0", null]'
    for x, text, said in (
        (jnp.ones(15), '["f32[3,5]{1,0}", "f32[3,5", "0", null]', "tesela_relayout: expected"),
        (jnp.ones(14), plan, "are not those"),
        (jnp.ones(15, jnp.int32), plan, "are not those"),
        (jnp.ones((2, 15)), plan, "are not those"),
    ):
        with pytest.raises(Exception, match=said):
            jax.ffi.ffi_call("tesela_relayout", shape)(x, plan=text).block_until_ready()
    with pytest.raises(Exception, match="expected one array, one result"):
        jax.ffi.ffi_call("tesela_relayout", shape)(jnp.ones(15), plan=plan, more=1.0).block_until_ready()


STORED = """
import pickle, sys, jax.numpy as jnp, tesela.jax
from jax.experimental.serialize_executable import deserialize_and_load
tesela.jax.register()
f = deserialize_and_load(*pickle.load(open(sys.argv[1], "rb")))
print([int(one) for one in f(jnp.arange(6.0).reshape(2, 3))])
"""


def test_a_stored_program_runs_in_another_process(tmp_path):
    from jax.experimental.serialize_executable import serialize

    stored = serialize(jax.jit(lambda x: to_places(x, TILES)).lower(jnp.ones((2, 3))).compile())
    (tmp_path / "f").write_bytes(pickle.dumps(stored))
    run = subprocess.run([sys.executable, "-c", STORED, tmp_path / "f"], capture_output=True, text=True)
    assert (run.stdout, run.returncode) == ("[0, 1, 3, 4, 2, 0, 5, 0]\n", 0), run.stderr


SHARDED = """
import jax, jax.numpy as jnp, numpy as np, tesela.jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec
x = np.arange(60, dtype=np.float32).reshape(4, 3, 5)
mesh = Mesh(np.array(jax.devices()), "i")
halves = NamedSharding(mesh, PartitionSpec("i"))
a = jax.device_put(x, halves)
want = np.pad(x, ((0, 0), (0, 1), (0, 1))).reshape(4, 2, 2, 3, 2).transpose(0, 1, 3, 2, 4).reshape(4, 24)
packed = tesela.jax.pack({"a": a}, "{2,1,0}")["a"]
print(len(a.sharding.device_set), np.array_equal(packed, x))

def images(x):
    return jax.vmap(lambda x: tesela.jax.to_places(x, "{1,0:T(2,2)}"))(x)

shards = jax.shard_map(images, mesh=mesh, in_specs=PartitionSpec("i"), out_specs=PartitionSpec("i"))
for f in (jax.jit(images), jax.jit(images, in_shardings=halves, out_shardings=halves), jax.jit(shards), shards):
    y = f(a)
    gradient = jax.jit(jax.grad(lambda x: (f(x) ** 2).sum()))(a)
    print(np.array_equal(y, want), np.array_equal(gradient, 2 * x), len(y.sharding.device_set))
text = jax.jit(shards).lower(a).compile().as_text()
print("all-gather" in text, text.count('custom_call_target="tesela_relayout"'))
sharded = {"mesh": mesh, "in_specs": PartitionSpec("i"), "out_specs": PartitionSpec("i")}
rows = jax.shard_map(lambda x: tesela.jax.to_places(x, "f32[2,3]{0,1}"), **sharded)
print(jax.jit(rows)(jnp.arange(12.0).reshape(4, 3)).astype(int).tolist())
if hasattr(jax, "set_mesh"):
    explicit = jax.make_mesh((2,), ("i",), axis_types=(jax.sharding.AxisType.Explicit,))
    with jax.set_mesh(explicit):
        assert np.array_equal(jax.jit(images)(jax.device_put(x, NamedSharding(explicit, PartitionSpec("i")))), want)
"""


def test_sharded_arrays():
    """On two devices: jit gathers, shard_map lets each device copy its shard; a layout is then that of the shard."""
    flags = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=2"
    run = subprocess.run([sys.executable, "-c", SHARDED], capture_output=True, text=True, env={**os.environ, "XLA_FLAGS": flags})
    found, *calls, gathers, rows = run.stdout.splitlines() or [run.stderr, "", ""]
    assert found == "2 True", run.stderr
    assert len(calls) == 4 and all(one.startswith("True True ") for one in calls) and calls[-1] == calls[-2] == "True True 2"
    assert (gathers, rows) == ("False 1", "[0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11]")


# ---- exported programs


def exported(f, *args, **options):
    allowed = [jax.export.DisabledSafetyCheck.custom_call("tesela_relayout")]
    return jax.export.export(jax.jit(f), disabled_checks=allowed, **options)(*args)


def test_exported_programs():
    from jax import export  # noqa: F401 - a module that jax does not import

    x = jnp.asarray(np.random.default_rng(SEED).integers(-9, 9, (4, 3, 5)).astype(np.float32))
    want = np.stack([image(one, (1, 0), (2, 2)) for one in x])
    with pytest.raises(ValueError, match="custom calls whose targets have no compatibility guarantees"):
        jax.export.export(jax.jit(lambda x: to_places(x, TILES)))(x[0])
    found = exported(lambda x: to_places(x, TILES), x[0])
    assert np.array_equal(found.call(x[0]), want[0]) and found.platforms == ("cpu",)
    batch = jax.ShapeDtypeStruct(jax.export.symbolic_shape("b,3,5"), jnp.float32)
    found = exported(jax.vmap(lambda x: to_places(x, TILES)), batch)
    assert np.array_equal(found.call(x), want) and np.array_equal(found.call(x[:1]), want[:1])
    with pytest.raises(tesela.UnsupportedError, match="runs on the CPU, found tpu"):
        exported(lambda x: to_places(x, TILES), x[0], platforms=["tpu"])


EXPORTED = """
import pathlib, sys, jax, jax.numpy as jnp, tesela.jax
from jax import export
f, x = export.deserialize(pathlib.Path(sys.argv[1]).read_bytes()), jnp.arange(6.0).reshape(2, 3)
try:
    f.call(x)
except Exception as error:
    print("No FFI handler registered for tesela_relayout" in str(error))
tesela.jax.register()
print(f.call(x).astype(int).tolist(), jax.grad(lambda x: (f.call(x) ** 2).sum())(x).astype(int).tolist())
"""


def test_an_exported_program_runs_in_another_process(tmp_path):
    from jax import export  # noqa: F401

    (tmp_path / "f").write_bytes(exported(lambda x: to_places(x, TILES), jnp.ones((2, 3))).serialize(vjp_order=1))
    run = subprocess.run([sys.executable, "-c", EXPORTED, tmp_path / "f"], capture_output=True, text=True)
    assert run.stdout == "True\n[0, 1, 3, 4, 2, 0, 5, 0] [[0, 2, 4], [6, 8, 10]]\n", run.stderr


# ---- the handler


def test_the_handler_is_compiled_once(tmp_path, monkeypatch):
    folder = tmp_path / "new" / "cache"
    monkeypatch.setenv("TESELA_CACHE", str(folder))
    assert _handler._load().tesela_jax_relayout
    [path] = folder.iterdir()  # nothing temporary is left
    assert path.name.startswith("jax-") and folder.stat().st_mode & 0o777 == 0o700
    monkeypatch.setenv("CC", "/nowhere/cc")
    assert _handler._load().tesela_jax_relayout
    monkeypatch.delenv("CC")
    damaged = tmp_path / "damaged" / path.name
    damaged.parent.mkdir(mode=0o700)
    damaged.write_bytes(path.read_bytes()[:5000])
    monkeypatch.setenv("TESELA_CACHE", str(damaged.parent))
    assert _handler._load().tesela_jax_relayout and [one.read_bytes() for one in damaged.parent.iterdir()] == [path.read_bytes()]


def test_a_folder_that_others_may_write_to_is_not_used(tmp_path, monkeypatch):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setenv("TESELA_CACHE", str(folder))
    monkeypatch.setattr(_handler.tempfile, "tempdir", str(tmp_path))
    assert _handler._load().tesela_jax_relayout
    assert list(folder.iterdir()) == [] and [one.name for one in tmp_path.iterdir()] == ["open"]
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TESELA_CACHE", str(tmp_path / "file" / "in"))
    assert _handler._load().tesela_jax_relayout


def test_without_a_compiler_there_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("TESELA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CC", "/nowhere/cc -m64")
    with pytest.raises(tesela.UnsupportedError, match="compiled on first use, and CC names /nowhere/cc, which is not there; install one"):
        _handler._load()
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(tesela.UnsupportedError, match=r"no C compiler was found \(cc, gcc, clang\); install one, or set CC"):
        _handler._load()
    monkeypatch.setenv("CC", f"{sys.executable} -c 'import sys; sys.exit(\"no such flag\")'")
    with pytest.raises(tesela.UnsupportedError, match="could not compile handler.c:\nno such flag"):
        _handler._load()
    assert list((tmp_path / "cache").iterdir()) == []


def test_docstrings():
    found = doctest.testmod(tesela.jax._relayout, extraglobs={"jnp": jnp})
    assert found.attempted and not found.failed


def test_older_jax_is_refused():
    program = "import jax; jax.__version_info__, jax.__version__ = (0, 4, 38), '0.4.38'; import tesela.jax"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stderr.endswith("ImportError: tesela.jax needs JAX 0.5 or later, which has jax.ffi; found 0.4.38\n")
