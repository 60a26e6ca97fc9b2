"""Loops over slots that threads share: the same numbers as in one thread."""

from typing import Any, NamedTuple

import numpy as np
import pytest

import rlenvs
from rlenvs.core.compiler import loops
from rlenvs.wrappers import (
    Actuator,
    BarrierFilter,
    ObservationAdversary,
    ParameterAdversary,
    SafeActions,
    Sensor,
    Wrapper,
    wrap,
)

ROWS = 2 * loops.FEWEST


class Settings(NamedTuple):
    scale: np.ndarray
    power: int
    factor: float
    negative: bool


@loops.compiled(nogil=True)
def combine(
    start: int, stop: int, slots: np.ndarray, numbers: np.ndarray, settings: Settings, pair: Any, out: np.ndarray
) -> None:
    for i in range(start, stop):
        if slots[i]:
            for j in range(out.shape[1]):
                value = settings.factor * settings.scale[j] * numbers[i, j] ** settings.power + pair[0][i] + pair[1]
                out[i, j] = -value if settings.negative else value


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("negative", [False, True])
def test_arguments_of_all_kinds_arrive(dtype: type, negative: bool) -> None:
    rng = np.random.default_rng(0)
    slots = rng.random(ROWS) < 0.5
    wide = rng.random((ROWS, 6)).astype(dtype)
    numbers = wide[:, ::2]  # strides are arguments too
    settings = Settings(rng.random(3), 2, 0.5, negative)
    pair = (np.arange(ROWS), 3.0)
    one, two = np.zeros((2, ROWS, 3))
    loops.share(combine, 1, ROWS, slots, numbers, settings, pair, one)
    loops.share(combine, 2, ROWS, slots, numbers, settings, pair, two)
    assert one.any()
    np.testing.assert_array_equal(one, two)


def test_arrays_are_given_back() -> None:
    """What a loop was called with is not kept, nor freed too often."""
    import sys

    slots, out = np.ones(ROWS, np.bool_), np.zeros((ROWS, 3))
    numbers = np.ones((ROWS, 3))
    settings = Settings(np.ones(3), 1, 1.0, False)
    before = sys.getrefcount(numbers), sys.getrefcount(settings.scale)
    for _ in range(20):
        loops.share(combine, 2, ROWS, slots, numbers, settings, (np.arange(ROWS), 0.0), out)
    assert (sys.getrefcount(numbers), sys.getrefcount(settings.scale)) == before


ALL_NOISE = {"walk": 0.01, "drift": 0.01, "drift_time": 1.0, "noise": 0.01, "outliers": 0.01, "outlier_size": 0.1}
STACKS: list[tuple[list[Wrapper], dict[str, Any]]] = [
    ([Sensor(delay=[1, 3], dropout=0.1, each=True, quantum=0.001, every=2, **ALL_NOISE)], {}),
    ([Sensor("position", noise=0.02, drift=0.01, drift_time=1.0, stuck=0.01), Sensor("velocity", noise=0.1)], {}),
    ([ObservationAdversary(eps=0.05, coupling=0.01, policy="walk"), Actuator(noise=0.1, delay=2)], {}),
    ([ObservationAdversary(eps=0.05, norm="l2", coupling=0.01), SafeActions(low=-0.5, high=0.5)], {}),
    ([BarrierFilter()], {"action": "velocity"}),
    ([ParameterAdversary({"mass": (0.025, 0.03)}, rate=0.05)], {}),
]


@pytest.mark.parametrize(("wrappers", "keywords"), STACKS)
def test_wrappers_do_the_same_in_two_threads(wrappers: list[Wrapper], keywords: dict[str, Any]) -> None:
    one, two = (
        wrap(rlenvs.make_vec("QuadHover-v0", ROWS, threads=threads, **keywords), *wrappers) for threads in (1, 2)
    )
    first, second = one.reset(seed=3), two.reset(seed=3)
    np.testing.assert_array_equal(first[0], second[0])
    rng = np.random.default_rng(0)
    for _ in range(30):
        actions = rng.uniform(-1.0, 1.0, one.action_space.shape).astype(np.float32)
        first, second = one.step(actions), two.step(actions)
        for a, b in zip(first[:4], second[:4], strict=True):
            np.testing.assert_array_equal(a, b)
        for key, value in first[4].items():
            np.testing.assert_array_equal(value, second[4][key], err_msg=key)
    assert first[2].any() or first[3].any() or keywords
