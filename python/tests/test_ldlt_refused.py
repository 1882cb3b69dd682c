"""The class `Ldlt`: calls that are refused, calls of several threads, and calls that are interrupted."""

from __future__ import annotations

import pickle
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import cholupdate as cu
from problems import Array, columns, quasidefinite
from test_interrupts import interrupted_after


def bits(f: cu.Ldlt) -> tuple[bytes, bytes, float, float, object, object]:
    return f.l.tobytes(), f.signs.tobytes(), f.growth, f.growth_limit, f.expected_inertia, str(f.expected_signs)


def test_singular_matrices() -> None:
    f = cu.Ldlt(quasidefinite(4, 3))
    before = bits(f)
    nearly = np.eye(7)[2] * np.sqrt(1.0 / np.linalg.inv(f.reconstruct()[:3, :3])[2, 2])  # the third leading minor becomes 0
    zero = f.reconstruct()[:, :1] * 0.0
    calls: list[tuple[Callable[[], object], int]] = [
        (lambda: f.downdate(nearly), 2),
        (lambda: f.modify(nearly, [-1.0]), 2),
        (lambda: f.modify_scaled(1.0, nearly, [-1.0]), 2),
        (lambda: f.append(zero, 0.0), 7),
        (lambda: f.insert(1, np.zeros(8)), 1),
        (lambda: f.replace(5, zero), 5),
        (lambda: cu.Ldlt([[0.0, 1.0], [1.0, 0.0]]), 0),
        (lambda: cu.Ldlt(np.ones((3, 3))), 1),
        (lambda: cu.Ldlt.from_factor(np.eye(3), [1.0, 0.0, 2.0]), 1),
        (lambda: cu.Ldlt.from_factor(np.diag([1.0, 1.0, 0.0]), np.ones(3)), 2),
    ]
    for call, column in calls:
        with pytest.raises(cu.SingularError) as caught:
            call()
        assert isinstance(caught.value, np.linalg.LinAlgError) and caught.value.column == column
        assert bits(f) == before
    assert not f.can_downdate(nearly) and f.can_downdate(0.5 * nearly) and bits(f) == before
    g = cu.Ldlt([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    before = bits(g)
    of_rows: list[Callable[[], object]] = [lambda: g.remove(0), lambda: g.shift(0, 1), lambda: g.permute([1, 2, 0])]
    for call in of_rows:
        with pytest.raises(cu.SingularError) as caught:
            call()
        assert caught.value.column == 0 and bits(g) == before


def test_growth() -> None:
    f = cu.Ldlt([[1.0, 1.0], [1.0, -1.0]])
    assert f.growth_limit == 0.25 / (np.finfo(np.float64).eps / 2.0)
    f.growth_limit = 100.0
    before = bits(f)
    v = [np.sqrt(1.0 - 1e-3), 0.0]
    calls: list[Callable[[], object]] = [lambda: f.downdate(v), lambda: f.modify(v, [-1.0])]
    for call in calls:
        with pytest.raises(cu.UnstableError, match="unstable: the factor grows") as caught:
            call()
        assert caught.value.column in (0, 1) and 900.0 < caught.value.growth < 2100.0
        assert bits(f) == before and not f.can_downdate(v)
        again = pickle.loads(pickle.dumps(caught.value))
        assert (again.column, again.growth) == (caught.value.column, caught.value.growth) and str(again) == str(caught.value)
    f.growth_limit = np.inf
    assert f.downdate(v).growth == f.growth > 100.0
    for limit in (0.5, np.nan, -np.inf):
        with pytest.raises(ValueError, match="`growth_limit` must be at least 1"):
            f.growth_limit = limit
    assert f.growth_limit == np.inf


def test_expected_inertia() -> None:
    f = cu.Ldlt(quasidefinite(4, 2))
    f.expect_inertia(4, 2)
    before = bits(f)
    calls: list[tuple[Callable[[], object], tuple[int, int]]] = [
        (lambda: f.modify(np.eye(6)[0], [-50.0]), (3, 3)),
        (lambda: f.append(np.zeros(6), 1.0), (5, 2)),
        (lambda: f.append(np.zeros(6), -1.0), (4, 3)),
        (lambda: f.remove(5), (4, 1)),
        (lambda: f.remove([0, 1]), (2, 2)),
        (lambda: f.replace(0, -9.0 * np.eye(6)[0]), (3, 3)),
    ]
    for call, found in calls:
        with pytest.raises(cu.InertiaError) as caught:
            call()
        assert (caught.value.expected, caught.value.found) == ((4, 2), found) and bits(f) == before
        again = pickle.loads(pickle.dumps(caught.value))
        assert (again.expected, again.found, str(again)) == ((4, 2), found, str(caught.value))
    assert not f.can_downdate(8.0 * np.eye(6)[0])
    f.permute([5, 4, 3, 2, 1, 0])
    assert f.expected_inertia == f.inertia == (4, 2)
    f.expect_any_inertia()
    assert f.expected_inertia is None and f.can_downdate(8.0 * np.eye(6)[0])


def test_expected_signs_follow_their_rows() -> None:
    f = cu.Ldlt(quasidefinite(3, 3))
    f.expect_signs([1, 1, 1, -1, -1, -1])
    f.shift(5, 0)
    f.append(np.zeros(6), 2.0)
    f.remove(2)
    assert f.expected_signs is not None and f.expected_signs.tolist() == [-1, 1, 1, -1, -1, 0]
    before = bits(f)
    for row, weight in ((0, 50.0), (1, -50.0), (3, 50.0)):
        with pytest.raises(cu.SignError, match=f"the pivot of column {row}") as caught:
            f.modify(np.eye(6)[row], [weight])
        assert caught.value.column == row == pickle.loads(pickle.dumps(caught.value)).column and bits(f) == before
    f.modify(np.eye(6)[5], [-50.0])
    f.permute([5, 4, 3, 2, 1, 0])
    assert f.expected_signs.tolist() == [0, -1, -1, 1, 1, -1]


f64, f32 = cu.Ldlt(np.diag([1.0, 1.0, -1.0])), cu.Ldlt(np.diag([1.0, 1.0, -1.0]).astype(np.float32))
NAN = np.diag([1.0, 1.0, -1.0])
NAN[2, 0] = np.nan

REFUSED: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: cu.Ldlt(NAN), ValueError, "`a` is not finite at (2, 0)"),
    (lambda: cu.Ldlt(NAN.T, upper=True), ValueError, "`a` is not finite at (0, 2)"),
    (lambda: cu.Ldlt(np.ones((2, 3))), ValueError, "`a`: the number of columns is 3, expected 2"),
    (lambda: cu.Ldlt(np.full((1, 1), 1.7e308)), ValueError, "`a` is too large"),
    (lambda: cu.Ldlt(np.eye(2, dtype=np.float16)), TypeError, "`a` has dtype float16, expected float32 or float64"),
    (lambda: cu.Ldlt(f64), TypeError, "an Ldlt is not an array: L is `l`, A is `reconstruct()`"),
    (
        lambda: cu.Ldlt(np.eye(2), engine="cuda"),  # type: ignore[arg-type] # pyright: ignore
        ValueError,
        "`engine` is \"cuda\", expected \"cpu\": an Ldlt is in host memory",
    ),
    (lambda: cu.Ldlt.from_factor([[1.0]], [1.0], engine="hybrid"), ValueError, "`engine` is"),  # type: ignore # pyright: ignore
    (lambda: cu.Ldlt(np.eye(2), engine=3), TypeError, "`engine` must be a str, not int"),  # type: ignore # pyright: ignore
    (lambda: cu.Ldlt(np.eye(2), threads=0), ValueError, "`threads` is 0, expected at least 1"),
    (lambda: cu.Ldlt(np.eye(2), upper=1), TypeError, "`upper` must be a bool, not int"),  # type: ignore # pyright: ignore
    (lambda: cu.Ldlt.from_factor(NAN, np.ones(3)), ValueError, "`l` is not finite at (2, 0)"),
    (lambda: cu.Ldlt.from_factor(np.eye(3), np.ones(2)), ValueError, "`d`: the number of entries is 2, expected 3"),
    (lambda: cu.Ldlt.from_factor(np.eye(3), np.eye(3)), ValueError, "`d` has 2 dimensions, expected 1"),
    (lambda: cu.Ldlt.from_factor(np.eye(3), [1.0, np.inf, 1.0]), ValueError, "`d` is not finite"),
    (lambda: cu.Ldlt.from_factor(np.eye(3), np.ones(3, np.float32)), TypeError, "`d` has dtype float32"),
    (lambda: f64.update(np.ones(3, np.float32)), TypeError, "`v` has dtype float32, but the factor has float64"),
    (lambda: f32.update(np.ones(3)), TypeError, "`v` has dtype float64, but the factor has float32"),
    (lambda: f64.update(np.ones(3, complex)), TypeError, "`v` has dtype complex128, expected real numbers"),
    (lambda: f64.update(np.ones(4)), ValueError, "`v`: the number of rows is 4, expected 3"),
    (lambda: f64.update([np.nan, 0, 0]), ValueError, "`v` is not finite at (0, 0)"),
    (lambda: f64.downdate([1e300, 0, 0]), ValueError, "`v` is too large"),
    (lambda: f64.can_downdate(np.ones(2)), ValueError, "`v`: the number of rows is 2, expected 3"),
    (lambda: f64.modify(np.ones((3, 2)), [1.0]), ValueError, "`weights`: the number of entries is 1, expected 2"),
    (lambda: f64.modify(np.ones((3, 1)), [np.nan]), ValueError, "`weights` is not finite"),
    (lambda: f64.modify_scaled(0.0, np.ones(3)), ValueError, "`decay` must be greater than 0 and at most 1"),
    (lambda: f64.modify_scaled(np.nan, np.ones(3)), ValueError, "`decay` must be"),
    (lambda: f64.append(np.ones(4), 1.0), ValueError, "`cross`: the number of rows is 4"),
    (lambda: f64.append(np.ones(3), np.ones((2, 2))), ValueError, "`corner`: the number of rows is 2"),
    (lambda: f64.append([0.0, np.nan, 0.0], 1.0), ValueError, "`cross` is not finite at (1, 0)"),
    (lambda: f64.insert(4, np.ones(4)), IndexError, "`at` is 4, but must be less than 4"),
    (lambda: f64.insert(-1, np.ones(4)), IndexError, "`at` is -1"),
    (lambda: f64.insert(0, np.ones(3)), ValueError, "`columns`: the number of rows is 3, expected 4"),
    (lambda: f64.insert(1, [0.0, 0.0, np.inf, 0.0]), ValueError, "`columns` is not finite at (2, 0)"),
    (lambda: f64.replace(3, np.ones(3)), IndexError, "`at` is 3"),
    (lambda: f64.remove(3), IndexError, "`indices`[0] is 3, but must be less than 3"),
    (lambda: f64.remove([0, -3]), ValueError, "`indices` has 0 twice"),
    (lambda: f64.remove([0.5]), TypeError, "`indices` must be an integer, not float"),  # type: ignore # pyright: ignore
    (lambda: f64.shift(3, 0), IndexError, "`at` is 3, but must be less than 3"),
    (lambda: f64.shift(0, 3), IndexError, "`to` is 3, but must be less than 3"),
    (lambda: f64.permute([0, 1]), ValueError, "`order`: the number of entries is 2, expected 3"),
    (lambda: f64.permute([0, 1, 1]), ValueError, "`order` has 1 twice"),
    (lambda: f64.solve(np.ones(4)), ValueError, "`b`: the number of rows is 4, expected 3"),
    (lambda: f64.solve_l([np.nan, 0, 0]), ValueError, "`b` is not finite"),
    (lambda: f64.solve_lt(np.ones(3, np.float32)), TypeError, "`b` has dtype float32"),
    (lambda: f64.expect_inertia(-1, 2), ValueError, "`positive` is -1, expected at least 0"),
    (lambda: f64.expect_inertia(1, 2.0), TypeError, "`negative` must be an integer, not float"),  # type: ignore # pyright: ignore
    (lambda: f64.expect_signs([1, 1]), ValueError, "`signs`: the number of entries is 2, expected 3"),
    (lambda: f64.expect_signs([1, np.nan, 1]), ValueError, "`signs` is not finite at (1, 0)"),
]


