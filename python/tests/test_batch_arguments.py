"""The messages of refused arguments of `CholeskyBatch`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cholupdate as cu

f64 = cu.CholeskyBatch(np.tile(np.eye(3), (2, 1, 1)))
f32 = cu.CholeskyBatch(np.tile(np.eye(3, dtype=np.float32), (2, 1, 1)))
V = np.ones((2, 3))
MASKED: Any = np.ma.array(V, mask=V > 0)  # pyright: ignore

REFUSED: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: cu.CholeskyBatch(np.eye(3)), ValueError, "`a` has 2 dimensions, expected 3"),
    (lambda: cu.CholeskyBatch(np.ones((2, 3, 4))), ValueError, "`a`: the number of columns is 4, expected 3"),
    (lambda: cu.CholeskyBatch.from_factors(np.ones((2, 4, 3))), ValueError, "`l`: the number of columns is 3, expected 4"),
    (lambda: cu.CholeskyBatch(np.ones((1, 2, 2), np.clongdouble)), TypeError, "`a` has dtype complex256"),
    (lambda: cu.CholeskyBatch(np.ones((1, 2, 2), np.float16)), TypeError, "`a` has dtype float16, expected float32 or float64"),
    (lambda: cu.CholeskyBatch(np.ones((2, 3, 3)), orders=[1]), ValueError, "`orders`: the number of entries is 1, expected 2"),
    (lambda: cu.CholeskyBatch(np.ones((2, 3, 3)), orders=[1, 4]), IndexError, "`orders`[1] is 4"),
    (lambda: cu.CholeskyBatch(np.ones((2, 3, 3)), orders=[1, -1]), ValueError, "`orders` is -1, expected at least 0"),
    (lambda: cu.CholeskyBatch(np.ones((2, 3, 3)), orders=[1, 2.5]), TypeError, "`orders` must be an integer"),  # type: ignore # pyright: ignore
    (lambda: cu.CholeskyBatch(np.ones((2, 3, 3)), orders=2), TypeError, "`orders` must be integers, one for each"),  # type: ignore # pyright: ignore
    (lambda: cu.CholeskyBatch(np.ones((2, 3, 3)), threads=0), ValueError, "`threads` is 0, expected at least 1"),
    (lambda: f64.update(np.ones(3)), ValueError, "`v` has 1 dimensions, expected 2 or 3"),
    (lambda: f64.update(np.ones((3, 3))), ValueError, "`v`: the number of matrices is 3, expected 2"),
    (lambda: f64.update(np.ones((2, 4))), ValueError, "`v`: the number of rows is 4, expected 3"),
    (lambda: f64.update(np.ones((2, 3, 1, 1))), ValueError, "`v` has 4 dimensions, expected 2 or 3"),
    (lambda: f64.update(V.astype(np.float32)), TypeError, "`v` has dtype float32, but the factor has float64"),
    (lambda: f32.update(V), TypeError, "`v` has dtype float64, but the factor has float32"),
    (lambda: f64.update(MASKED), TypeError, "`v` is a masked array"),
    (lambda: f64.update(None), TypeError, "`v` has dtype object"),  # type: ignore[arg-type] # pyright: ignore
    (lambda: f64.modify(V, [1.0, 2.0]), ValueError, "`weights`: the number of entries is 2, expected 1"),
    (lambda: f64.modify(V, np.ones((3, 1))), ValueError, "`weights` has shape [3, 1], expected [1] or [2, 1]"),
    (lambda: f64.modify(V, np.ones((2, 1, 1))), ValueError, "`weights` has 3 dimensions, expected 1 or 2"),
    (lambda: f64.modify(V, [np.nan]), ValueError, "`weights` is not finite"),
    (lambda: f64.modify(V, np.ones(1, np.float32)), TypeError, "`weights` has dtype float32"),
    (lambda: f64.modify(V, [1.0], where=[1, 0]), TypeError, "`where` has dtype int64, expected bool"),
    (lambda: f64.modify(V, [1.0], where=[[True, False]]), ValueError, "`where` has 2 dimensions, expected 1"),
    (lambda: f64.modify(V, [1.0], where=[True]), ValueError, "`where`: the number of entries is 1, expected 2"),
    (lambda: f64.solve(np.ones(3)), ValueError, "`b` has 1 dimensions, expected 2 or 3"),
    (lambda: f64.solve(np.ones((2, 2))), ValueError, "`b`: the number of rows is 2, expected 3"),
    (lambda: f64.solve(np.ones((1, 3))), ValueError, "`b`: the number of matrices is 1, expected 2"),
    (lambda: f64.solve_in_place([[1.0] * 3] * 2), TypeError, "`b` must be an ndarray, not list"),  # type: ignore # pyright: ignore
    (lambda: f64.solve_in_place(V.astype(np.float32)), TypeError, "`b` must be an aligned array of float64"),
    (lambda: f64.solve_in_place(np.broadcast_to(1.0, (2, 3))), ValueError, "`b` is read-only"),
    (lambda: f64.factor(2), IndexError, "`matrix` is 2, but there are 2 matrices"),
    (lambda: f64.factor(-3), IndexError, "`matrix` is -3, but there are 2 matrices"),
    (lambda: f64.factor(1.0), TypeError, "`matrix` must be an integer, not float"),  # type: ignore[arg-type] # pyright: ignore
    (lambda: f64.status(10**30), IndexError, "`matrix` is 1000"),
    (lambda: f64.replace(2, np.eye(3)), IndexError, "`matrix` is 2, but there are 2 matrices"),
    (lambda: f64.replace(0, np.eye(4)), ValueError, "`a`: the number of rows is 4, expected at most 3"),
    (lambda: f64.replace(0, np.ones((2, 3))), ValueError, "`a`: the number of columns is 3, expected 2"),
    (lambda: f64.replace(0, [[np.nan]]), ValueError, "`a` is not finite at (0, 0)"),
    (lambda: f64.replace(0, np.ones((1, 1, 1))), ValueError, "`a` has 3 dimensions"),
    (lambda: f64.reserve(-1), ValueError, "`order` is -1, expected at least 0"),
    (lambda: f64.reserve(10**30), ValueError, "`order` must be small enough for the memory that there is"),
    (lambda: f64.reserve(1.5), TypeError, "`order` must be an integer"),  # type: ignore # pyright: ignore
    (lambda: f64.append(np.ones(3)), ValueError, "`a` has 1 dimensions, expected 2 or 3"),
    (lambda: f64.append(np.ones((2, 4))), ValueError, "`a`: the number of rows is 4, expected 3"),
    (lambda: f64.append(np.ones((3, 3))), ValueError, "`a`: the number of matrices is 3, expected 2"),
    (lambda: f64.append(np.ones((2, 3, 2))), ValueError, "`a`: the number of columns is 2, expected 1"),
    (lambda: f64.append(V.astype(np.float32)), TypeError, "`a` has dtype float32, but the factor has float64"),
    (lambda: f64.append(V, where=[True]), ValueError, "`where`: the number of entries is 1, expected 2"),
    (lambda: f64.append(V, where=[1, 0]), TypeError, "`where` has dtype int64, expected bool"),
    (lambda: f64.remove([0]), ValueError, "`indices`: the number of entries is 1, expected 2"),
    (lambda: f64.remove([[0, 1]]), ValueError, "`indices` has 2 dimensions, expected 0 or 1"),
    (lambda: f64.remove([0, -1]), IndexError, "`indices` is -1, but rows are numbered from 0"),
    (lambda: f64.remove([0.0, 1.0]), TypeError, "`indices` must be an integer, not float"),
    (lambda: f64.remove(True), TypeError, "`indices` must be an integer, not bool"),
    (lambda: f64.remove([0, 1], where=[True]), ValueError, "`where`: the number of entries is 1, expected 2"),
    (lambda: f64.select([0, 2]), IndexError, "`indices`[1] is 2, but must be less than 2"),
    (lambda: f64.select([-3]), IndexError, "`indices` is -3, but there are 2 matrices"),
    (lambda: f64.select([True]), ValueError, "`indices`: the number of truth values is 1, expected 2"),
]


@pytest.mark.parametrize(("call", "kind", "message"), REFUSED, ids=[message for _, _, message in REFUSED])
def test_arguments_are_refused_by_name(call: Callable[[], object], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=re.escape(message)):
        call()
    for batch in (f64, f32):
        assert np.array_equal(batch.factors(), np.tile(np.eye(3), (2, 1, 1)))
