"""Linear equations for the data of worlds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlenvs.core.declare.algebra import inverse, solve


@given(n=st.integers(1, 12), columns=st.integers(1, 3), seed=st.integers(0, 2**32 - 1))
def test_solutions_fit_their_equations(n, columns, seed):
    generator = np.random.default_rng(seed)
    matrix, values = generator.normal(size=(n, n)), generator.normal(size=(n, columns))
    x = solve(matrix, values)
    size = np.abs(matrix).sum(axis=1).max() * np.abs(x).max()
    assert np.abs(matrix @ x - values).max() <= 1e-13 * (1.0 + size)


def test_rows_change_places_where_a_pivot_is_0():
    assert solve([[0.0, 2.0], [4.0, 0.0]], [[6.0], [8.0]]).tolist() == [[2.0], [3.0]]
    assert inverse([[0.0, 1.0, 0.0], [0.0, 0.0, 4.0], [2.0, 0.0, 0.0]]).tolist() == [
        [0.0, 0.0, 0.5],
        [1.0, 0.0, 0.0],
        [0.0, 0.25, 0.0],
    ]


def test_the_order_of_operations_is_the_sources():
    """Eliminated by hand, with the rounding of each step."""
    a, b, c, d = 0.1, 0.7, 0.3, 0.9  # the second row becomes the first
    factor = a / c
    y = (1.0 - factor * 2.0) / (b - factor * d)
    assert solve([[a, b], [c, d]], [[1.0], [2.0]]).tolist() == [[(2.0 - d * y) / c], [y]]


def test_the_given_arrays_stay_as_they_are():
    matrix, values = np.array([[0.0, 2.0], [4.0, 0.0]]), np.ones((2, 1))
    solve(matrix, values)
    assert matrix.tolist() == [[0.0, 2.0], [4.0, 0.0]]
    assert values.tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize(
    ("matrix", "values", "said"),
    [
        ([[1.0, 2.0], [2.0, 4.0]], [[1.0], [1.0]], "singular: column 1"),
        ([[0.0]], [[1.0]], "singular: column 0"),
        ([[float("nan")]], [[1.0]], "singular"),
        ([[1.0, 2.0]], [[1.0]], r"\(1, 2\)"),
        ([[1.0]], [1.0], r"\(1,\)"),
        ([[1.0]], [[1.0], [2.0]], r"\(2, 1\)"),
    ],
)
def test_what_has_no_solution_is_refused(matrix, values, said):
    with pytest.raises(ValueError, match=said):
        solve(matrix, values)
