"""The blocks of docs/python.md run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cholupdate as cu

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
# A block of Python, with the words after `python`, and its first line.
BLOCK = re.compile(r"^```python([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[int, bool, str]]:
    """Of each block: the number of lines before it, whether it is for a GPU, and its code."""
    if not PAGE.exists():
        return []
    page = PAGE.read_text(encoding="utf-8")
    found = BLOCK.finditer(page)
    return [(page.count("\n", 0, each.start(2)), "gpu" in each[1].split(), each[2]) for each in found]


def has_gpu() -> bool:
    try:
        import torch
    except ImportError:
        return False
    if not torch.cuda.is_available():
        return False
    try:
        cu.Cholesky([[1.0]], engine="cuda")
    except cu.DeviceError:
        return False
    return True


def test_there_are_blocks() -> None:
    if not PAGE.exists():
        pytest.skip("docs/python.md is not in a source distribution")
    assert len(blocks()) > 10


@pytest.mark.parametrize(("line", "gpu", "code"), [pytest.param(*each, id=f"line{each[0] + 1}") for each in blocks()])
def test_block(line: int, gpu: bool, code: str) -> None:
    for module in re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE):
        if module not in ("torch", "cholupdate"):
            pytest.importorskip(module)
    if gpu and not has_gpu():
        pytest.skip("needs PyTorch and a GPU")
    # Preceded by empty lines, so that errors name the lines of the page.
    exec(compile("\n" * line + code, str(PAGE), "exec"), {"__name__": "cookbook"})  # noqa: S102 (the page is ours)
