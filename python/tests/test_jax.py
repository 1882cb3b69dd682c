"""`cholupdate.jax`: values, derivatives, batches, loops, breakdown, devices."""

# The types of JAX's functions are known in part; mypy is strict here.
# pyright: basic

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import cholupdate as cu
from frameworks import EXTENTS, blocks, factor, modification, required
from problems import Array

os.environ.setdefault("JAX_PLATFORMS", "cpu")
jax = required("jax")

import jax.numpy as jnp
from jax import lax
import jax.test_util

from cholupdate.jax import append, cholesky_update, log_det_change, solve

check_grads: Any = jax.test_util.check_grads


@pytest.fixture(autouse=True)
def double() -> Iterator[None]:
    before = jax.config.read("jax_enable_x64")
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def refactored(l: Any, v: Any, w: Any, upper: bool = False) -> Any:
    """The same by a new factorization. Only the triangle is read."""
    low = jnp.triu(l).swapaxes(-1, -2).conj() if upper else jnp.tril(l)
    new = jnp.linalg.cholesky(low @ low.swapaxes(-1, -2).conj() + (v * w[..., None, :]) @ v.swapaxes(-1, -2).conj())
    return new.swapaxes(-1, -2).conj() if upper else new


def refactoring(upper: bool) -> Any:
    return partial(refactored, upper=upper)


def of_class(l: Array, v: Array, w: Array, upper: bool = False) -> Array:
    f = cu.Cholesky.from_factor(l, upper=upper)
    f.modify(v, w)
    new: Array = f.factor(upper=upper)
    return new


# Values.


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize(("n", "k"), EXTENTS)
def test_values_are_those_of_the_class(n: int, k: int, dtype: Any, upper: bool) -> None:
    l, (v, w) = factor(n, dtype), modification(n, k, dtype)
    l = l.conj().T if upper else l
    new, ok = jax.jit(cholesky_update, static_argnames=("upper", "with_status"))(l, v, w, upper=upper, with_status=True)
    assert ok and new.dtype == dtype
    if n > 0:
        assert np.array_equal(new, of_class(l, v, w, upper))
    donated = jax.jit(lambda l, v, w: cholesky_update(l, v, w, upper=upper), donate_argnums=0)
    assert np.array_equal(donated(jnp.array(l), v, w), new)
    eager = cholesky_update(l, v, w, upper=upper)
    assert np.array_equal(eager, new)


def test_signs_vectors_and_types() -> None:
    l, (v, _) = factor(9), modification(9, 1)
    assert np.array_equal(cholesky_update(l, v[:, 0]), cu.cholesky_update(l, v))
    assert np.array_equal(cholesky_update(l, v, downdate=True), cu.cholesky_update(l, v, downdate=True))
    assert cholesky_update(np.eye(3, dtype=int), np.zeros(3, dtype=int)).dtype == np.float64
    assert cholesky_update(l.astype(np.float32), jnp.float32(v)).dtype == np.float32
    # Weakly typed, or promoted as JAX does.
    assert cholesky_update(l.astype(np.float32), v).dtype == np.float64
    assert np.array_equal(cholesky_update(-l, v), cholesky_update(l, v))
    # The other triangle is not read.
    assert np.array_equal(cholesky_update(l + np.triu(np.full((9, 9), np.nan), 1), v), cholesky_update(l, v))


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("n", [1, 3, 40, 130])
def test_a_donated_downdate_that_breaks_down_keeps_l(n: int, upper: bool) -> None:
    l = factor(n)
    l[0] *= -1.0  # a negative pivot
    stored = l.T.copy() if upper else l
    v = np.full((n, 2), 3.0)

    def call(l: Any, v: Any) -> Any:
        return cholesky_update(l, v, downdate=True, upper=upper, with_status=True)

    for how in (jax.jit(call), jax.jit(call, donate_argnums=0)):
        kept, ok = how(jnp.array(stored), v)
        assert not ok and np.array_equal(kept, stored)
        # And goes on where it is possible.
        new, ok = how(jnp.array(stored), v / 1e3)
        assert ok
        assert np.array_equal(new, cu.cholesky_update(stored, v / 1e3, downdate=True, upper=upper))


