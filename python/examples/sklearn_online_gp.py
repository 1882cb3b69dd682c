"""scikit-learn's Gaussian process learns further rows without a refit.

`GaussianProcessRegressor.fit` factors K + α I of all n rows, twice: for the likelihood and for the predictions. The subclass
`OnlineGaussianProcess` has a method `partial_fit`, which borders the factor by the r new rows: `Cholesky.append`, r n² operations
instead of n³/3. It replaces `fit` on all rows for each new batch, with fixed hyperparameters (`optimizer=None`). The rest,
including `predict` and `sample_y`, is scikit-learn's own code on the stored factor.

    pip install ./python "scikit-learn>=1.6"
    python python/examples/sklearn_online_gp.py [--quick]

The rows come 20 at a time. After every hundred the model is compared with a refit. For ranges of n the example prints the
medians of the time of a refit and of `partial_fit`, their ratio, and the error on rows that are never learned. Finally it prints
the differences of means, standard deviations and log marginal likelihoods of the two, and checks that they are equal up to
rounding. Both use one thread.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.datasets import make_friedman1
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

import cholupdate as cu

NOISE = 1.0


class OnlineGaussianProcess(GaussianProcessRegressor):  # type: ignore[misc]
    """A Gaussian process that learns further rows with fixed hyperparameters."""

    X_train_: np.ndarray
    _factor: cu.Cholesky
    _lower: np.ndarray | None

    @property
    def L_(self) -> np.ndarray:
        """The factor for scikit-learn's methods: a copy, made on first use."""
        if self._lower is None:
            self._lower = self._factor.factor()
        return self._lower

    @L_.setter
    def L_(self, lower: np.ndarray) -> None:
        self._factor = cu.Cholesky.from_factor(lower, threads=1)
        self._lower = lower

    def fit(self, X: ArrayLike, y: ArrayLike) -> OnlineGaussianProcess:
        super().fit(X, y)
        self._targets = np.array(y, dtype=np.float64)
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> OnlineGaussianProcess:
        """Learns the rows X with the targets y. If it raises, nothing is learned."""
        check_is_fitted(self)
        if np.iterable(self.alpha):
            raise ValueError("partial_fit takes a single alpha for all rows")
        X, y = validate_data(self, X, y, multi_output=True, y_numeric=True, reset=False)

        cross = self.kernel_(self.X_train_, X)  # (n, r)
        corner = self.kernel_(X)  # (r, r)
        corner[np.diag_indices_from(corner)] += self.alpha
        self._factor.append(cross, corner)
        self._lower = None

        self.X_train_ = np.concatenate([self.X_train_, X])
        self._targets = np.concatenate([self._targets, y])
        if self.normalize_y:
            self._y_train_mean = self._targets.mean(axis=0)
            self._y_train_std = self._targets.std(axis=0)
        self.y_train_ = (self._targets - self._y_train_mean) / self._y_train_std
        self.alpha_ = self._factor.solve(self.y_train_)

        n, targets = self.y_train_.shape[0], self.y_train_.size // self.y_train_.shape[0]
        fit = np.sum(self.y_train_ * self.alpha_)
        constant = self._factor.log_det() + n * np.log(2.0 * np.pi)
        self.log_marginal_likelihood_value_ = -0.5 * (fit + targets * constant)
        return self


def timed(call: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """Seconds, and the result of the call."""
    start = time.perf_counter()
    made = call(*arguments)
    return time.perf_counter() - start, made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few rows, for a test")
    quick = parser.parse_args().quick
    first, last, batch, every, bands = (100, 200, 10, 20, 1) if quick else (500, 2500, 20, 100, 4)

    X, y = make_friedman1(n_samples=last + 500, n_features=10, noise=NOISE, random_state=20)
    held_back = slice(last, None)
    settings = {
        "kernel": ConstantKernel(25.0) * RBF(length_scale=np.full(10, 1.5)),
        "alpha": NOISE**2 / np.var(y[:first]),
        "optimizer": None,
        "normalize_y": True,
    }

    threadpool_limits(1)
    online = OnlineGaussianProcess(**settings).fit(X[:first], y[:first])
    steps = []
    for n in range(first + batch, last + 1, batch):
        new = slice(n - batch, n)
        after, _ = timed(online.partial_fit, X[new], y[new])
        if n % every:
            continue
        before, refit = timed(GaussianProcessRegressor(**settings).fit, X[:n], y[:n])
        mean, std = online.predict(X[held_back], return_std=True)
        mean_refit, std_refit = refit.predict(X[held_back], return_std=True)
        likelihood = refit.log_marginal_likelihood_value_
        apart = max(
            np.abs(mean - mean_refit).max() / np.abs(mean_refit).max(),
            np.abs(std - std_refit).max() / std_refit.max(),
            abs(online.log_marginal_likelihood_value_ / likelihood - 1.0),
        )
        steps.append((n, before, after, np.sqrt(np.mean((mean - y[held_back]) ** 2)), apart))

    print(f"scikit-learn's GaussianProcessRegressor, {batch} further rows at a time; medians")
    print(f"{'rows':>11} {'refit ms':>10} {'append ms':>10} {'ratio':>6} {'RMSE':>6}")
    for band in np.array_split(np.array(steps), bands):
        n, before, after, rmse, _ = band.T
        before, after = np.median(before), np.median(after)
        rows = f"{n[0]:.0f}-{n[-1]:.0f}"
        print(f"{rows:>11} {before * 1e3:>10.2f} {after * 1e3:>10.2f} {before / after:>6.1f} {rmse[-1]:>6.3f}")

    apart = max(step[4] for step in steps)
    # Both solve with a matrix of condition κ, and differ by about κ u; κ is at most trace(K + α I) / α.
    condition = (last * settings["kernel"](X[:1])[0, 0]) / settings["alpha"] + 1.0
    tolerance = condition * np.finfo(np.float64).eps / 2.0
    print(f"means, deviations and likelihoods differ by at most {apart:.1e}, relative; allowed is {tolerance:.1e}")
    assert apart <= tolerance


if __name__ == "__main__":
    main()
