"""The factor against numpy. Run on several processes: ``mpirun -n 3 python -m pytest``. Every process runs every test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

import cholupdate_mpi as cu

WORLD = MPI.COMM_WORLD
RANK, RANKS = WORLD.rank, WORLD.size
LAST = RANKS - 1
BLOCK = 16
N = 101


def is_last() -> bool:
    return RANK == LAST


def problem(dtype: Any = np.float64, k: int = 3) -> tuple[Any, Any]:
    """A and V, the same on every process."""
    random = np.random.default_rng(5)
    g = random.standard_normal((N, N))
    a = g @ g.T / N + 2 * np.eye(N)
    v = random.standard_normal((N, k)) / 10
    return a.astype(dtype), v.astype(dtype)


def mine(whole: Any) -> Any:
    return whole[cu.rows_of(len(whole), block=BLOCK)]


def start(a: Any, **settings: Any) -> cu.Distributed:
    return cu.Distributed(mine(a), threads=1, block=BLOCK, **settings)


def expect(f: cu.Distributed, a: Any) -> None:
    """Checks that A is the matrix of the factor, on every process."""
    tolerance = 1e-10 if f.dtype == np.float64 else 1e-4
    l = np.linalg.cholesky(a.astype(np.float64))
    assert (f.order, len(f), f.local_rows) == (len(a), len(a), len(mine(a)))
    np.testing.assert_allclose(f.to_rows(), mine(l), atol=tolerance)
    np.testing.assert_allclose(f.pivots(), np.diag(l), atol=tolerance)
    assert f.log_det() == pytest.approx(np.linalg.slogdet(a)[1], abs=tolerance * N)
    for root in (0, LAST):
        whole = f.gather(root)
        assert (whole is not None) == (RANK == root)
        if whole is not None:
            np.testing.assert_allclose(whole, l, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_modifications(dtype: Any) -> None:
    a, v = problem(dtype)
    f = start(a)
    assert f.dtype == dtype
    expect(f, a)
    before = f.log_det()
    report = f.update(mine(v))
    assert report.min_pivot_ratio >= 1
    assert report.log_det_change == pytest.approx(f.log_det() - before, abs=1e-3)
    expect(f, a + v @ v.T)
    assert f.can_downdate(v)
    f.downdate(np.ascontiguousarray(v))
    expect(f, a)
    w = np.array([2.0, -0.5, 1.0], dtype)
    f.modify(v, w)
    expect(f, a + v @ np.diag(w) @ v.T)
    f.update(v[:, 0])
    f.update(mine(v)[:, 1])
    expect(f, a + v @ np.diag(w + np.array([1, 1, 0], dtype)) @ v.T)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_beginnings(dtype: Any) -> None:
    a, _ = problem(dtype)
    l = np.linalg.cholesky(a)
    settings: dict[str, Any] = {"threads": 1, "block": BLOCK}
    expect(cu.Distributed.from_factor(mine(l), WORLD, **settings), a)
    for root in (0, LAST):
        at_root = RANK == root
        expect(cu.Distributed.scatter(a if at_root else None, root, **settings), a)
        expect(cu.Distributed.scatter_factor(l if at_root else None, root, **settings), a)
    alone = cu.Distributed(a, MPI.COMM_SELF, **settings)
    np.testing.assert_allclose(alone.to_rows(), l, atol=1e-4)
    assert cu.Distributed.scatter([[4]], comm=MPI.COMM_SELF).dtype == np.float64


def test_solves() -> None:
    a, b = problem(k=4)
    f, l = start(a), np.linalg.cholesky(a)
    given = mine(b)
    kept = given.copy()
    for solve, of in ((f.solve, a), (f.solve_l, l), (f.solve_lt, l.T)):
        np.testing.assert_allclose(solve(given), mine(np.linalg.solve(of, b)), atol=1e-10)
        x = solve(given[:, 1])
        assert x.ndim == 1
        np.testing.assert_allclose(x, mine(np.linalg.solve(of, b[:, 1])), atol=1e-10)
    assert (given == kept).all()


def test_rows_at_the_end() -> None:
    a, _ = problem()
    r = 7
    f = start(a)
    report = f.remove_last(r)
    assert report.log_det_change < 0
    expect(f, a[:-r, :-r])
    f.append(mine(a[:-r, -r:]), a[-r:, -r:])
    expect(f, a)
    f.remove_last()
    f.append(a[:-1, -1], a[-1, -1])
    expect(f, a)


def test_processes_without_rows() -> None:
    a, v = np.diag([4.0, 5.0, 6.0]), np.array([1.0, 0.0, 2.0])
    f = start(a)
    f.update(mine(v))
    f.downdate(v)
    expect(f, a)
    np.testing.assert_allclose(f.solve(mine(v)), mine(v / np.diag(a)))
    assert f.gather(LAST) is None or is_last()
    f.remove_last(3)
    expect(f, np.empty((0, 0)))


def test_breakdowns() -> None:
    a, _ = problem()
    f = start(a)
    far = np.zeros(N)
    far[17] = 50
    assert not f.can_downdate(far)
    with pytest.raises(cu.NotPositiveDefiniteError) as caught:
        f.downdate(far)
    assert caught.value.column == 17 and isinstance(caught.value, np.linalg.LinAlgError)
    expect(f, a)
    with pytest.raises(cu.NotPositiveDefiniteError):
        start(a - 100 * np.eye(N))
    lost = start(a, safeguard="none")
    with pytest.raises(cu.NotPositiveDefiniteError):
        lost.downdate(far)
    with pytest.raises(cu.PoisonedError):
        lost.update(far)
    singular = cu.Distributed.from_factor(mine(np.zeros((N, N))), block=BLOCK)
    with pytest.raises(cu.SingularError) as none:
        singular.solve(mine(far))
    assert none.value.column == 0


def refused(call: Callable[[], Any], own: type[Exception], words: str) -> None:
    """Checks that the last process raises its own exception, and the others one with its message."""
    with pytest.raises(own if is_last() else ValueError, match=words) as caught:
        call()
    assert is_last() or f"(process {LAST})" in str(caught.value)


def test_an_error_of_one_process_is_one_of_all() -> None:
    a, v = problem()
    f = start(a)
    wrong = v.astype(np.complex128) if is_last() else v
    refused(lambda: f.update(wrong), TypeError, "`v` has the dtype complex128")
    refused(lambda: f.solve(mine(wrong)), TypeError, "`b` has the dtype complex128")
    refused(lambda: f.can_downdate(v[:-1] if is_last() else v), ValueError, "`v`: the number of rows is 100")
    refused(lambda: f.modify(v, [1.0] if is_last() else [1.0, 2.0, 3.0]), ValueError, "`weights`: the number of entries")
    refused(lambda: f.append(v, np.eye(2 if is_last() else 3)), ValueError, "`corner`: the number of rows is 2")
    refused(lambda: f.remove_last("1" if is_last() else 1), TypeError, "`count` must be an integer")  # type: ignore[arg-type]
    refused(lambda: f.remove_last(-1 if is_last() else 1), ValueError, "`count` is -1")
    refused(lambda: f.gather(0.5 if is_last() else 0), TypeError, "`root` must be an integer")  # type: ignore[arg-type]
    rows = mine(a)
    refused(lambda: cu.Distributed(rows[1:] if is_last() else rows, block=BLOCK), ValueError, "`a`: the number of rows")
    refused(lambda: cu.Distributed(rows, block=24 if is_last() else BLOCK), ValueError, "options.block")
    refused(lambda: cu.Distributed.scatter(a[0] if is_last() else a, LAST), ValueError, "`a` has 1 dimensions")
    refused(lambda: cu.Distributed.scatter(a, 0, threads=0 if is_last() else 1), ValueError, "`threads` is 0")
    rows = mine(a)
    if is_last():
        rows[0, 0] = np.nan
    with pytest.raises(ValueError, match="`a` is not finite"):
        cu.Distributed(rows, block=BLOCK)
    expect(f, a)


def test_an_order_that_changes_while_a_call_waits() -> None:
    a, _ = problem()
    f = start(a)
    lock = f._lock

    class Late:
        """The lock, which another thread has until it has changed the order."""

        def __enter__(self) -> None:
            f._lock = lock
            f.append(np.zeros((N, 40)), np.eye(40))
            lock.acquire()

        def __exit__(self, *_: object) -> None:
            lock.release()

    for read in (f.to_rows, f.pivots):
        f._lock = Late()  # type: ignore[assignment]
        assert read().shape[-1] == N + 40
        f.remove_last(40)
    expect(f, a)


@pytest.mark.skipif(RANKS == 1, reason="needs other processes")
def test_arguments_that_differ() -> None:
    a, v = problem()
    f = start(a)
    for call in (
        lambda: f.update(v[:, :2] if is_last() else v),
        lambda: f.modify(v, [1.0, 1.0, 2.0 if is_last() else 3.0]),
        lambda: f.gather(1 if is_last() else 0),
        lambda: f.update(v) if is_last() else f.downdate(v),
        lambda: cu.Distributed.scatter(a, 1 if is_last() else 0),
        lambda: start(a.astype(np.float32) if is_last() else a),
    ):
        with pytest.raises(cu.DifferentArgumentsError, match="differs between the processes"):
            call()
    expect(f, a)


def test_the_end_of_a_factor() -> None:
    a, v = problem()
    f = start(a)
    assert f"order {N}" in repr(f)
    f.free()
    f.free()
    assert "freed" in repr(f)
    with pytest.raises(ValueError, match="freed"):
        f.update(v)
    with pytest.raises(ValueError, match="`block`|options.block"):
        cu.rows_of(3, block=5)
    for _ in range(20):
        start(a)
