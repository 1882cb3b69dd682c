"""Types of JAX, for annotations."""

from __future__ import annotations

from typing import TypeAlias

import jax
from jax.typing import ArrayLike

Array: TypeAlias = jax.Array

__all__ = ["Array", "ArrayLike"]
