"""BoTorch conditions a Gaussian process on one observation by appending a row to a factor.

`condition_on_observations` is GPyTorch's `get_fantasy_model`. In GPyTorch 1.15 it borders the factor L of K + σ² I and the weights of
the mean, in O(n²), and then inverts the new factor, in O(n³), as it computes predictive variances by a product with L⁻¹. The new
weights are stored under another key than the one that is read, so the posterior of the new model factors its matrix again. The
class `Appended` below is a prediction strategy that keeps L alone: `cholupdate.torch.append` borders it, `solve` makes the weights, and
variances are computed by a triangular solve, which has the cost of the product. The model, its kernel and its posterior are BoTorch's
own; the strategy is set in one line, and remains set in models that are conditioned further.

What is saved is an inversion and a factorization. To tell them apart, a third strategy is GPyTorch's with its weights under the key
that is read. `append` is made of a triangular solve and a small factorization by PyTorch, and L⁻¹ could be bordered in O(n²) as well.

    pip install ./python botorch
    OMP_NUM_THREADS=1 python python/examples/botorch_fantasy.py [--quick]

For n observations it prints medians of times in ms: of conditioning on one observation, of the posterior at 100 points by the
new model, of both with the gradient of its mean variance there by the place of the observation (a look-ahead, as in the knowledge
gradient), and of one step of a sequence of observations, each followed by a posterior. Means, variances and gradients are checked to
be equal up to rounding. The hyperparameters are given. All work on one thread.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of PyTorch, to GPyTorch
        import torch
        from botorch.models import SingleTaskGP
        from botorch.settings import propagate_grads
        from gpytorch import settings
        from gpytorch.models.exact_prediction_strategies import DefaultPredictionStrategy
        from gpytorch.utils.memoize import add_to_cache, get_from_cache
        from linear_operator import to_dense, to_linear_operator
except ImportError as missing:
    raise SystemExit(f"this example needs PyTorch and BoTorch: pip install torch botorch ({missing})") from None

from torch import Tensor

from cholupdate.torch import append, solve

DIMENSIONS = 4
NOISE = 1e-2
POINTS = 100


class Reread(DefaultPredictionStrategy):  # type: ignore[misc]
    """GPyTorch's own, whose new weights are found."""

    name = "with its weights"

    def get_fantasy_strategy(self, *arguments: Any, **kwargs: Any) -> Any:
        new = super().get_fantasy_strategy(*arguments, **kwargs)
        add_to_cache(new, "mean_cache", get_from_cache(new, "mean_cache"), settings.observation_nan_policy.value())
        return new


class Appended(DefaultPredictionStrategy):  # type: ignore[misc]
    """Conditions on further observations, and predicts, by the factor of K + σ² I alone. One output, one model."""

    name = "append"
    factor: Tensor | None = None

    def root(self) -> Tensor:
        """L (n, n)."""
        if self.factor is None:
            self.factor = to_dense(self.lik_train_train_covar.cholesky())
        return self.factor

    def get_fantasy_strategy(
        self, inputs: Any, targets: Tensor, full_inputs: Any, full_targets: Tensor, full_output: Any, **kwargs: Any
    ) -> Appended:
        n = self.num_train
        mean, covariance = full_output.mean, full_output.lazy_covariance_matrix
        likelihood = self.likelihood.get_fantasy_likelihood(**kwargs)
        prior = self.train_prior_dist.__class__
        corner = likelihood(prior(mean[..., n:], covariance[..., n:, n:]), inputs, **kwargs).covariance_matrix
        cross = to_dense(covariance[..., n:, :n]).mT
        appended = self.__class__(full_inputs, prior(mean, covariance), full_targets, likelihood)
        appended.factor = append(self.root(), cross, corner)
        # The weights of the mean.
        add_to_cache(appended, "mean_cache", solve(appended.factor, full_targets - mean), settings.observation_nan_policy.value())
        return appended

    def exact_predictive_covar(self, test_test_covar: Any, test_train_covar: Any) -> Any:
        root = self.root().detach() if settings.detach_test_caches.on() else self.root()
        half = torch.linalg.solve_triangular(root, to_dense(test_train_covar).mT, upper=False)
        return to_linear_operator(to_dense(test_test_covar) - half.mT @ half)


