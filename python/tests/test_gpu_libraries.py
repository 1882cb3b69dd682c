"""PyTorch, CuPy and JAX: their arrays on a GPU, their streams. Skipped without a GPU or the library."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import cholupdate as cu
from problems import Array, columns, spd

ENGINES = ("cpu", "hybrid", "cuda")
LIBRARIES = ("torch", "cupy", "jax")
N, K = 300, 7


class Library:
    """The functions of a library that the tests use."""

    def __init__(self, name: str) -> None:
        self.name = name
        if name == "jax":
            jax = pytest.importorskip("jax")
            jax.config.update("jax_enable_x64", True)
            self.module = pytest.importorskip("jax.numpy")
            if jax.default_backend() != "gpu":
                pytest.skip("JAX finds no GPU")
        else:
            self.module = pytest.importorskip(name)
            is_there = self.module.cuda.is_available()
            if not is_there:
                pytest.skip(f"{name} finds no GPU")

    def put(self, array: Array) -> Any:
        if self.name == "torch":
            return self.module.from_numpy(np.ascontiguousarray(array)).cuda()
        return self.module.asarray(array)

    def get(self, array: Any) -> Array:
        if self.name == "torch":
            return np.asarray(array.cpu())
        return np.asarray(array.get() if self.name == "cupy" else array)


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> Library:
    library = Library(str(request.param))
    try:
        cu.Cholesky([[1.0]], engine="cuda")
    except cu.DeviceError as error:
        pytest.skip(f"no GPU for the library: {error}")
    return library


@pytest.fixture
def torch() -> Any:
    return Library("torch").module


def tolerance(dtype: Any) -> float:
    return 200 * float(np.finfo(dtype).eps)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("by_columns", [False, True])
def test_changes_and_solutions(library: Library, engine: str, dtype: Any, by_columns: bool) -> None:
    a, v, b = spd(N, dtype), columns(N, K, dtype), columns(N, 3, dtype, seed=2)
    there = library.put(v.T).T if by_columns else library.put(v)
    f, g = cu.Cholesky(a, engine=engine), cu.Cholesky(a)
    f.update(there)
    f.downdate(there[:, 0])
    f.modify(there[:, 2:5], np.array([0.5, -0.25, 1.0], dtype))
    g.update(v)
    g.downdate(v[:, 0])
    g.modify(v[:, 2:5], np.array([0.5, -0.25, 1.0], dtype))
    np.testing.assert_allclose(f.factor(), g.factor(), atol=tolerance(dtype))
    assert np.array_equal(library.get(there), v)
    rhs = library.put(b)
    for method in ("solve", "solve_l", "solve_lt"):
        x = getattr(f, method)(rhs)
        assert type(x) is type(rhs) and x.shape == rhs.shape
        np.testing.assert_allclose(library.get(x), getattr(g, method)(b), atol=tolerance(dtype))
        y = getattr(f, method)(rhs[:, 1])
        assert y.shape == (N,)
        np.testing.assert_allclose(library.get(y), getattr(g, method)(b[:, 1]), atol=tolerance(dtype))
    assert np.array_equal(library.get(rhs), b)


def test_refused(library: Library) -> None:
    f = cu.Cholesky(spd(N), engine="cuda")
    before = f.factor()
    with pytest.raises(TypeError, match="`v` has dtype float32, but the factor has float64"):
        f.update(library.put(columns(N, K, np.float32)))
    with pytest.raises(ValueError, match="`v`: the number of rows is 299, expected 300"):
        f.update(library.put(columns(N - 1, K)))
    with pytest.raises(cu.NotPositiveDefiniteError):
        f.downdate(library.put(columns(N, K, size=100.0)))
    bad = columns(N, K)
    bad[17, 3] = np.nan
    with pytest.raises(ValueError, match=r"`v` is not finite at \(17, 3\)"):
        f.update(library.put(bad))
    assert np.array_equal(f.factor(), before)


def test_solutions_outlive_their_factor(library: Library) -> None:
    a, b = spd(N), columns(N, 2)
    solutions = [cu.Cholesky(a, engine="cuda").solve(library.put(b)) for _ in range(20)]
    gc.collect()
    for x in solutions:
        np.testing.assert_allclose(library.get(x), np.linalg.solve(a, b), atol=1e-10)


@pytest.mark.parametrize("engine", ["hybrid", "cuda"])
def test_behind_what_is_on_another_stream(torch: Any, engine: str) -> None:
    """V and B are written by kernels that are still waiting when the call begins."""
    a, v = spd(N), columns(N, K)
    f, g = cu.Cholesky(a, engine=engine), cu.Cholesky(a)
    source = torch.from_numpy(v).cuda()
    torch.cuda.synchronize()
    for sign in (1, -1, 1):
        with torch.cuda.stream(torch.cuda.Stream()):
            torch.cuda._sleep(100_000_000)
            there = torch.zeros((K, N), dtype=torch.float64, device="cuda").T
            there.copy_(source)
            (f.update if sign > 0 else f.downdate)(there)
            # Later work on the stream has no effect on the result.
            there.fill_(float("nan"))
        (g.update if sign > 0 else g.downdate)(v)
    torch.cuda.synchronize()
    np.testing.assert_allclose(f.factor(), g.factor(), atol=1e-12)
    with torch.cuda.stream(torch.cuda.Stream()):
        torch.cuda._sleep(100_000_000)
        b = torch.zeros(N, dtype=torch.float64, device="cuda")
        b.copy_(source[:, 0])
        x: Any = f.solve(b)
        b.fill_(float("nan"))
        doubled: Any = 2 * x
    torch.cuda.synchronize()
    np.testing.assert_allclose(doubled.cpu().numpy(), 2 * g.solve(v[:, 0]), atol=1e-10)


def batched(count: int, n: int, k: int) -> tuple[Array, Array]:
    a = np.array([spd(n, seed=b) for b in range(count)])
    return a, np.array([columns(n, k, seed=100 + b) for b in range(count)])


@pytest.mark.parametrize("n", [4, 12, 40, 150])
def test_batches(library: Library, n: int) -> None:
    a, v = batched(9, n, 3)
    there, here = cu.CholeskyBatch(library.put(a), engine="cuda"), cu.CholeskyBatch(a)
    given = library.put(v)
    for batch, of in ((there, given), (here, v)):
        batch.update(of).check()
        batch.downdate(of[:, :, 0]).check()
        batch.modify(of, np.array([0.5, -0.25, 1.0])).check()
    l = there.factors()
    assert type(l) is type(given) and type(there.factor(0)) is type(given)
    np.testing.assert_allclose(library.get(l), here.factors(), atol=1e-12)
    for b in (v, v[:, :, 1]):
        x = there.solve(library.put(b))
        assert type(x) is type(given) and x.shape == b.shape
        np.testing.assert_allclose(library.get(x), here.solve(b), atol=1e-11)
    place = library.put(v)
    if library.name == "jax":
        with pytest.raises(ValueError, match="`b` is read-only"):
            there.solve_in_place(place)
    else:
        there.solve_in_place(place).check()
        np.testing.assert_allclose(library.get(place), here.solve(v), atol=1e-11)
    new = cu.cholesky_update(l, given[:1], downdate=False)
    np.testing.assert_allclose(library.get(new), cu.cholesky_update(here.factors(), v[:1]), atol=1e-12)
    pairs = cu.cholesky_update(l[:, None], given[None, :2])
    np.testing.assert_allclose(library.get(pairs), cu.cholesky_update(here.factors()[:, None], v[None, :2]), atol=1e-12)


def test_batches_behind_what_is_on_the_current_stream(torch: Any) -> None:
    """V and B are written by kernels that are still waiting when the calls begin, and overwritten behind them."""
    a, v = batched(50, 12, 2)
    batch, wanted = cu.CholeskyBatch(a, engine="cuda"), cu.CholeskyBatch(a)
    source = torch.from_numpy(v).cuda()
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        for sign in (1, -1, 1):
            torch.cuda._sleep(100_000_000)
            there = torch.zeros_like(source).copy_(source)
            outcome = (batch.update if sign > 0 else batch.downdate)(there)
            there.fill_(float("nan"))
            (wanted.update if sign > 0 else wanted.downdate)(v)
        b = torch.zeros_like(source).copy_(source)
        batch.solve_in_place(b)
        doubled = 2 * b
        b.fill_(float("nan"))
        failed = torch.count_nonzero(torch.from_dlpack(outcome.on_device()[0]))
    torch.cuda.synchronize()
    assert int(failed) == 0 and outcome.failed.size == 0
    np.testing.assert_allclose(batch.factors(), wanted.factors(), atol=1e-12)
    np.testing.assert_allclose(doubled.cpu().numpy(), 2 * wanted.solve(v), atol=1e-11)


@pytest.mark.parametrize("n", [6, 20, 90])
def test_a_graph_captures_updates_and_solves(torch: Any, n: int) -> None:
    a, v = batched(30, n, 1)
    batch, wanted = cu.CholeskyBatch(torch.from_numpy(a).cuda(), engine="cuda"), cu.CholeskyBatch(a)
    given, b = torch.zeros((30, n, 1), dtype=torch.float64, device="cuda"), torch.ones((30, n), dtype=torch.float64, device="cuda")
    # The first calls allocate; columns of zeros change nothing.
    status, _, change = (torch.from_dlpack(array) for array in batch.update(given).on_device())
    batch.solve_in_place(b)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        batch.update(given)
        b.fill_(1.0)
        batch.solve_in_place(b)
    for _ in range(3):
        given.copy_(torch.from_numpy(v))
        graph.replay()
        outcome = wanted.update(v)
        torch.cuda.synchronize()
        assert not status.any()
        np.testing.assert_allclose(change.cpu().numpy(), outcome.log_det_change, rtol=1e-10)
        np.testing.assert_allclose(b.cpu().numpy(), wanted.solve(np.ones((30, n))), atol=1e-11)
        np.testing.assert_allclose(batch.factors().cpu().numpy(), wanted.factors(), atol=1e-12)


def test_a_tensor_that_is_tracked_is_refused_as_it_is_elsewhere(torch: Any) -> None:
    f = cu.Cholesky(spd(N), engine="cuda")
    v = torch.zeros(N, dtype=torch.float64, device="cuda", requires_grad=True)
    with pytest.raises(BufferError):
        f.update(v)
    f.update(v.detach())
