"""Linear equations for the data of worlds, with the same bits on every processor.

NumPy's own solver adds in an order that its library picks by processor. Here the order is the source's; what is left to
NumPy are sums, products and quotients number by number, which have one result.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def solve(matrix: Any, values: Any) -> np.ndarray:
    """x with matrix @ x = values, by elimination with the largest pivot of each column.

    Args:
        matrix: (n, n), finite.
        values: (n, m), finite.

    Returns:
        (n, m).

    Raises:
        ValueError: shapes that do not fit, or a matrix that has no inverse.
    """
    a, x = np.array(matrix, float), np.array(values, float)
    n = len(a)
    if a.shape != (n, n) or x.shape != (n, *x.shape[1:]) or x.ndim != 2:
        raise ValueError(f"needed: a matrix (n, n) and values (n, m), not {a.shape} and {x.shape}")
    for column in range(n):
        pivot = column + int(np.argmax(np.abs(a[column:, column])))
        if not abs(a[pivot, column]) > 0.0:
            raise ValueError(f"the matrix is singular: column {column} depends linearly on those before it")
        for rows in (a, x):
            rows[[column, pivot]] = rows[[pivot, column]]
        factors = a[column + 1 :, column, None] / a[column, column]
        a[column + 1 :] -= factors * a[column]
        x[column + 1 :] -= factors * x[column]
    for row in range(n - 1, -1, -1):
        x[row] /= a[row, row]
        x[:row] -= a[:row, row, None] * x[row]
    return x


def inverse(matrix: Any) -> np.ndarray:
    """The inverse (n, n) of a matrix (n, n); raises as `solve` does."""
    return solve(matrix, np.eye(len(matrix)))