@pytest.mark.parametrize(("call", "kind", "message"), REFUSED, ids=[message for _, _, message in REFUSED])
def test_arguments_are_refused_by_name(call: Callable[[], object], kind: type[Exception], message: str) -> None:
    before = bits(f64), bits(f32)
    with pytest.raises(kind, match=re.escape(message)):
        call()
    assert (bits(f64), bits(f32)) == before


def test_threads_give_the_same_bits() -> None:
    made: list[Array] = []
    for threads in (1, 2, 3, None, -1):
        f = cu.Ldlt(quasidefinite(400, 200), threads=threads)
        f.modify(columns(600, 20), np.linspace(-1.0, 2.0, 20))
        f.remove(range(0, 500, 7))
        made.append(f.l)
    assert all(np.array_equal(l, made[0]) for l in made)


def test_readers_share() -> None:
    f = cu.Ldlt(quasidefinite(200, 100), threads=1)
    b, v = columns(300, 2), columns(300, 3)
    calls: list[Callable[[], Any]] = [
        lambda: f.solve(b),
        lambda: f.solve_l(b),
        lambda: f.l,
        lambda: f.condition(),
        lambda: f.can_downdate(v),
        lambda: f.copy().inertia,
        lambda: pickle.loads(pickle.dumps(f)).log_abs_det(),
        lambda: repr(f),
    ]
    wanted = [call() for call in calls]

    def work(seed: int) -> None:
        random = np.random.default_rng(seed)
        for _ in range(40):
            at = int(random.integers(0, len(calls)))
            np.testing.assert_equal(calls[at](), wanted[at])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))


