"""Every process runs every test: the first one reports, and a failure of any ends all, which would wait for it."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from mpi4py import MPI


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    if MPI.COMM_WORLD.rank > 0:
        config.pluginmanager.unregister(name="terminalreporter")


def pytest_exception_interact(node: pytest.Item, call: pytest.CallInfo[Any]) -> None:
    if MPI.COMM_WORLD.size > 1 and call.excinfo is not None:
        print(f"process {MPI.COMM_WORLD.rank}, {node.name}: {call.excinfo.getrepr()}", file=sys.stderr, flush=True)
        MPI.COMM_WORLD.Abort(1)