def test_what_is_not_finite() -> None:
    l, v = factor(6), np.full((6, 1), 0.1)
    bad = l.copy()
    bad[4, 2] = np.nan
    for how in (jax.jit(cholesky_update, static_argnames=("with_status",)), cholesky_update):
        new, ok = how(bad, v, with_status=True)
        assert not ok and np.isnan(np.tril(new)[np.tril_indices(6)]).all()
        for argument in ((l, np.full((6, 1), np.nan), None), (l, v, np.array([np.inf]))):
            new, ok = how(*argument, with_status=True)
            assert not ok and np.array_equal(new, l)
    new = cholesky_update(l, 9 * v + 9, downdate=True, on_breakdown="nan")
    assert np.isnan(new[np.tril_indices(6)]).all() and (new[np.triu_indices(6, 1)] == 0).all()


# Batches.


@pytest.mark.parametrize("n", [1, 4, 20, 130])
def test_a_batch_is_that_of_the_class(n: int) -> None:
    l = np.stack([factor(n, seed=s) for s in range(5)])
    v = np.stack([modification(n, 3, seed=s)[0] for s in range(5)])
    w = np.array([1.0, 2.0, 0.5])
    new = jax.jit(jax.vmap(cholesky_update, in_axes=(0, 0, None)))(l, v, w)
    assert np.abs(new - np.stack([of_class(*each, w) for each in zip(l, v)])).max() < 1e-14
    if n < 100:
        batch = cu.CholeskyBatch.from_factors(l)
        batch.modify(v, w)
        assert np.array_equal(new, batch.factors())


def test_axes_of_vmap() -> None:
    l = np.stack([factor(5, seed=s) for s in range(6)]).reshape(2, 3, 5, 5)
    v = np.stack([modification(5, 2, seed=s)[0] for s in range(6)]).reshape(2, 3, 5, 2)
    w = np.array([[1.0, 2.0], [0.5, 0.25]])

    def one(l: Any, v: Any, w: Any) -> Any:
        return np.asarray(cholesky_update(l, v, w))

    each = np.stack([[one(l[i, j], v[i, j], w[i]) for j in range(3)] for i in range(2)])
    def close(x: Any, y: Any) -> bool:
        return bool(np.abs(x - y).max() < 1e-14)

    assert close(cholesky_update(l, v, w[:, None, :]), each)
    assert close(jax.vmap(jax.vmap(cholesky_update, (0, 0, None)))(l, v, w), each)
    # The outer axis last in L and first in V, the inner one between; the results have the inner one at 1 and then the outer one at 3.
    both = jax.vmap(jax.vmap(cholesky_update, (2, 1, None), 1), (3, 0, 0), 3)
    moved = both(l.transpose(2, 3, 1, 0), v.transpose(0, 2, 1, 3), w)
    assert close(moved, each.transpose(2, 1, 3, 0))
    # One of the arguments alone, nested in either order.
    alone = jax.vmap(cholesky_update, (None, 0))(l[0, 0], v[0])
    assert close(alone, np.stack([cholesky_update(l[0, 0], x) for x in v[0]]))
    alone = jax.vmap(cholesky_update, (0, None))(l[0], v[0, 0])
    assert close(alone, np.stack([cholesky_update(x, v[0, 0]) for x in l[0]]))
    alone = jax.vmap(cholesky_update, (None, None, 0))(l[0, 0], v[0, 0], w)
    assert close(alone, np.stack([cholesky_update(l[0, 0], v[0, 0], x) for x in w]))
    crossed = jax.vmap(jax.vmap(cholesky_update, (None, 0)), (0, None))(l[:, 0], v[0])
    assert close(crossed, np.stack([[cholesky_update(x, y) for y in v[0]] for x in l[:, 0]]))
    assert cholesky_update(np.zeros((0, 3, 3)), np.zeros((3, 2))).shape == (0, 3, 3)