def test_a_writer_is_alone() -> None:
    f = cu.Ldlt(quasidefinite(800, 400), threads=1)
    v, w = np.full((1200, 64), 1e-4), np.linspace(-1.0, 1.0, 64)
    stop, errors = threading.Event(), list[str]()

    def work() -> None:
        while not stop.is_set():
            try:
                f.modify(v, w)
            except RuntimeError as error:
                errors.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 20
    while not errors and time.monotonic() < deadline:
        time.sleep(0.01)
    stop.set()
    for thread in threads:
        thread.join()
    assert set(errors) == {"the factor is in use by another thread"} and f.inertia == (800, 400)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_change_that_is_interrupted_leaves_the_factor(threads: int) -> None:
    n, k = 2500, 1200
    f = cu.Ldlt(np.diag(np.repeat([4.0, -4.0], n // 2)), threads=threads)
    f.expect_inertia(n // 2, n // 2)
    v = np.asfortranarray(1e-3 * np.random.default_rng(0).standard_normal((n, k)))
    f.update(v)
    before = bits(f)
    calls: list[Callable[[], object]] = [
        lambda: f.update(v),
        lambda: f.downdate(v),
        lambda: f.modify_scaled(0.5, v),
        lambda: f.can_downdate(v),
        lambda: f.permute(range(n - 1, -1, -1)),
    ]
    for call in calls:
        with interrupted_after(0.05), pytest.raises(KeyboardInterrupt, match="before it had changed anything"):
            call()
        assert bits(f) == before
