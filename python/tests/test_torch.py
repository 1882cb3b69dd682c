"""`cholupdate.torch`: values, derivatives, batches, compiled programs, breakdown."""

# The types of PyTorch's functions are known in part; mypy is strict here.
# pyright: basic

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import numpy as np
import pytest

import cholupdate as cu
from frameworks import EXTENTS, blocks, factor, modification, required
from problems import Array

torch = required("torch")

from torch.autograd import gradcheck, gradgradcheck

from cholupdate.torch import append, cholesky_update, log_det_change, solve

# PyTorch's own.
pytestmark = [
    pytest.mark.filterwarnings("ignore:`torch.jit:FutureWarning"),
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning"),
]


def tensor(x: Array, grad: bool = False) -> Any:
    return torch.from_numpy(np.array(x)).requires_grad_(grad)


def refactored(l: Any, v: Any, w: Any, upper: bool = False) -> Any:
    """The same by a new factorization. Only the triangle is read."""
    low = l.triu().mT if upper else l.tril()
    new = torch.linalg.cholesky(low @ low.mT + (v * w[..., None, :]) @ v.mT)
    return new.mT if upper else new


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
    new, ok = cholesky_update(tensor(l), tensor(v), tensor(w), upper=upper, with_status=True)
    assert ok.item() and ok.shape == () and new.is_contiguous()
    if n > 0:
        assert np.array_equal(new.numpy(), of_class(l, v, w, upper))
    # By columns, and every other entry.
    columns = tensor(l.T).mT
    apart = torch.zeros(2 * n, 2 * n, dtype=columns.dtype)[::2, ::2].copy_(tensor(l))
    for other in (columns, apart):
        assert torch.equal(cholesky_update(other, tensor(v.T).mT, tensor(w), upper=upper), new)


def test_signs_vectors_and_other_triangles() -> None:
    l, (v, _) = factor(9), modification(9, 1)
    assert np.array_equal(cholesky_update(tensor(l), tensor(v[:, 0])), cu.cholesky_update(l, v))
    down = cholesky_update(tensor(l), tensor(v), downdate=True)
    assert np.array_equal(down, cu.cholesky_update(l, v, downdate=True))
    assert torch.equal(cholesky_update(tensor(-l), tensor(v)), cholesky_update(tensor(l), tensor(v)))
    other = tensor(l + np.triu(np.full((9, 9), np.nan), 1))
    assert torch.equal(cholesky_update(other, tensor(v)), cholesky_update(tensor(l), tensor(v)))


@pytest.mark.parametrize("n", [4, 130])
def test_breakdown(n: int) -> None:
    l = np.stack([factor(n, seed=s) for s in range(3)])
    v = np.full((3, n, 1), 0.01)
    v[1] = 9.0
    given, by = tensor(l, True), tensor(v, True)
    new, ok = cholesky_update(given, by, downdate=True, with_status=True)
    assert ok.tolist() == [True, False, True] and torch.equal(new[1], given[1].tril())
    of_l, of_v = torch.autograd.grad(new.sin().sum(), (given, by))
    assert (of_l[1] == 0).all() and (of_v[1] == 0).all() and (of_v[2] != 0).all()
    new = cholesky_update(tensor(l), tensor(v), downdate=True, on_breakdown="nan")
    assert new[1].tril().isnan().sum() == n * (n + 1) // 2 and new[0].isfinite().all()
    bad = l[0].copy()
    bad[n - 1, 0] = np.nan
    new, ok = cholesky_update(tensor(bad), tensor(v[0]), with_status=True)
    assert not ok and new.tril().isnan().sum() == n * (n + 1) // 2
    new, ok = cholesky_update(tensor(l[0]), tensor(v[0] * np.nan), with_status=True)
    assert not ok and torch.equal(new, tensor(l[0]).tril())