def test_one_call_for_a_batch() -> None:
    text = str(jax.make_jaxpr(jax.vmap(jax.vmap(cholesky_update, (None, 0)), (0, 0)))(np.ones((4, 3, 3)), np.ones((4, 5, 3, 1))))
    assert text.count("cholupdate_modify[") == 1


def test_one_broken_matrix_leaves_the_others_alone() -> None:
    l = np.stack([factor(4, seed=s) for s in range(3)])
    v = np.full((3, 4, 1), 0.1)
    v[1] = 9.0
    new, ok = jax.vmap(lambda l, v: cholesky_update(l, v, downdate=True, with_status=True))(l, v)
    assert ok.tolist() == [True, False, True] and np.array_equal(new[1], l[1])

    def loss(l: Any, v: Any, on_breakdown: Any) -> Any:
        return jnp.nansum(jnp.sin(cholesky_update(l, v, downdate=True, on_breakdown=on_breakdown)))

    for on_breakdown in ("keep", "nan"):
        of_l, of_v = jax.grad(loss, (0, 1))(l, v, on_breakdown)
        assert (of_l[1] == 0).all() and (of_v[1] == 0).all()
        alone = jax.grad(loss, (0, 1))(l[2], v[2], on_breakdown)
        assert np.abs(of_l[2] - alone[0]).max() < 1e-14 and np.abs(of_v[2] - alone[1]).max() < 1e-14
        hessian = jax.hessian(lambda v: loss(l, v, on_breakdown))(v)
        assert np.isfinite(hessian).all() and (hessian[1] == 0).all()


# Derivatives.


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize(("n", "k"), [(1, 1), (2, 3), (5, 1), (12, 4), (33, 2), (60, 20)])
def test_gradients_are_those_through_a_factorization(n: int, k: int, graded: bool, upper: bool) -> None:
    l, (v, w) = factor(n, graded=graded), modification(n, k, graded=graded)
    if graded:
        w = np.abs(w)
    l = l.T.copy() if upper else l
    g = np.random.default_rng(3).standard_normal((n, n))
    found = jax.jit(jax.grad(lambda *x: (g * cholesky_update(*x, upper=upper)).sum(), (0, 1, 2)))(l, v, w)
    wanted = jax.grad(lambda *x: (g * refactoring(upper)(*x)).sum(), (0, 1, 2))(l, v, w)
    scale = np.logspace(0, -3, n) if graded else np.ones(n)
    for x, y in zip(found, wanted):
        assert np.abs(x - y).max() <= 1e-8 * max(1.0, np.abs(y).max()) * (1.0 / scale.min() if graded else 1.0)
    other = np.tril_indices(n, -1) if upper else np.triu_indices(n, 1)
    assert (np.asarray(found[0])[other] == 0).all()
    # Forward mode, and that both are transposes of each other.
    d = tuple(np.random.default_rng(4).standard_normal(x.shape) * 0.1 for x in (l, v, w))
    _, tangent = jax.jvp(lambda *x: cholesky_update(*x, upper=upper), (l, v, w), d)
    _, expected = jax.jvp(lambda *x: refactoring(upper)(*x), (l, v, w), d)
    assert np.abs(tangent - expected).max() <= 1e-8 * max(1.0, np.abs(expected).max()) / scale.min()
    left, right = (g * tangent).sum(), sum((x * y).sum() for x, y in zip(found, d))
    assert abs(left - right) <= 1e-10 * max(1.0, abs(left), np.abs(g * tangent).sum()) / scale.min()


