"""Shared by the tests: the fake CUDA driver, if there is one."""

import os
from collections.abc import Iterator

import pytest

from fake_cuda import Driver, find


@pytest.fixture(scope="session")
def loaded_driver() -> Driver | None:
    return find()


@pytest.fixture
def driver(loaded_driver: Driver | None) -> Iterator[Driver]:
    """A CUDA driver that runs on the CPU, with its default settings."""
    if loaded_driver is None:
        if os.environ.get("CHOLUPDATE_REQUIRE_FAKE_CUDA") == "1":
            pytest.fail("CHOLUPDATE_REQUIRE_FAKE_CUDA is set, but CHOLUPDATE_FAKE_CUDA is not")
        pytest.skip("CHOLUPDATE_FAKE_CUDA does not name the directory of the fake driver")
    loaded_driver.reset()
    yield loaded_driver
    loaded_driver.reset()
