"""What is decided about a call on a GPU before it is made."""

from __future__ import annotations

# The largest order of matrices of which several are modified side by side.
MOST_SIDE_BY_SIDE = 256


def takes_rows(count: int, n: int) -> bool:
    """Whether so many matrices L (n × n) may be by rows as well as by columns: `StreamModification::takes_rows`."""
    return count != 1 and n <= MOST_SIDE_BY_SIDE


# The most columns of V of a call, and the most rows of a matrix that one block of threads has.
MOST_COLUMNS = 64
FEW_ROWS = 64


def by_call(count: int, n: int, k: int) -> bool:
    """Whether a derivative for so many matrices (n × n) and V (n × k) is by a call, in O(k n²), or else by dense formulas.

    A call passes from column to column, in a time that grows with n and k and little with the number of matrices. The formulas are
    matrix products, which fill a GPU only if they are large. The limits are where both take the same time on an NVIDIA H200, in float64;
    float32 differs little.
    """
    return k <= MOST_COLUMNS and (k <= n <= FEW_ROWS or count * n**1.5 >= 100_000 + 7_000 * k)