def made(strategy: type[DefaultPredictionStrategy], x: Tensor, y: Tensor) -> SingleTaskGP:
    """A model that predicts by `strategy`."""
    model = SingleTaskGP(x, y, outcome_transform=None).eval().requires_grad_(False)
    model.likelihood.noise = NOISE
    model.covar_module.lengthscale = 0.5
    model.covar_module.prediction_strategy = strategy  # what the kernel makes the model's strategy with
    model.posterior(x[:1])  # factors
    return model


def look_ahead(model: SingleTaskGP, x: Tensor, y: Tensor, points: Tensor) -> Tensor:
    """The gradient by x of the mean variance at the points, once y has been observed at x."""
    x = x.clone().requires_grad_()
    with settings.detach_test_caches(False), propagate_grads(True):
        variance = model.condition_on_observations(x, y).posterior(points).variance
    (gradient,) = torch.autograd.grad(variance.mean(), x)
    return gradient


def predicted(model: SingleTaskGP, points: Tensor) -> tuple[Tensor, Tensor]:
    posterior = model.posterior(points)
    return posterior.mean, posterior.variance


def in_sequence(model: Any, x: Tensor, y: Tensor, points: Tensor, times: list[float]) -> tuple[Tensor, Tensor]:
    """Mean and variance after some observations, one by one, each followed by a posterior."""
    for at in range(len(x)):
        start = time.perf_counter()
        model = model.condition_on_observations(x[at : at + 1], y[at : at + 1])
        found = predicted(model, points)
        times.append(1e3 * (time.perf_counter() - start))
    return found


def timed(times: list[float], call: Callable[..., Any], *arguments: Any) -> Any:
    start = time.perf_counter()
    found = call(*arguments)
    times.append(1e3 * (time.perf_counter() - start))
    return found


STRATEGIES = {"BoTorch": DefaultPredictionStrategy, Reread.name: Reread, Appended.name: Appended}


def compare(n: int, repeats: int) -> None:
    """A line for each strategy."""
    x = torch.rand(n + 10, DIMENSIONS, dtype=torch.float64)
    y = torch.sin(5.0 * x).sum(1, keepdim=True) + NOISE**0.5 * torch.randn(n + 10, 1, dtype=torch.float64)
    y = (y - y[:n].mean()) / y[:n].std()
    points = torch.rand(POINTS, DIMENSIONS, dtype=torch.float64)
    one = x[n : n + 1], y[n : n + 1]
    models = {name: made(strategy, x[:n], y[:n]) for name, strategy in STRATEGIES.items()}
    times: dict[str, list[list[float]]] = {name: [[], [], [], []] for name in models}
    found: dict[str, list[Tensor]] = {}
    for _ in range(repeats + 1):
        for name, model in models.items():
            condition, posterior, ahead, sequence = times[name]
            with torch.no_grad():
                new = timed(condition, model.condition_on_observations, *one)
                after_one = timed(posterior, predicted, new, points)
            gradient = timed(ahead, look_ahead, model, *one, points)
            with torch.no_grad():
                found[name] = [*after_one, gradient, *in_sequence(model, x[n:], y[n:], points, sequence)]
    # All solve with K + σ² I. Its condition is at most (n + 10) / σ² + 1, and times u what rounding does to each of the two.
    tolerance = 2.0 * ((n + 10) / NOISE + 1.0) * torch.finfo(torch.float64).eps / 2.0
    for name in models:
        apart = max(float((f - e).abs().max() / e.abs().max()) for f, e in zip(found[name], found["BoTorch"], strict=True))
        cells = " ".join(f"{statistics.median(each[1:]):>10.2f}" for each in times[name])
        print(f"{n:>5} {name:>16} {cells} {apart:>8.1e} {tolerance:>8.1e}", flush=True)
        assert apart <= tolerance


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few observations, for a test")
    quick = parser.parse_args().quick
    torch.set_num_threads(1)
    torch.manual_seed(20)
    print("one observation more, ms")
    print(
        f"{'n':>5} {'':>16} {'condition':>10} {'posterior':>10} {'look-ahead':>10} {'sequence':>10} {'apart':>8} {'allowed':>8}"
    )
    for n in (50,) if quick else (200, 500, 1000, 2000):
        compare(n, repeats=2 if quick else 7)


if __name__ == "__main__":
    main()
