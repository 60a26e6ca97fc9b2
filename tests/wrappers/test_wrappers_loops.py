"""Compiled loops of consecutive wrappers, which the single form calls together: they do what one call each does."""

from __future__ import annotations

import gc
from dataclasses import dataclass

import numpy as np
import pytest

import rlenvs
from rlenvs import wrappers as w
from rlenvs.core.check.playing import difference
from rlenvs.core.compiler.loops import bound, chained
from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers.masked import add_rows, clear_rows, count_rows, put_rows
from rlenvs.wrappers.wrapper import Wrapper

ONE = np.ones(1, np.bool_)


def test_calls_together_come_one_after_the_other():
    """And what they read and write stays alive as long as they."""
    out, counted = np.ones((1, 2)), np.zeros(1, np.int64)
    clear, count = bound([(clear_rows, out, ONE)]), bound([(count_rows, counted, ONE)])
    call = chained([clear, bound([(add_rows, out, np.full((1, 2), 3.0), ONE)]), count, count])
    none = bound([])
    gc.collect()
    call()
    none()
    np.testing.assert_array_equal(out, [[3.0, 3.0]])
    chained([call, call, bound([(put_rows, out, np.full((1, 2), 5.0), ONE)])])()
    assert counted[0] == 6
    assert out[0, 1] == 5.0


@dataclass
class Halved(Wrapper):
    """Acts, looks and tells in Python, with new arrays each time."""

    def prepare(self) -> None:
        self.allocate("reward")
        self.halves = np.zeros(self.count)

    def act(self, actions: np.ndarray, slots: np.ndarray) -> np.ndarray:
        return 0.5 * actions

    def after_step(self, slots: np.ndarray) -> None:
        self.reward[slots] = 0.5 * self.below.reward[slots]
        self.halves = self.reward.copy()

    def extra_info(self) -> dict:
        return {"halves": self.halves} if self.time[0] % 2 else {}


LAG, NOISE = w.Actuator(lag=0.1), w.Actuator(noise=0.1)
ROUGH, LARGE = w.ActionCost(change=0.1), w.ActionCost(magnitude=0.1)
STACKS = {
    "loops": (NOISE, w.Sensor(noise=0.1), ROUGH, LAG, w.Saute(limit=5.0)),
    "between": (w.CostBudget(limit=9.0), Halved(), LARGE, NOISE, w.EpisodeStatistics()),
    "under repeats": (NOISE, w.CostBudget(limit=9.0), w.ActionRepeat(2), ROUGH),
    "passed on": (w.SafeActions(low=-0.3, high=0.3), ROUGH, w.Actuator(), w.ActionAdversary(eps=0.2)),
}


def played(env, steps=60):
    """What the single form returns, with loops called together or, where no slot is a sole one, each by itself."""
    rng, found = np.random.default_rng(0), []
    env.reset(seed=3)
    for _ in range(steps):
        found.append(env.step(rng.uniform(-0.4, 0.4, env.action_space.shape)))
        if found[-1][2] or found[-1][3]:
            found.append(env.reset())
    return found


@pytest.mark.parametrize("stack", STACKS.values(), ids=STACKS)
def test_together_and_one_by_one_are_the_same(stack):
    together, alone = (w.wrap(rlenvs.make("QuadHover-v0"), *stack) for _ in range(2))
    for wrapper in alone.wrappers:
        wrapper.one_slot = False
    assert not difference(played(together), played(alone))


def test_settings_that_change_while_it_runs_count_from_the_next_step_on():
    """Also under wrappers whose loops were called together with those of the one that changes."""
    stack = w.NormalizeRewards(shared=False), w.LinearScalarization([1.0, 0.1, 0.1]), w.AppendEpisodeReturn([500.0] * 3)
    one, two = w.wrap(rlenvs.make("QuadHover-v0"), *stack), w.wrap(rlenvs.make_vec("QuadHover-v0", 2), *stack)
    one.reset(seed=0)
    two.reset(seed=0)
    learned = []
    for k in range(12):
        for env in (one, two):
            env.wrappers[0].frozen = 4 <= k < 8
            if k == 6:
                env.wrappers[1].set_weights([0.0, 0.0, 1.0])
        reward = one.step(np.full(4, 0.01))[1]
        assert reward == two.step(np.full((2, 4), 0.01))[1][0]
        learned.append(one.wrappers[0].samples[0])
    assert learned[3] == learned[7] < learned[8]


def test_a_batch_that_was_restored_is_read_where_it_lies_now():
    env = w.wrap(rlenvs.make("QuadHover-v0"), w.ActionRepeat(2), w.CostBudget(limit=1e6))
    env.reset(seed=0)
    env.step(np.zeros(4))
    kept, state = env.unwrapped.batch.arrays(), env.get_state()
    first = env.step(np.full(4, 0.1))
    env.unwrapped.batch.restore(kept)
    env.set_state(state)
    assert not difference(first, env.step(np.full(4, 0.1)))


def test_parameters_that_loops_write_are_those_that_the_world_has():
    """And those that a rule binds to others go the long way, which looks at the rule."""
    ranges = {"mass": (0.025, 0.03), "gravity": (9.5, 10.1)}
    env = w.wrap(rlenvs.make("QuadHover-v0"), w.ParameterAdversary(ranges, rate=0.05))
    for seed in range(2):
        env.reset(seed=seed)
        for _ in range(3):
            told = env.step(np.zeros(4))[4]["parameters"]
            own = env.unwrapped.batch.get_params()
            assert told.tolist() == [own["mass"], own["gravity"]]
    inertia = w.wrap(rlenvs.make("QuadHover-v0"), w.ParameterAdversary({"inertia_x": (1.3e-5, 1.5e-5)}))
    inertia.reset(seed=0, options={"params": {"inertia_y": 1e-4, "inertia_z": 1e-4}})
    inertia.step(np.zeros(4))
    inertia.unwrapped.batch.param_rows["inertia_y"] = inertia.unwrapped.batch.param_rows["inertia_z"] = 1e-7
    with pytest.raises(ParameterError, match="inertia"):
        inertia.step(np.zeros(4))


@pytest.mark.parametrize(
    ("key", "wrapper"),
    [
        ("distance", w.ChebyshevScalarization([1.0, 0.1, 0.1], [500.0, 1.0, 1.0])),
        ("lexicographic", w.Lexicographic(["hover", "distance"], slack=1.0)),
    ],
)
def test_what_info_has_of_a_return_follows_a_snapshot(key, wrapper):
    env = w.wrap(rlenvs.make_vec("QuadHover-v0", 2), wrapper)
    env.reset(seed=0)
    env.step(np.zeros((2, 4)))
    state, before = env.top.get_state(1), env.top.read(key)[1].copy()
    env.step(np.full((2, 4), 0.3))
    assert (env.top.read(key)[1] != before).any()
    env.top.set_state(state, 1)
    np.testing.assert_array_equal(env.top.read(key)[1], before)


def test_shields_refuse_what_acts_by_loops_below():
    with pytest.raises(ParameterError, match="without Actuator"):
        w.wrap(rlenvs.make("QuadHover-v0"), w.Actuator(noise=0.1), w.Shield(lookahead=2))