# Derivatives.


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize(("n", "k"), [(1, 1), (2, 3), (5, 1), (12, 4), (60, 20)])
def test_gradients_are_those_through_a_factorization(n: int, k: int, upper: bool) -> None:
    l, (v, w) = factor(n), modification(n, k)
    given = [tensor(x, True) for x in (l.T if upper else l, v, w)]
    g = tensor(np.random.default_rng(3).standard_normal((n, n)))
    found = torch.autograd.grad((g * cholesky_update(*given, upper=upper)).sum(), given)
    wanted = torch.autograd.grad((g * refactoring(upper)(*given)).sum(), given)
    for x, y in zip(found, wanted):
        assert (x - y).abs().max() <= 1e-9 * max(1.0, y.abs().max())
    assert torch.equal(found[0], found[0].triu() if upper else found[0].tril())
    along = tuple(tensor(np.random.default_rng(4).standard_normal(x.shape) * 0.1) for x in given)
    plain = tuple(x.detach() for x in given)
    _, tangent = torch.func.jvp(lambda *x: cholesky_update(*x, upper=upper), plain, along)
    _, expected = torch.func.jvp(lambda *x: refactoring(upper)(*x), plain, along)
    assert (tangent - expected).abs().max() <= 1e-9 * max(1.0, expected.abs().max())


@pytest.mark.parametrize("upper", [False, True])
def test_gradcheck_to_second_order(upper: bool) -> None:
    l, (v, w) = factor(4), modification(4, 2)
    given = [tensor(l.T if upper else l, True), tensor(np.stack([v, 0.5 * v]), True), tensor(w, True)]
    gradcheck(lambda *x: cholesky_update(*x, upper=upper), given, check_forward_ad=True)
    gradgradcheck(lambda *x: cholesky_update(*x, upper=upper), given)


def test_functional_derivatives() -> None:
    l, (v, w) = factor(4), modification(4, 2)
    given = [tensor(x) for x in (l, v, w)]
    for argument in range(3):
        wanted = torch.func.jacrev(refactored, argument)(*given)
        for jacobian in (torch.func.jacrev, torch.func.jacfwd):
            assert (jacobian(cholesky_update, argument)(*given) - wanted).abs().max() < 1e-12
        wanted = torch.func.hessian(lambda *x: refactored(*x).sin().sum(), argument)(*given)
        for outer in (torch.func.jacrev, torch.func.jacfwd):
            hessian = outer(torch.func.jacrev(lambda *x: cholesky_update(*x).sin().sum(), argument), argument)(*given)
            assert (hessian - wanted).abs().max() < 1e-11


def test_complex_derivatives_are_refused() -> None:
    l = tensor(factor(3, np.complex128), True)
    with pytest.raises(NotImplementedError, match="no derivatives for complex"):
        cholesky_update(l, tensor(np.ones((3, 1), np.complex128)))
    l, v = l.detach(), tensor(np.ones((3, 1), np.complex128))
    with pytest.raises(NotImplementedError, match="no derivatives for complex"):
        torch.func.jvp(lambda v: cholesky_update(l, v), (v,), (v,))


def test_higher_derivatives_in_any_order() -> None:
    l, v = tensor(factor(3)), tensor(modification(3, 1)[0])
    forward, reverse = torch.func.jacfwd, torch.func.jacrev

    def ours(v: Any) -> Any:
        return cholesky_update(l, v).sin().sum()

    def theirs(v: Any) -> Any:
        return refactored(l, v, torch.ones(1, dtype=v.dtype)).sin().sum()

    for first in (forward, reverse):
        for second in (forward, reverse):
            assert (second(first(ours))(v) - second(first(theirs))(v)).abs().max() < 1e-12
            if first is not second:
                found, wanted = (reverse(second(first(f)))(v) for f in (ours, theirs))
                assert (found - wanted).abs().max() < 1e-11
    with pytest.raises(NotImplementedError, match="forward mode twice"):
        forward(forward(forward(ours)))(v)


def test_a_graph_of_operators_can_be_differentiated_later() -> None:
    l, v = tensor(factor(3)), tensor(modification(3, 1)[0], True)
    bar = tensor(np.tril(np.ones((3, 3))))
    wanted = []
    for new in (cholesky_update(l, v), refactored(l, v, torch.ones(1, dtype=v.dtype))):

        def pulled(bar: Any, new: Any = new) -> Any:
            return torch.autograd.grad(new, v, bar, create_graph=True)[0]

        pushed = torch.func.jvp(pulled, (bar,), (bar,))[1]
        wanted.append([pushed, torch.func.vjp(pulled, bar)[1](v.detach())[0].tril()])
    for x, y in zip(*wanted, strict=True):
        assert (x - y).abs().max() < 1e-12 and y.abs().max() > 0.01


