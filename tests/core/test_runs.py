"""`combine_run`: eight numbers at once are those of the loop, to the bit, and nothing beside them is written."""

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

import rlenvs.core.compiler.intermediate  # noqa: F401  compiles `combine_run`
from rlenvs.core import combine_run
from rlenvs.core.declare.kernels import RUN


@njit
def compiled(out, first, a, u, b, v):
    combine_run(out, first, a, u, b, v)


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_runs_are_the_same_compiled_and_not(kind):
    rng = np.random.default_rng(0)
    for first in (0, 1, 5, 12):
        a, b = rng.normal(size=(2, 20)) * 10.0 ** rng.integers(-12, 12, (2, 20))
        u, v = rng.normal(size=2)
        plain, fast = np.full((2, 20), 7.0, kind)
        combine_run(plain, first, a, u, b, -v)
        compiled(fast, first, a, u, b, -v)
        assert plain.tobytes() == fast.tobytes()
        assert plain[first : first + RUN].tolist() == (a * u - b * v).astype(kind)[first : first + RUN].tolist()
        assert (np.delete(plain, np.arange(first, first + RUN)) == 7.0).all()


def test_rows_of_another_kind_are_refused():
    with pytest.raises(TypingError):
        compiled(np.zeros(20), 0, np.zeros(20, "f4"), 1.0, np.zeros(20), 1.0)
