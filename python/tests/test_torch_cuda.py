"""`cholupdate.torch` on a GPU."""

# The types of PyTorch's functions are known in part; mypy is strict here.
# pyright: basic

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cholupdate import _on_gpu

from frameworks import factor, modification, required
from problems import Array

torch = required("torch")
ct = pytest.importorskip("cholupdate.torch")

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch finds no GPU"),
    # PyTorch's own.
    pytest.mark.filterwarnings("ignore:`torch.jit:FutureWarning"),
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
]

EXTENTS = [(0, 2), (1, 1), (5, 0), (5, 3), (63, 1), (64, 16), (65, 17), (130, 2), (300, 40)]
TOLERANCE = {np.float64: 1e-11, np.float32: 5e-4}


def put(x: Array) -> Any:
    return torch.from_numpy(np.ascontiguousarray(x)).cuda()


@pytest.fixture(params=["call", "formula"])
def derivatives(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Derivatives by each of the two ways, whichever is faster."""
    by_call = request.param == "call"
    monkeypatch.setattr(_on_gpu, "by_call", lambda count, n, k: by_call and k <= _on_gpu.MOST_COLUMNS)


def refactored(l: Array, v: Array, w: Array) -> Array:
    l, v, w = (np.asarray(x, np.float64) for x in (l, v, w))
    a = np.tril(l) @ np.swapaxes(np.tril(l), -1, -2) + (v * w[..., None, :]) @ np.swapaxes(v, -1, -2)
    return np.linalg.cholesky(a) if a.size else a


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "k"), EXTENTS)
def test_values(n: int, k: int, dtype: Any) -> None:
    l, (v, w) = factor(n, dtype), modification(n, k, dtype)
    garbage = l + np.triu(np.full_like(l, np.nan), 1)
    expected = refactored(l, v, w)
    for by_columns in (False, True):
        given = put(garbage.T).mT if by_columns else put(garbage)
        new, ok = ct.cholesky_update(given, put(v.T).mT, put(w), with_status=True)
        assert bool(ok) and new.is_cuda and new.mT.is_contiguous()
        np.testing.assert_allclose(new.cpu(), expected, atol=TOLERANCE[dtype])
        assert (new.triu(1) == 0).all()
    upper = ct.cholesky_update(put(garbage.T), put(v), put(w), upper=True)
    assert upper.is_contiguous()
    np.testing.assert_allclose(upper.mT.cpu(), expected, atol=TOLERANCE[dtype])
    for downdate in (False, True):
        scaled = (0.3 * v).astype(dtype)
        new = ct.cholesky_update(put(garbage), put(scaled), downdate=downdate)
        weights = np.full(k, -1.0 if downdate else 1.0)
        np.testing.assert_allclose(new.cpu(), refactored(l, scaled, weights), atol=TOLERANCE[dtype])


def test_memory_that_is_not_aligned() -> None:
    n = 64
    l, (v, _) = factor(n), modification(n, 2)
    room = torch.empty(n * n + 1, dtype=torch.float64, device="cuda")
    given = room[1:].view(n, n).mT
    given.copy_(put(l))
    np.testing.assert_allclose(ct.cholesky_update(given, put(v)).cpu(), refactored(l, v, np.ones(2)), atol=1e-11)


def test_the_current_stream_and_its_memory() -> None:
    n = 300
    l, (v, _) = factor(n), modification(n, 4)
    expected = refactored(l, np.concatenate([v] * 20, 1), np.ones(80))
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        new, column = put(l), put(v)
        for _ in range(20):
            new = ct.cholesky_update(new, column)
    stream.synchronize()
    np.testing.assert_allclose(new.cpu(), expected, atol=1e-10)


def test_a_graph() -> None:
    n = 256
    l, (v, _) = factor(n), modification(n, 4)
    given, column = put(l.T).mT, put(v)
    ct.cholesky_update(given, column)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        new = ct.cholesky_update(given, column)
    for scale in (1.0, 0.5):
        column.copy_(put(scale * v))
        graph.replay()
        np.testing.assert_allclose(new.cpu(), refactored(l, scale * v, np.ones(4)), atol=1e-11)


def test_what_breaks_down_is_told_and_leaves_the_others_alone() -> None:
    for n in (5, 64, 301):
        l = factor(n)
        vs = 0.1 * np.stack([modification(n, 2, seed=s)[0] for s in range(4)])
        vs[1] *= 1e4
        vs[2, n - 1, 0] = np.nan
        new, ok = ct.cholesky_update(put(l), put(vs), downdate=True, with_status=True)
        assert ok.tolist() == [True, False, False, True]
        for b in (0, 3):
            np.testing.assert_allclose(new[b].cpu(), refactored(l, vs[b], -np.ones(2)), atol=1e-11)
        np.testing.assert_array_equal(new[1].cpu(), l)
        nan = ct.cholesky_update(put(l), put(vs[2]), on_breakdown="nan")
        assert nan.tril().isnan().sum() == n * (n + 1) // 2 and (nan.triu(1) == 0).all()


def test_vmap() -> None:
    n, k = 40, 3
    ls = np.stack([factor(n, seed=s) for s in range(5)])
    vs = 0.3 * np.stack([modification(n, k, seed=s)[0] for s in range(5)])
    expected = np.stack([refactored(l, v, np.ones(k)) for l, v in zip(ls, vs, strict=True)])
    found = torch.func.vmap(ct.cholesky_update, (0, 2))(put(ls), put(np.moveaxis(vs, 0, 2)))
    np.testing.assert_allclose(found.cpu(), expected, atol=1e-11)


@pytest.mark.usefixtures("derivatives")
@pytest.mark.parametrize(("n", "k"), [(1, 1), (5, 3), (64, 16), (60, 4), (129, 2), (200, 40), (90, 70)])
def test_gradients_are_those_of_the_cpu(n: int, k: int) -> None:
    given = factor(n), *modification(n, k)
    weight = np.random.default_rng(0).standard_normal((n, n))
    both = []
    for device in ("cpu", "cuda"):
        tensors = [torch.tensor(x, device=device, requires_grad=True) for x in given]
        (torch.tensor(weight, device=device) * ct.cholesky_update(*tensors)).sum().backward()
        both.append([x.grad.cpu() for x in tensors])
    for here, there in zip(*both, strict=True):
        np.testing.assert_allclose(there, here, atol=1e-9 * max(1.0, float(here.abs().max())))


def test_the_current_device_may_be_another_one() -> None:
    l, (v, w) = factor(130), modification(130, 3)
    for device in range(torch.cuda.device_count()):
        for current in range(torch.cuda.device_count()):
            with torch.cuda.device(current):
                given = [torch.tensor(x, device=f"cuda:{device}", requires_grad=True) for x in (l, 0.3 * v, w)]
                new = ct.cholesky_update(*given)
                new.square().sum().backward()
                assert torch.cuda.current_device() == current
            assert new.get_device() == given[1].grad.get_device() == device
            np.testing.assert_allclose(new.detach().cpu(), refactored(l, 0.3 * v, w), atol=1e-11)
            # f = tr A', so that its gradient by V is 2 V diag(w).
            np.testing.assert_allclose(given[1].grad.cpu(), 0.6 * v * w, atol=1e-10)


def test_gradcheck() -> None:
    l, v, w = (torch.tensor(x, device="cuda", requires_grad=True) for x in (factor(5), *modification(5, 2)))
    assert torch.autograd.gradcheck(lambda *x: ct.cholesky_update(*x), (l, v, w), check_forward_ad=True)


def test_compiled_programs() -> None:
    l, v = put(factor(50)), put(modification(50, 3)[0])

    def loss(l: Any, v: Any) -> Any:
        return ct.cholesky_update(l.tril(), v).square().sum()

    compiled = torch.compile(loss, fullgraph=True)
    torch.testing.assert_close(compiled(l, v), loss(l, v))
    v.requires_grad_()
    (expected,) = torch.autograd.grad(loss(l, v), v)
    (found,) = torch.autograd.grad(compiled(l, v), v)
    torch.testing.assert_close(found, expected)


def test_operators_pass_the_checks_of_pytorch() -> None:
    l, v, w = put(factor(6)), put(modification(6, 2)[0]), torch.ones(2, dtype=torch.float64, device="cuda")
    for upper in (False, True):
        torch.library.opcheck(torch.ops.cholupdate.modify.default, (l.mT.contiguous() if upper else l, v, w, upper, False, 1))


def test_complex_tensors_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="runs on the CPU, not on GPUs"):
        ct.cholesky_update(put(factor(3, np.complex128)), put(modification(3, 1, np.complex128)[0]))
