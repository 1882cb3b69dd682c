"""`cholupdate.jax` on a GPU, and its programs for one, which need none."""

# The types of JAX's functions are known in part; mypy is strict here.
# pyright: basic

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cholupdate import _on_gpu

from frameworks import factor, modification, required
from problems import Array

jax = required("jax")
jax.config.update("jax_enable_x64", True)
jnp = pytest.importorskip("jax.numpy")
cj = pytest.importorskip("cholupdate.jax")

EXTENTS = [(0, 2), (1, 1), (5, 0), (5, 3), (63, 1), (64, 16), (65, 17), (130, 2), (300, 40)]
TOLERANCE = {np.float64: 1e-11, np.float32: 5e-4}


def has_gpu() -> bool:
    try:
        return bool(jax.devices("cuda"))
    except RuntimeError:
        return False


on_a_gpu = pytest.mark.skipif(not has_gpu(), reason="JAX finds no GPU")


def program(function: Any, *arguments: Any) -> str:
    """The program for CUDA, as text."""
    text: str = jax.jit(function).trace(*arguments).lower(lowering_platforms=("cuda",)).as_text()
    return text


def test_a_program_for_cuda_has_one_call_with_columns() -> None:
    l, v = jnp.eye(6), jnp.ones((6, 2))
    text = program(cj.cholesky_update, l, v)
    assert text.count("@cholupdate_modify(") == 1
    call = next(line for line in text.splitlines() if "@cholupdate_modify(" in line)
    assert "operand_layouts = [dense<[0, 1]>" in call and "result_layouts = [dense<[0, 1]>" in call, call
    assert "plus = true" in call and "minus = false" in call, call
    assert "output_operand_alias" not in call or "output_operand_aliases = []" in call, call
    assert "plus = false" in program(lambda l, v, w: cj.cholesky_update(l, v, w), l, v, jnp.ones(2))
    text = program(lambda l, v: cj.cholesky_update(l, v, downdate=True, upper=True), l, v)
    call = next(line for line in text.splitlines() if "@cholupdate_modify(" in line)
    assert "operand_layouts = [dense<[1, 0]>" in call and "minus = true" in call, call


def test_all_functions_have_programs_for_cuda() -> None:
    l, v, w = jnp.eye(6), jnp.ones((6, 2)), jnp.ones(2)

    def total(l: Any, v: Any, w: Any) -> Any:
        new = cj.cholesky_update(l, v, w)
        return new.sum() + cj.log_det_change(l, new) + cj.solve(new, v).sum() + cj.append(new, v, jnp.eye(2)).sum()

    gradient = program(jax.grad(total, (0, 1, 2)), l, v, w)
    assert gradient.count("@cholupdate_modify_vjp(") == 1
    call = next(line for line in gradient.splitlines() if "@cholupdate_modify_vjp(" in line)
    layouts = [f"dense<[{x}]> : tensor<2xindex>" for x in ("0, 1", "0, 1", "1, 0")]
    assert f"operand_layouts = [{', '.join(layouts)}" in call and "plus = false" in call, call
    assert "HIGHEST" in gradient and "DEFAULT" not in gradient
    tangent = program(lambda v: jax.jvp(lambda v: cj.cholesky_update(l, v, downdate=True), (v,), (v,)), v)
    call = next(line for line in tangent.splitlines() if "@cholupdate_modify_jvp(" in line)
    assert "minus = true" in call, call
    # So large matrices are worth a call, and so many columns are not.
    large = program(jax.grad(lambda l: cj.cholesky_update(l, jnp.ones((3000, 1))).sum()), jnp.eye(3000))
    assert large.count("@cholupdate_modify_vjp(") == 1
    small = program(jax.grad(lambda l: cj.cholesky_update(l, jnp.ones((1000, 1))).sum()), jnp.eye(1000))
    assert "cholupdate_modify_vjp" not in small
    wide = program(jax.grad(lambda v: cj.cholesky_update(l, v).sum()), jnp.ones((6, 65)))
    assert "cholupdate_modify_vjp" not in wide and "triangular_solve" in wide
    program(lambda l, v, w: jax.jvp(total, (l, v, w), (l, v, w)), l, v, w)
    program(jax.hessian(total, (1, 2)), l, v, w)
    program(jax.vmap(total, (None, 0, None)), l, jnp.ones((4, 6, 2)), w)


def test_complex_matrices_are_refused_for_cuda() -> None:
    with pytest.raises(NotImplementedError, match="runs on the CPU, not on GPUs"):
        program(cj.cholesky_update, jnp.eye(3, dtype=complex), jnp.ones(3, complex))


def put(x: Array) -> Any:
    return jax.device_put(x, jax.devices("cuda")[0])


