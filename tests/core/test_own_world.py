"""What somebody meets who declares a world for the first time and guesses wrong."""

import gymnasium
import pytest

from rlenvs.core import block, discrete, f8, i8, term, world
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.check import check_env
from rlenvs.core.declare.errors import ParameterError

RIGHT = {
    "doc": "A lift that is called to five floors.",
    "state": {"calls": i8(5), "floor": i8},
    "observation": {"calls": block(5, low=0.0, high=1.0), "floor": block(low=0.0, high=4.0)},
    "action": discrete("down", "stay", "up", idle=1),
    "terms": {"waiting": term(-5.0, 0.0)},
    "horizon": 20,
}
GUESSES = {
    "observation: a tuple": ({"observation": {"x": (0, 9)}}, "block"),
    "observation: a space": ({"observation": {"x": gymnasium.spaces.Discrete(3)}}, "block"),
    "observation: a block alone": ({"observation": block(3, low=0.0, high=1.0)}, "must be a dictionary"),
    "state: a shape": ({"state": {"calls": (5,)}}, r"f8\(2\)"),
    "state: a number": ({"state": {"calls": 5}}, r"f8\(2\)"),
    "state: a type": ({"state": {"calls": float}}, r"f8\(2\)"),
    "state: names alone": ({"state": ["calls"]}, "must be a dictionary"),
    "params: a number": ({"params": {"speed": 2.0}}, "param"),
    "options: a truth value": ({"options": {"fast": True}}, "choice"),
    "terms: a weight": ({"terms": {"waiting": 1.0}}, "term"),
    "costs: a number": ({"costs": {"crash": 1.0}}, "cost"),
    "images: a shape": ({"images": {"camera": (64, 64, 3)}}, "image"),
    "levels: names alone": ({"levels": ["easy"]}, "easy"),
    "action: a number": ({"action": 3}, "discrete"),
    "action: a space": ({"action": gymnasium.spaces.Discrete(3)}, "discrete"),
    "horizon: a fraction": ({"horizon": 1.5}, "integer"),
    "horizon: nothing": ({"horizon": None}, "integer"),
}


def lift(floors=5, **changes):
    """A world whose `observe` writes so many floors."""
    spec = world("Lift-v0", **{**RIGHT, **changes})

    @spec.reset
    def reset(p, s, rng):
        s.calls[:] = 0
        s.calls[2] = 1

    @spec.step
    def step(p, s, a, rng, r):
        s.floor = min(max(s.floor + a - 1, 0), 4)
        s.calls[s.floor] = 0
        r.waiting = -float(s.calls.sum())

    @spec.observe
    def observe(p, s, o):
        for i in range(floors):
            o.calls[i] = s.calls[i % 5]
        o.floor = s.floor

    return spec


def test_arrays_in_the_state():
    batch = KernelBatch(lift(), 2, backend="python")
    batch.seed(0)
    batch.reset()
    assert batch.states["calls"].tolist() == [[0, 0, 1, 0, 0]] * 2
    batch.step([[2], [2]])
    batch.step([[2], [1]])
    assert batch.rewards.tolist() == [[0.0], [-1.0]]


@pytest.mark.parametrize("guess", GUESSES)
def test_wrong_guesses_are_told_what_is_needed(guess):
    changes, said = GUESSES[guess]
    with pytest.raises(ParameterError, match=said):
        world("Lift-v0", **{**RIGHT, **changes})


def test_a_whole_array_is_refused_in_plain_python_too():
    spec = lift()

    @spec.observe
    def observe(p, s, o):
        o.calls = s.calls

    batch = KernelBatch(spec, 1, backend="python")
    batch.seed(0)
    with pytest.raises(TypeError, match=r"calls\[:\] ="):
        batch.reset()


def test_check_says_where_an_index_is_out_of_bounds():
    report = str(check_env(lift(floors=6), only=[20], backend="python"))
    assert "index 5 is out of bounds" in report
    assert "test_own_world.py" in report
    assert "o.calls[i] = s.calls[i % 5]" in report
    assert "does not look at indices" in report


def test_numbers_of_kinds_are_no_arrays():
    assert world("Lift-v0", **{**RIGHT, "state": {"calls": f8(5), "floor": i8}}).state["floor"].shape == ()
