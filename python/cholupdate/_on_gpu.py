"""Which derivatives a GPU has by a call, in O(k n²), and which by dense formulas."""

from __future__ import annotations

# The most columns of V of a call, and the most rows of a matrix that one block of threads has.
MOST_COLUMNS = 64
FEW_ROWS = 64


def by_call(count: int, n: int, k: int) -> bool:
    """Whether a call is taken to be the faster one, for so many matrices (n × n) and V (n × k).

    A call passes from column to column, in a time that grows with n and k and little with the number of matrices. The formulas are
    matrix products, which fill a GPU only if they are large. The limits are where both take the same time on an NVIDIA H200, in float64.
    """
    return k <= MOST_COLUMNS and (k <= n <= FEW_ROWS or count * n**1.5 >= 100_000 + 7_000 * k)