@pytest.fixture(params=["call", "formula"])
def derivatives(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Derivatives by each of the two ways, whichever is faster."""
    by_call = request.param == "call"
    monkeypatch.setattr(_on_gpu, "by_call", lambda count, n, k: by_call and k <= _on_gpu.MOST_COLUMNS)
    # Programs that have been lowered before.
    jax.clear_caches()


def refactored(l: Array, v: Array, w: Array) -> Array:
    l, v, w = (np.asarray(x, np.float64) for x in (l, v, w))
    a = np.tril(l) @ np.swapaxes(np.tril(l), -1, -2) + (v * w[..., None, :]) @ np.swapaxes(v, -1, -2)
    return np.linalg.cholesky(a) if a.size else a


@on_a_gpu
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "k"), EXTENTS)
def test_values(n: int, k: int, dtype: Any) -> None:
    l, (v, w) = factor(n, dtype), modification(n, k, dtype)
    garbage = l + np.triu(np.full_like(l, np.nan), 1)
    for upper in (False, True):
        given = put(garbage.T if upper else garbage)
        new, ok = jax.jit(lambda l, v, w, u=upper: cj.cholesky_update(l, v, w, upper=u, with_status=True))(given, put(v), put(w))
        assert bool(ok) and next(iter(new.devices())).platform == "gpu"
        found = np.asarray(new).T if upper else np.asarray(new)
        np.testing.assert_allclose(found, refactored(l, v, w), atol=TOLERANCE[dtype])
        assert (np.triu(found, 1) == 0).all()
    for downdate in (False, True):
        scaled = (0.3 * v).astype(dtype)
        new = cj.cholesky_update(put(garbage), put(scaled), downdate=downdate)
        np.testing.assert_allclose(new, refactored(l, scaled, np.full(k, -1.0 if downdate else 1.0)), atol=TOLERANCE[dtype])


@on_a_gpu
def test_the_values_are_those_of_the_class() -> None:
    import cholupdate as cu

    for n, k in [(64, 1), (300, 17), (1030, 16)]:
        l, (v, _) = factor(n), modification(n, k)
        f = cu.Cholesky.from_factor(l, engine="cuda")
        f.update(v)
        np.testing.assert_array_equal(np.asarray(cj.cholesky_update(put(l), put(v))), np.asarray(f.factor()))


@on_a_gpu
def test_what_breaks_down_is_told_and_leaves_the_others_alone() -> None:
    for n in (5, 64, 301):
        l = factor(n)
        vs = np.stack([modification(n, 2, seed=s)[0] for s in range(4)])
        vs[1] *= 1e4
        vs[2, n - 1, 0] = np.nan
        run = jax.jit(jax.vmap(lambda v: cj.cholesky_update(put(l), v, downdate=True, with_status=True)))
        new, ok = run(put(0.1 * vs))
        assert ok.tolist() == [True, False, False, True]
        for b in (0, 3):
            np.testing.assert_allclose(new[b], refactored(l, 0.1 * vs[b], -np.ones(2)), atol=1e-11)
        np.testing.assert_array_equal(new[1], l)
        nan = cj.cholesky_update(put(l), put(vs[2]), on_breakdown="nan")
        assert np.isnan(np.asarray(nan)[np.tril_indices(n)]).all() and (np.triu(nan, 1) == 0).all()


@on_a_gpu
def test_vmap_scan_and_donation() -> None:
    n, k = 40, 3
    ls = np.stack([factor(n, seed=s) for s in range(5)])
    vs = np.stack([modification(n, k, seed=s)[0] for s in range(5)])
    w = modification(n, k)[1]
    expected = np.stack([refactored(l, 0.3 * v, w) for l, v in zip(ls, vs, strict=True)])
    run = jax.vmap(cj.cholesky_update, (0, 2, None))
    np.testing.assert_allclose(run(put(ls), put(0.3 * np.moveaxis(vs, 0, 2)), put(w)), expected, atol=1e-11)

    def step(l: Any, v: Any) -> Any:
        return cj.cholesky_update(l, v), None

    chain = jax.jit(lambda l, vs: jax.lax.scan(step, l, vs)[0], donate_argnums=0)
    found = chain(put(ls[0]), put(vs))
    every = np.concatenate(list(vs), axis=1)
    np.testing.assert_allclose(found, refactored(ls[0], every, np.ones(every.shape[1])), atol=1e-11)
    many = jax.vmap(chain)(put(ls), put(np.stack([vs] * 5)))
    np.testing.assert_allclose(many[0], found, atol=1e-12)


@on_a_gpu
@pytest.mark.usefixtures("derivatives")
@pytest.mark.parametrize(("n", "k"), [(1, 1), (5, 3), (64, 16), (60, 4), (129, 2), (200, 40), (90, 70)])
def test_gradients_are_those_of_the_cpu(n: int, k: int) -> None:
    l, (v, w) = factor(n), modification(n, k)
    weight = np.random.default_rng(0).standard_normal((n, n))

    def loss(l: Any, v: Any, w: Any) -> Any:
        return (jnp.asarray(weight) * cj.cholesky_update(l, v, w)).sum()

    both = []
    for device in (jax.devices("cpu")[0], jax.devices("cuda")[0]):
        with jax.default_device(device):
            given = [jax.device_put(x, device) for x in (l, v, w)]
            tangent = jax.jvp(loss, given, given)[1]
            both.append([*map(np.asarray, jax.jit(jax.grad(loss, (0, 1, 2)))(*given)), np.asarray(tangent)])
    for here, there in zip(*both, strict=True):
        np.testing.assert_allclose(there, here, atol=1e-9 * max(1.0, np.abs(here).max(initial=0)))


@on_a_gpu
@pytest.mark.usefixtures("derivatives")
@pytest.mark.parametrize("n", [7, 64, 100])
def test_gradients_of_a_batch_are_those_of_its_matrices(n: int) -> None:
    l, k = factor(n), 3
    vs = np.stack([0.3 * modification(n, k, seed=s)[0] for s in range(6)])
    vs[2] *= 1e5

    def loss(l: Any, v: Any) -> Any:
        return jnp.square(cj.cholesky_update(l, v, downdate=True)).sum()

    run = jax.jit(jax.vmap(jax.grad(loss, (0, 1)), (None, 0)))
    of_l, of_v = run(put(l), put(vs))
    assert (of_v[2] == 0).all()
    for b in (0, 1, 3, 4, 5):
        alone_l, alone_v = jax.grad(loss, (0, 1))(put(l), put(vs[b]))
        np.testing.assert_allclose(of_l[b], alone_l, atol=1e-12)
        np.testing.assert_allclose(of_v[b], alone_v, atol=1e-12)


@on_a_gpu
def test_append_and_solve() -> None:
    n, r = 70, 3
    l = factor(n + r)
    a = l @ l.T
    new, ok = jax.jit(lambda *x: cj.append(*x, with_status=True))(put(l[:n, :n]), put(a[:n, n:]), put(a[n:, n:]))
    assert bool(ok)
    np.testing.assert_allclose(new, l, atol=1e-11)
    b = np.random.default_rng(1).standard_normal((n + r, 2))
    np.testing.assert_allclose(a @ np.asarray(cj.solve(new, put(b))), b, atol=1e-10)


@on_a_gpu
def test_threads_and_devices() -> None:
    from concurrent.futures import ThreadPoolExecutor

    n, k = 257, 5
    devices = jax.devices("cuda")
    run = jax.jit(cj.cholesky_update)

    def one(seed: int) -> Any:
        l, (v, w) = factor(n, seed=seed), modification(n, k, seed=seed)
        device = devices[seed % len(devices)]
        found = run(*(jax.device_put(x, device) for x in (l, 0.3 * v, w)))
        assert found.devices() == {device}
        return np.abs(np.asarray(found) - refactored(l, 0.3 * v, w)).max()

    with ThreadPoolExecutor(4) as pool:
        assert max(pool.map(one, range(24))) < 1e-11


@on_a_gpu
def test_a_batch_is_divided_among_devices() -> None:
    n, k, count = 70, 3, 2 * len(jax.devices("cuda"))
    ls = np.stack([factor(n, seed=s) for s in range(count)])
    vs = 0.3 * np.stack([modification(n, k, seed=s)[0] for s in range(count)])
    of = jax.sharding
    place = of.NamedSharding(of.Mesh(np.array(jax.devices("cuda")), ("x",)), of.PartitionSpec("x"))

    def loss(l: Any, v: Any) -> Any:
        return jnp.square(cj.cholesky_update(l, v)).sum()

    run = jax.jit(jax.vmap(jax.value_and_grad(loss, (0, 1))))
    given = [jax.device_put(x, place) for x in (ls, vs)]
    assert "all-gather" not in run.lower(*given).compile().as_text()
    values, (of_l, of_v) = run(*given)
    assert all(x.sharding.is_equivalent_to(place, x.ndim) for x in (values, of_l, of_v))
    for b in range(count):
        value, (alone_l, alone_v) = jax.value_and_grad(loss, (0, 1))(put(ls[b]), put(vs[b]))
        np.testing.assert_allclose(values[b], value)
        np.testing.assert_allclose(of_l[b], alone_l, atol=1e-12)
        np.testing.assert_allclose(of_v[b], alone_v, atol=1e-12)
