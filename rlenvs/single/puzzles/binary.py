"""Linear equations over the numbers 0 and 1, where 1 + 1 = 0."""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import numpy as np


def _reduced(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """The matrix in reduced row echelon form, what its rows became made of, and the columns of its leading ones."""
    rows, columns = matrix.shape
    left, right = matrix.copy() & 1, np.eye(rows, dtype=np.uint8)
    leading: list[int] = []
    for column in range(columns):
        found = np.flatnonzero(left[len(leading) :, column])
        if not found.size:
            continue
        row, pivot = len(leading), len(leading) + int(found[0])
        left[[row, pivot]], right[[row, pivot]] = left[[pivot, row]], right[[pivot, row]]
        for other in np.flatnonzero(left[:, column]):
            if other != row:
                left[other] ^= left[row]
                right[other] ^= right[row]
        leading.append(column)
    return left, right, leading


def solving_matrix(matrix: np.ndarray) -> np.ndarray:
    """S with matrix @ S @ b = b (mod 2) for every b for which there is a solution, uint8."""
    _, right, leading = _reduced(matrix)
    found = np.zeros(matrix.T.shape, np.uint8)
    for row, column in enumerate(leading):
        found[column] = right[row]
    return found


def quiet_patterns(matrix: np.ndarray) -> np.ndarray:
    """All x with matrix @ x = 0 (mod 2), a row each, uint8; the first is 0."""
    return _quiet(matrix.tobytes(), matrix.shape)


@lru_cache(maxsize=32)
def _quiet(matrix: bytes, shape: tuple[int, int]) -> np.ndarray:
    left, _, leading = _reduced(np.frombuffer(matrix, np.uint8).reshape(shape))
    free = [column for column in range(shape[1]) if column not in leading]
    basis = np.zeros((len(free), shape[1]), np.uint8)
    for vector, column in zip(basis, free, strict=True):
        vector[column] = 1
        for row, lead in enumerate(leading):
            vector[lead] = left[row, column]
    patterns = [np.zeros(shape[1], np.uint8)]
    for chosen in list(product((0, 1), repeat=len(free)))[1:]:
        patterns.append(np.bitwise_xor.reduce(basis[np.flatnonzero(chosen)], axis=0))
    return np.array(patterns)
