"""The examples of the docstrings, and that there are docstrings."""

from __future__ import annotations

import doctest
import importlib
from types import ModuleType

import pytest

import cholupdate
import cholupdate.scipy
from cholupdate import _cholupdate  # pyright: ignore[reportPrivateUsage]
from frameworks import required


@pytest.mark.parametrize(
    ("module", "least"), [(cholupdate, 50), (_cholupdate, 4), (cholupdate.scipy, 5)], ids=lambda of: str(of)
)
def test_examples(module: ModuleType, least: int) -> None:
    # A traceback in an example is matched by the exception's whole name.
    failed, tried = doctest.testmod(module)
    assert failed == 0 and tried >= least


@pytest.mark.parametrize("name", ["jax", "torch"])
def test_examples_of_frameworks(name: str) -> None:
    required(name)
    failed, tried = doctest.testmod(importlib.import_module(f"cholupdate.{name}"))
    assert failed == 0 and tried >= 5


def test_everything_public_is_described() -> None:
    for name in cholupdate.__all__:
        assert getattr(cholupdate, name).__doc__, name
    classes = (
        cholupdate.BatchOutcome,
        cholupdate.BatchStatus,
        cholupdate.Cholesky,
        cholupdate.CholeskyBatch,
        cholupdate.Extension,
        cholupdate.Ldlt,
        cholupdate.LdltExtension,
        cholupdate.LdltModification,
        cholupdate.Modification,
        cholupdate.DeviceArray,
    )
    for of in classes:
        for method in (key for key in dir(of) if not key.startswith("_")):
            assert getattr(of, method).__doc__, f"{of.__name__}.{method}"
