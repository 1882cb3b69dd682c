"""The bound of the README, row by row, against arithmetic in extended precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cholupdate as cu
from problems import assert_within_bound, columns, spd


@settings(max_examples=80, deadline=None)
@given(
    n=st.integers(1, 60),
    k=st.integers(1, 24),
    dtype=st.sampled_from([np.float32, np.float64]),
    upper=st.booleans(),
    order=st.sampled_from(["C", "F"]),
    overwrite=st.booleans(),
    graded=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_modifications_of_any_signs(
    n: int, k: int, dtype: Any, upper: bool, order: Any, overwrite: bool, graded: bool, seed: int
) -> None:
    random = np.random.default_rng(seed)
    l = np.linalg.cholesky(spd(n, seed=seed)) * (10.0 ** np.linspace(0, -4 if graded else 0, n))[:, None]
    l = np.tril(l).astype(dtype)
    # L times a matrix of norm 0.8, so that a downdate is possible.
    inner = columns(n, k, seed=seed + 1)
    v = (l @ (0.8 * inner / np.linalg.norm(inner)).astype(dtype)).astype(dtype)
    w = random.uniform(-0.9, 2.0, k).astype(dtype)

    f = cu.Cholesky.from_factor(l)
    f.modify(v, w)
    assert_within_bound(f.factor(), l, v, w)

    given_l = np.array(l.T if upper else l, order=order)
    new = cu.cholesky_update(given_l, v, weights=w, upper=upper, overwrite_l=overwrite)
    assert (new is given_l) == overwrite
    assert_within_bound(new.T if upper else new, l, v, w)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "k"), [(300, 1), (300, 16), (257, 70)])
def test_larger_ones(dtype: Any, n: int, k: int) -> None:
    l, v = np.linalg.cholesky(spd(n, dtype)), columns(n, k, dtype, size=0.3 / np.sqrt(k))
    f = cu.Cholesky.from_factor(l)
    f.update(v)
    up = f.factor()
    assert_within_bound(up, l, v, np.ones(k))
    f.downdate(v)
    assert_within_bound(f.factor(), up, v, -np.ones(k))