def test_forward_mode_in_compiled_programs() -> None:
    """Outside of the part that is compiled, or refused."""
    l, v = tensor(factor(3)), tensor(modification(3, 1)[0])

    def pushed(v: Any) -> Any:
        return torch.func.jvp(lambda v: cholesky_update(l, v), (v,), (v,))[1]

    compiled: Any = torch.compile(pushed, backend="eager")
    assert (compiled(v) - pushed(v)).abs().max() < 1e-14 and pushed(v).abs().max() > 0.01
    torch.compiler.reset()
    whole: Any = torch.compile(pushed, backend="eager", fullgraph=True)
    with pytest.raises(torch._dynamo.exc.Unsupported):
        whole(v)


# Batches.


def test_vmap() -> None:
    l = tensor(np.stack([factor(5, seed=s) for s in range(6)]).reshape(2, 3, 5, 5))
    v = tensor(np.stack([modification(5, 2, seed=s)[0] for s in range(6)]).reshape(2, 3, 5, 2))
    each = torch.stack([torch.stack([cholesky_update(l[i, j], v[i, j]) for j in range(3)]) for i in range(2)])
    vmap = torch.func.vmap

    def close(x: Any, y: Any) -> bool:
        return bool((x - y).abs().max() < 1e-14)

    assert close(cholesky_update(l, v), each)
    assert close(vmap(vmap(cholesky_update))(l, v), each)
    assert close(vmap(cholesky_update, (2, 1), 1)(l.permute(1, 2, 0, 3), v.permute(1, 0, 2, 3)), each.transpose(0, 1))
    alone = vmap(cholesky_update, (None, 0))(l[0, 0], v[0])
    assert close(alone, torch.stack([cholesky_update(l[0, 0], x) for x in v[0]]))
    alone = vmap(cholesky_update, (0, None))(l[0], v[0, 0])
    assert close(alone, torch.stack([cholesky_update(x, v[0, 0]) for x in l[0]]))
    moved = vmap(cholesky_update, (-1, 2))(l[0].permute(1, 2, 0), v[0].permute(1, 2, 0).movedim(-1, 2))
    assert close(moved, each[0])
    # Gradients for each element.
    found = vmap(torch.func.grad(lambda l, v: cholesky_update(l, v).sin().sum(), (0, 1)))(l[0], v[0])
    for at in range(3):
        wanted = torch.func.grad(lambda l, v: cholesky_update(l, v).sin().sum(), (0, 1))(l[0, at], v[0, at])
        assert close(found[0][at], wanted[0]) and close(found[1][at], wanted[1])
    assert cholesky_update(torch.zeros(0, 3, 3), torch.zeros(3, 2)).shape == (0, 3, 3)
    tangent = vmap(lambda d: torch.func.jvp(lambda v: cholesky_update(l[0, 0], v), (v[0, 0],), (d,))[1])(v[0])
    assert tangent.shape == (3, 5, 5)


def test_operators_are_registered_correctly() -> None:
    l, (v, w) = factor(4), modification(4, 2)
    for lead in ((), (3,), (2, 3)):
        given = [tensor(np.broadcast_to(x, lead + x.shape), True) for x in (l, v, w)]
        torch.library.opcheck(torch.ops.cholupdate.modify, (*given, False, False, 0))
        new, ok = torch.ops.cholupdate.modify(*given, False, False, 0)
        g = torch.ones_like(new)
        torch.library.opcheck(torch.ops.cholupdate.modify_vjp, (given[0], new, given[1], given[2], ok, g, False, 0))
        along = [torch.ones_like(x) for x in given]
        torch.library.opcheck(torch.ops.cholupdate.modify_jvp, (given[0], new, given[1], given[2], ok, *along, False, 0))


# Programs.


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compiled_without_graph_breaks(backend: str) -> None:
    l, (v, w) = factor(6), modification(6, 2)

    def loss(l: Any, v: Any, w: Any) -> Any:
        new, ok = cholesky_update(l, v, w, with_status=True)
        return torch.where(ok, new, 0.0).sin().sum()

    compiled = torch.compile(loss, fullgraph=True, backend=backend)
    found, wanted = ([tensor(x, True) for x in (l, v, w)] for _ in range(2))
    value = compiled(*found)
    value.backward()
    loss(*wanted).backward()
    assert abs(value.item() - loss(*wanted).item()) < 1e-12
    for x, y in zip(found, wanted):
        assert (x.grad - y.grad).abs().max() < 1e-12
    batch = torch.compile(torch.func.vmap(cholesky_update, (None, 0)), fullgraph=True, backend=backend)
    vs = tensor(np.stack([v, 0.5 * v]))
    assert torch.equal(batch(tensor(l), vs), torch.func.vmap(cholesky_update, (None, 0))(tensor(l), vs))