def test_the_example_of_jax_40421() -> None:
    # R of [[4, 1], [1, 3]], and the gradient of the sum of R by A: here by V = I of a zero R, in the upper triangle.
    a = jnp.array([[4.0, 1.0], [1.0, 3.0]])
    wanted = np.array([[0.20634446, 0.349247], [0.0, 0.301511]])
    r = jnp.linalg.cholesky(a).T
    push = jax.jvp(lambda r: cholesky_update(r, jnp.zeros((2, 1)), upper=True), (r,), (jnp.ones((2, 2)),))[1]
    assert np.array_equal(push, np.triu(np.ones((2, 2))))
    # d sum(R') / dA' from the gradient by w of a change of each entry of A'.
    for i, j in ((0, 0), (0, 1), (1, 1)):
        e = np.eye(2)[:, [i]] if i == j else np.array([[1.0, 1.0], [1.0, -1.0]])
        w = np.zeros(1) if i == j else np.zeros(2)
        direction = np.ones(1) if i == j else np.array([0.5, -0.5])
        slope = jax.jvp(lambda w: cholesky_update(r, e, w, upper=True).sum(), (w,), (direction,))[1]
        assert abs(slope - wanted[i, j]) < 1e-5


def test_check_grads_to_second_order() -> None:
    l, (v, w) = factor(4), modification(4, 2)

    def f(l: Any, v: Any, w: Any) -> Any:
        return cholesky_update(l, v, w)

    check_grads(f, (l, v, w), order=2, modes=("fwd", "rev"), atol=1e-6, rtol=1e-6)
    check_grads(jax.vmap(f, (None, 0, None)), (l, np.stack([v, 2 * v]), w), order=2, atol=1e-6, rtol=1e-6)
    check_grads(lambda r: cholesky_update(r, v, w, upper=True), (l.T,), order=2, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("upper", [False, True])
def test_hessians_and_jacobians(upper: bool) -> None:
    l, (v, w) = factor(4), modification(4, 2)
    l = l.T.copy() if upper else l
    for argument in range(3):
        ours = jax.jacfwd(lambda *x: cholesky_update(*x, upper=upper), argument)(l, v, w)
        theirs = jax.jacrev(lambda *x: cholesky_update(*x, upper=upper), argument)(l, v, w)
        wanted = jax.jacfwd(lambda *x: refactoring(upper)(*x), argument)(l, v, w)
        assert np.abs(ours - wanted).max() < 1e-12 and np.abs(theirs - wanted).max() < 1e-12
        hessian = jax.hessian(lambda *x: jnp.sin(cholesky_update(*x, upper=upper)).sum(), argument)(l, v, w)
        wanted = jax.hessian(lambda *x: jnp.sin(refactoring(upper)(*x)).sum(), argument)(l, v, w)
        assert np.abs(hessian - wanted).max() < 1e-11


@pytest.mark.parametrize("upper", [False, True])
def test_complex_derivatives(upper: bool) -> None:
    l, (v, w) = factor(5, np.complex128), modification(5, 2, np.complex128)
    l = l.conj().T.copy() if upper else l
    g = np.random.default_rng(3).standard_normal((5, 5))
    found = jax.grad(lambda *x: (g * jnp.abs(cholesky_update(*x, upper=upper)) ** 2).sum(), (0, 1, 2))(l, v, w)
    wanted = jax.grad(lambda *x: (g * jnp.abs(refactoring(upper)(*x)) ** 2).sum(), (0, 1, 2))(l, v, w)
    for x, y in zip(found, wanted):
        assert np.abs(x - y).max() < 1e-12


def test_a_shared_factor_sums_its_gradients() -> None:
    l, vs = factor(5), np.stack([modification(5, 2, seed=s)[0] for s in range(4)])
    found = jax.grad(lambda l: jnp.sin(jax.vmap(cholesky_update, (None, 0))(l, vs)).sum())(l)
    wanted = sum(jax.grad(lambda l, v: jnp.sin(cholesky_update(l, v)).sum())(l, v) for v in vs)
    assert np.abs(found - wanted).max() < 1e-13


def test_gradients_with_negative_pivots() -> None:
    l, (v, w) = factor(5), modification(5, 2)
    l = l * np.array([1.0, -1.0, 1.0, 1.0, -1.0])
    found = jax.grad(lambda *x: jnp.sin(cholesky_update(*x)).sum(), (0, 1, 2))(l, v, w)
    wanted = jax.grad(lambda *x: jnp.sin(refactored(*x)).sum(), (0, 1, 2))(l, v, w)
    for x, y in zip(found, wanted):
        assert np.abs(x - y).max() < 1e-12


def test_gradients_through_a_scan() -> None:
    l, vs = factor(6), np.stack([modification(6, 1, seed=s)[0] for s in range(5)])

    def ours(l: Any, vs: Any) -> Any:
        return jnp.sin(lax.scan(lambda l, v: (cholesky_update(l, v), None), l, vs)[0]).sum()

    def theirs(l: Any, vs: Any) -> Any:
        return jnp.sin(lax.scan(lambda l, v: (refactored(l, v, jnp.ones(1)), None), l, vs)[0]).sum()

    for x, y in zip(jax.jit(jax.grad(ours, (0, 1)))(l, vs), jax.grad(theirs, (0, 1))(l, vs)):
        assert np.abs(x - y).max() < 1e-12
    remat = jax.grad(lambda v: jax.checkpoint(lambda v: jnp.sin(cholesky_update(l, v)).sum())(v))(vs[0])
    assert np.abs(remat - jax.grad(lambda v: jnp.sin(cholesky_update(l, v)).sum())(vs[0])).max() < 1e-14


# The other functions.


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize(("n", "r"), [(0, 1), (1, 1), (5, 2), (20, 3)])
def test_append(n: int, r: int, dtype: Any, upper: bool) -> None:
    whole = factor(n + r, dtype)
    a = whole @ whole.conj().T
    l = np.linalg.cholesky(a[:n, :n]) if n else np.zeros((0, 0), dtype)
    stored = l.conj().T if upper else l
    new, ok = append(stored, a[:n, n:], np.tril(a[n:, n:]), upper=upper, with_status=True)
    low = new.conj().T if upper else new
    assert ok and np.abs(low - np.linalg.cholesky(a)).max() < 1e-13
    if dtype is np.float64 and n > 1:
        check_grads(lambda *x: append(*x, upper=upper), (stored, a[:n, n:], a[n:, n:]), order=1, atol=1e-6, rtol=1e-6)
    new, ok = append(stored, a[:n, n:], -a[n:, n:], upper=upper, with_status=True)
    assert not ok
    of = jax.grad(lambda *x: jnp.nansum(jnp.real(append(*x))), (0, 1, 2), holomorphic=False)(l, a[:n, n:], -a[n:, n:])
    assert all((x == 0).all() for x in of)


def test_solve_and_log_det() -> None:
    l, (v, w) = factor(7), modification(7, 2)
    b = np.random.default_rng(0).standard_normal((7, 3))
    for upper, stored in ((False, l), (True, l.T)):
        assert np.abs(solve(stored, b, upper=upper) - np.linalg.solve(l @ l.T, b)).max() < 1e-12
        assert solve(stored, b[:, 0], upper=upper).shape == (7,)
        check_grads(lambda *x: solve(*x, upper=upper), (stored, b), order=2, atol=1e-5, rtol=1e-5)
    stack = np.stack([l, 2 * l])
    assert np.abs(solve(stack, b)[1] * 4 - solve(l, b)).max() < 1e-12
    f = cu.Cholesky.from_factor(l)
    change = f.modify(v, w).log_det_change
    assert abs(log_det_change(l, cholesky_update(l, v, w)) - change) < 1e-12


# Programs.


def test_a_scan_carries_the_factor_in_place() -> None:
    l, vs = factor(50), np.stack([modification(50, 2, seed=s)[0] for s in range(20)])
    f = cu.Cholesky.from_factor(l)
    for v in vs:
        f.update(v)
    for upper in (False, True):
        run = jax.jit(lambda l, vs: lax.scan(lambda l, v: (cholesky_update(l, v, upper=upper), None), l, vs)[0])
        assert np.array_equal(run(l.T if upper else l, vs), f.factor(upper=upper))
        text = run.lower(l, vs).compile().as_text()
        assert text is not None and "output_to_operand_aliasing" in text


def test_without_jit() -> None:
    l, v = jnp.eye(3), jnp.ones(3)
    with jax.disable_jit():
        found, of_v = cholesky_update(l, v), jax.grad(lambda v: cholesky_update(l, v).sum())(v)
    assert (found == cholesky_update(l, v)).all()
    assert (of_v == jax.grad(lambda v: cholesky_update(l, v).sum())(v)).all()


def test_arguments_that_are_used_again_are_not_overwritten() -> None:
    l, (v, _) = factor(8), modification(8, 1)
    given = jnp.array(l)
    new, old = jax.jit(lambda l: (cholesky_update(l, v), l + 0))(given)
    assert np.array_equal(old, l) and np.array_equal(given, l) and not np.array_equal(new, l)
    both = jax.jit(lambda l: cholesky_update(l, l[:, :2]))(given)
    assert np.abs(both - cu.cholesky_update(l, l[:, :2])).max() == 0
    assert np.array_equal(given, l)


def test_threads_share_a_compiled_function() -> None:
    l = [factor(100, seed=s) for s in range(4)]
    v = [modification(100, 3, seed=s)[0] for s in range(4)]
    run = jax.jit(jax.value_and_grad(lambda l, v: cholesky_update(l, v).sum()))
    wanted = [run(*each) for each in zip(l, v)]
    wrong: list[int] = []

    def work(at: int) -> None:
        for _ in range(50):
            value, gradient = run(l[at], v[at])
            if value != wanted[at][0] or not np.array_equal(gradient, wanted[at][1]):
                wrong.append(at)

    threads = [threading.Thread(target=work, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


DEVICES = """
    import numpy as np, jax, jax.numpy as jnp
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
    jax.config.update("jax_enable_x64", True)
    from cholupdate.jax import cholesky_update
    devices = jax.devices()
    assert len(devices) == 4
    mesh = Mesh(np.array(devices), ("x",))
    rng = np.random.default_rng(0)
    l = np.linalg.cholesky(np.stack([np.eye(6) * 9 + np.ones((6, 6))] * 8))
    v = rng.standard_normal((8, 6, 2))
    wanted = cholesky_update(l, v)
    place = lambda x, spec: jax.device_put(x, NamedSharding(mesh, spec))

    def check(f, *arguments, gathers=False):
        f = jax.jit(f)
        text = f.lower(*arguments).compile().as_text()
        assert ("all-gather" in text) == gathers, text
        return f(*arguments)

    new = check(cholesky_update, place(l, P("x")), place(v, P("x")))
    assert np.array_equal(new, wanted) and new.sharding.spec[0] == "x", new.sharding
    one = check(cholesky_update, place(l[0], P()), place(v, P("x")))
    assert np.abs(one - wanted).max() < 1e-13 and one.sharding.spec[0] == "x"
    w = place(np.ones((8, 2)), P("x"))
    of_l, of_v = check(jax.grad(lambda l, v, w: cholesky_update(l, v, w).sum(), (0, 1)), place(l, P("x")), place(v, P("x")), w)
    expected = jax.grad(lambda l, v: cholesky_update(l, v).sum(), (0, 1))(l, v)
    assert np.abs(of_l - expected[0]).max() < 1e-13 and np.abs(of_v - expected[1]).max() < 1e-13
    # Two leading dimensions, the second divided.
    two = check(cholesky_update, place(l.reshape(2, 4, 6, 6), P(None, "x")), place(v.reshape(2, 4, 6, 2), P(None, "x")))
    assert np.array_equal(two.reshape(8, 6, 6), wanted)
    # A divided matrix is gathered.
    rows = check(cholesky_update, place(np.linalg.cholesky(np.eye(8) * 9), P("x")), place(np.ones((8, 1)), P()), gathers=True)
    # By hand.
    if hasattr(jax, "shard_map"):
        mapped = jax.shard_map(cholesky_update, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"))
        assert np.array_equal(check(mapped, place(l, P("x")), place(v, P("x"))), wanted)
        mapped = jax.shard_map(cholesky_update, mesh=mesh, in_specs=(P(), P("x")), out_specs=P("x"))
        assert np.abs(check(mapped, l[0], place(v, P("x"))) - wanted).max() < 1e-13
        of = jax.grad(lambda v: mapped(l[0], v).sum())(v)
        assert np.abs(of - expected[1]).max() < 1e-13
    # Several devices in one process, one after the other.
    for device in devices:
        assert np.array_equal(jax.jit(cholesky_update)(jax.device_put(l[0], device), jax.device_put(v[0], device)), cholesky_update(l[0], v[0]))
    # The partitioner of older versions.
    jax.config.update("jax_use_shardy_partitioner", False)
    new = check(lambda l, v: cholesky_update(l, v) + 0, place(l, P("x")), place(v, P("x")))
    assert np.array_equal(new, wanted)
    print("done")
"""


def test_devices_divide_batches() -> None:
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu"}
    script = textwrap.dedent(DEVICES)
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=os.environ | flags, check=False)
    assert found.stdout.endswith("done\n"), found.stderr


# Errors.


def test_errors_name_the_function_and_the_shape() -> None:
    l = np.eye(3)
    for arguments, keywords, message in (
        ((np.ones((3, 2)), np.ones(3)), {}, "square matrix, got shape \\(3, 2\\)"),
        ((np.ones(3), np.ones(3)), {}, "square matrix"),
        ((l, np.ones(4)), {}, "v must have shape \\(..., 3, k\\), got \\(4, 1\\)"),
        ((l, np.ones((3, 2)), np.ones(3)), {}, "weights must have shape \\(..., 2\\)"),
        ((l, np.ones(3), np.ones(1)), {"downdate": True}, "cannot be given together"),
        ((l, np.ones(3)), {"on_breakdown": "raise"}, "on_breakdown must be"),
        ((np.ones((2, 3, 3)), np.ones((4, 3, 1))), {}, "cannot be broadcast"),
    ):
        with pytest.raises(ValueError, match=message):
            cholesky_update(*arguments, **keywords)
        with pytest.raises(ValueError, match=message):
            jax.eval_shape(lambda: cholesky_update(*arguments, **keywords))
    with pytest.raises(TypeError, match="does not accept dtype bfloat16"):
        cholesky_update(jnp.eye(3, dtype=jnp.bfloat16), jnp.ones(3, jnp.bfloat16))
    with pytest.raises(TypeError, match="real weights"):
        cholesky_update(l, np.ones(3), np.ones(1) * 1j)


def test_symbolic_shapes_are_refused() -> None:
    from jax import export

    (n,) = export.symbolic_shape("n")
    shapes = [jax.ShapeDtypeStruct(shape, np.float64) for shape in ((n, 3, 3), (n, 3, 1))]
    with pytest.raises(NotImplementedError, match="shape polymorphism"):
        export.export(jax.jit(cholesky_update))(*shapes)


@pytest.mark.parametrize(("line", "code"), blocks("jax.md"))
def test_blocks_of_the_page(line: int, code: str) -> None:
    exec(compile("\n" * line + code, "jax.md", "exec"), {"__name__": "page"})