def test_threads() -> None:
    l = [tensor(factor(100, seed=s)) for s in range(4)]
    v = [tensor(modification(100, 3, seed=s)[0]) for s in range(4)]
    wanted = [cholesky_update(*each) for each in zip(l, v)]
    wrong: list[int] = []

    def work(at: int) -> None:
        for _ in range(50):
            if not torch.equal(cholesky_update(l[at], v[at]), wanted[at]):
                wrong.append(at)

    threads = [threading.Thread(target=work, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# The other functions.


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize(("n", "r"), [(0, 1), (1, 1), (5, 2), (20, 3)])
def test_append(n: int, r: int, upper: bool) -> None:
    whole = factor(n + r)
    a = whole @ whole.T
    l = np.linalg.cholesky(a[:n, :n]) if n else np.zeros((0, 0))
    given = [tensor(x, True) for x in (l.T if upper else l, a[:n, n:], np.tril(a[n:, n:]))]
    new, ok = append(*given, upper=upper, with_status=True)
    low = new.detach().mT if upper else new.detach()
    assert ok and np.abs(low.numpy() - np.linalg.cholesky(a)).max() < 1e-13
    if n == 5:
        gradcheck(lambda *x: append(*x, upper=upper), given)
    new, ok = append(given[0], given[1], -given[2], upper=upper, with_status=True)
    assert not ok
    assert all((x == 0).all() for x in torch.autograd.grad(new.nansum(), given))


def test_solve_and_log_det() -> None:
    l, (v, w) = factor(7), modification(7, 2)
    b = np.random.default_rng(0).standard_normal((7, 3))
    for upper, stored in ((False, l), (True, l.T)):
        assert np.abs(solve(tensor(stored), tensor(b), upper=upper).numpy() - np.linalg.solve(l @ l.T, b)).max() < 1e-12
        assert solve(tensor(stored), tensor(b[:, 0]), upper=upper).shape == (7,)
        gradcheck(lambda *x: solve(*x, upper=upper), [tensor(stored, True), tensor(b, True)])
    change = cu.Cholesky.from_factor(l).modify(v, w).log_det_change
    assert abs(log_det_change(tensor(l), cholesky_update(tensor(l), tensor(v), tensor(w))) - change) < 1e-12


def test_errors_name_the_argument() -> None:
    l, one = torch.eye(3), torch.ones(3)
    listed: Any = [1.0]
    for arguments, keywords, error, message in (
        ((torch.ones(3, 2), one), {}, ValueError, "square matrix, got shape \\(3, 2\\)"),
        ((l, torch.ones(4)), {}, ValueError, "v must have shape \\(..., 3, k\\)"),
        ((l, one.double()), {}, TypeError, "same dtype and device"),
        ((l.half(), one.half()), {}, TypeError, "must be float32"),
        ((l, one, one), {}, ValueError, "weights must have shape \\(..., 1\\)"),
        ((l, one, one[:1].double()), {}, TypeError, "weights must have dtype torch.float32"),
        ((l, one, listed), {}, TypeError, "weights must be a Tensor, not list"),
        ((l.expand(3, 3, 3), one.expand(2, 1, 3).mT), {}, ValueError, "leading dimensions must broadcast, got"),
        ((l, one, one[:1]), {"downdate": True}, ValueError, "cannot be given together"),
        ((l, one), {"on_breakdown": "raise"}, ValueError, "on_breakdown must be"),
        ((l.numpy(), one), {}, TypeError, "must be a Tensor"),
    ):
        with pytest.raises(error, match=message):
            cholesky_update(*arguments, **keywords)


@pytest.mark.parametrize(("line", "code"), blocks("torch.md"))
def test_blocks_of_the_page(line: int, code: str) -> None:
    exec(compile("\n" * line + code, "torch.md", "exec"), {"__name__": "page"})
