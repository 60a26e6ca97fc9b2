"""Budgets, prices and floors: every equation on an environment whose rewards and costs are written down."""

from __future__ import annotations

import copy
import math
import pickle
import sys
import types
from abc import ABC, abstractmethod

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st
from support.wrapper_helpers import assert_conforms, assert_forms_agree

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.integrations.safety import OmniSafeEnv, SixTuple, omnisafe_env
from rlenvs.wrappers.costs import CostBudget, Lagrangian, Saute, Simmer
from rlenvs.wrappers.floors import ConservativeExploration
from rlenvs.wrappers.forms import wrap
from rlenvs.wrappers.recipes import wrapper_from
from rlenvs.wrappers.shields import Shield


class Script(gymnasium.Env):
    """Pays and charges what it is told to, step by step; ends when there is no more. The action is added to the reward.

    The observation is the time.
    """

    observation_space = spaces.Box(0.0, 1000.0, (1,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(self, rewards=(), costs=(), horizon=None):
        self.rewards, self.costs = rewards, costs
        self.spec = EnvSpec("Script-v0", max_episode_steps=horizon)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.now = 0
        return np.zeros(1, np.float32), {"cost": 0.0}

    def step(self, action):
        t = self.now
        self.now += 1
        reward = (self.rewards[t] if t < len(self.rewards) else 0.0) + action
        seen = np.array([self.now], np.float32)
        return seen, reward, self.now == len(self.costs), False, {"cost": self.costs[t]}


# hazards so dense that random actions pay for them soon, some already where they begin
BUSY = {"hazards": 20, "extent": 0.8, "hazard_radius": 0.4, "horizon": 25}


def play(env, actions=None, **reset):
    """One episode: the lists of observations, rewards, ends and infos after each step."""
    env.reset(**reset)
    log, done = [], False
    while not done:
        action = 0 if actions is None else actions[len(log)]
        seen, reward, terminated, truncated, info = env.step(action)
        done = terminated or truncated
        log.append((seen, reward, terminated, info))
    return [list(column) for column in zip(*log, strict=True)]


def infos(log, key):
    return [info[key] for info in log[3]]


# --- budget -----------------------------------------------------------------------------------------------------------


def test_a_budget_ends_the_episode_when_it_is_exceeded_and_not_before():
    log = play(wrap(Script(costs=[1.0, 0.0, 1.0, 0.5, 1.0]), CostBudget(limit=2.0)))
    assert log[2] == [False, False, False, True]
    assert infos(log, "cost_sum") == [1.0, 1.0, 2.0, 2.5]
    assert infos(log, "cost_left") == [1.0, 1.0, 0.0, -0.5]
    assert infos(log, "over_budget") == [False, False, False, True]


def test_a_budget_can_only_flag():
    log = play(wrap(Script(costs=[1.0, 2.0, 0.0]), CostBudget(limit=2.0, end=False)))
    assert infos(log, "over_budget") == [False, True, True]
    assert log[2] == [False, False, True]


def test_every_episode_has_the_whole_budget():
    env = wrap(Script(costs=[1.0, 1.0]), CostBudget(limit=5.0))
    for _ in range(2):
        log = play(env)
        assert infos(log, "cost_left") == [4.0, 3.0]
    assert env.reset()[1]["cost_sum"] == 0.0


def test_the_default_limit_is_the_worlds():
    env = wrap(rlenvs.make("SafePointGoal-v0"), CostBudget())
    assert env.reset(seed=0)[1]["cost_left"] == 25.0
    env = wrap(rlenvs.make("QuadObstacles-v0"), CostBudget(cost="cost_proximity"))
    assert env.reset(seed=0)[1]["cost_left_proximity"] == 10.0
    env = wrap(Script(costs=[0.0]), CostBudget())
    assert env.reset()[1]["cost_left"] == 25.0


def test_budgets_of_several_costs_stand_side_by_side():
    wrappers = CostBudget(cost="cost_tilt", limit=3.0), CostBudget(cost="cost_geofence", limit=4.0)
    info = wrap(rlenvs.make("QuadHover-v0"), *wrappers).reset(seed=0)[1]
    assert (info["cost_left_tilt"], info["cost_left_geofence"]) == (3.0, 4.0)


def test_an_agent_without_budget_leaves_its_team():
    env = wrap(rlenvs.parallel_env("QuadMultiHover-v0"), CostBudget(limit=3.0))
    env.reset(seed=3)
    tilted = np.array([0.3, -0.3, -0.3, 0.3], np.float32)
    idle = np.zeros(4, np.float32)
    for _ in range(20):
        acting = list(env.agents)
        given = {agent: tilted if agent == env.possible_agents[0] else idle for agent in acting}
        _, _, ends, _, told = env.step(given)
        for agent in acting:
            assert ends[agent] == told[agent]["over_budget"] == (told[agent]["cost_sum"] > 3.0)
        if ends.get(env.possible_agents[0]):
            break
    assert env.agents == env.possible_agents[1:]


# --- Lagrangian -------------------------------------------------------------------------------------------------------


def test_the_reward_pays_for_the_cost_at_the_price_of_the_multiplier():
    log = play(wrap(Script([1.0, 2.0], [0.5, 3.0]), Lagrangian(limit=10.0, initial=2.0)))
    assert log[1] == [(1.0 - 2.0 * 0.5) / 3.0, (2.0 - 2.0 * 3.0) / 3.0]
    assert infos(log, "raw_reward") == [1.0, 2.0]


def test_the_multiplier_follows_the_cost_of_episodes_and_stays_positive():
    env = wrap(Script(costs=[3.0, 4.0]), Lagrangian(limit=5.0, rate=0.1, initial=1.0))
    assert infos(play(env), "multiplier") == [1.0, 1.0 + 0.1 * (7.0 - 5.0)]
    assert infos(play(env), "multiplier") == [1.2, pytest.approx(1.4, abs=1e-15)]
    env = wrap(Script(costs=[0.0]), Lagrangian(limit=30.0, rate=0.1, initial=1.0))
    assert infos(play(env), "multiplier") == [0.0]


def test_softplus_moves_the_parameter_behind_the_multiplier():
    wrapper = Lagrangian(limit=5.0, rate=0.1, initial=1.0, parametrization="softplus")
    log = play(wrap(Script(costs=[3.0, 4.0]), wrapper))
    first = math.log(math.exp(1.0) - 1.0)
    assert infos(log, "multiplier") == pytest.approx([1.0, math.log(1.0 + math.exp(first + 0.2))], abs=1e-14)


def test_the_published_settings_are_the_defaults():
    wrapper = Lagrangian()
    assert (wrapper.rate, wrapper.initial, wrapper.parametrization) == (0.05, 1.0, "clip")
    log = play(wrap(Script(costs=[65.0]), wrapper))
    assert infos(log, "multiplier") == [pytest.approx(1.0 + 0.05 * (65.0 - 25.0))]


def test_episodes_that_are_broken_off_count_and_a_seed_begins_anew():
    env = wrap(Script(costs=[3.0, 4.0]), Lagrangian(limit=1.0, rate=0.5, initial=1.0))
    env.reset(seed=1)
    env.step(0)
    assert env.reset()[1]["multiplier"] == 1.0 + 0.5 * (3.0 - 1.0)
    assert env.reset()[1]["multiplier"] == 2.0  # nothing was played
    env.step(0)
    assert env.reset(seed=1)[1]["multiplier"] == 1.0


def test_a_shared_multiplier_learns_from_the_mean_and_own_ones_by_themselves():
    for shared in (True, False):
        wrapper = Lagrangian(limit=0.0, rate=0.1, initial=0.0, shared=shared)
        env = wrap(rlenvs.make_vec("SafePointGoal-v0", 3, **BUSY), wrapper)
        env.reset(seed=5)
        rng = np.random.default_rng(0)
        for _ in range(25):
            *_, info = env.step(rng.uniform(-1, 1, (3, 2)))
        costs = info["cost_sum"]
        assert len(set(costs.tolist())) > 1
        wanted = np.full(3, 0.1 * costs.mean()) if shared else 0.1 * costs
        np.testing.assert_allclose(info["multiplier"], wanted, atol=1e-13)


def test_a_price_of_zero_changes_nothing():
    wrapper = Lagrangian(initial=0.0, rate=0.0, limit=25.0)
    bare, priced = (rlenvs.make_vec("QuadHover-v0", 4) for _ in range(2))
    priced = wrap(priced, wrapper)
    bare.reset(seed=0), priced.reset(seed=0)
    for _ in range(30):
        actions = bare.action_space.sample()
        ours, theirs = priced.step(actions), bare.step(actions)
        for k in range(4):
            assert np.array_equal(ours[k], theirs[k])


# --- Saute ------------------------------------------------------------------------------------------------------------


def test_the_safety_state_follows_its_equation():
    costs = [1.0, 0.0, 2.0, 3.0]
    env = wrap(Script([5.0] * 4, costs, horizon=8), Saute(limit=2.0, discount=0.9, unsafe_reward=-7.0))
    z, states = 1.0, []
    for cost in costs:
        z = (z - cost / 2.0) / 0.9
        states.append(z)
    log = play(env)
    assert infos(log, "safety_state") == pytest.approx(states, abs=1e-14)
    assert log[1] == [5.0, 5.0, -7.0, -7.0]
    assert infos(log, "raw_reward") == [5.0] * 4
    assert env.observation_space.high[1] == np.float32(0.9**-8)
    for t, seen in enumerate(log[0]):
        assert seen.tolist() == [t + 1.0, np.float32(max(states[t], -1.0))]
        assert seen in env.observation_space


def test_a_budget_that_is_used_up_to_the_last_unit_is_unsafe():
    log = play(wrap(Script([5.0] * 25, [1.0] * 25), Saute(limit=25.0)))
    assert infos(log, "safety_state")[-1] == 0.0
    assert log[1] == [5.0] * 24 + [-1.0]


def test_the_safety_state_is_a_part_of_dictionaries():
    env = wrap(rlenvs.make("PandaPegInsertion-v0", form="goal"), Saute(limit=5.0))
    seen, _ = env.reset(seed=0)
    assert seen["safety_state"].tolist() == [1.0]
    assert seen in env.observation_space
    assert env.step(env.action_space.sample())[0] in env.observation_space


def test_a_schedule_of_budgets_by_episodes():
    wrapper = Simmer(limit=10.0, schedule=[[1, 2.0], [3, 6.0]])
    env = wrap(Script([1.0] * 5, [1.0] * 5), wrapper)
    budgets = [env.reset(seed=0)[1]["budget"]] + [env.reset()[1]["budget"] for _ in range(5)]
    assert budgets == [2.0, 2.0, 4.0, 6.0, 6.0, 6.0]
    env.reset(seed=0)
    assert infos(play(env, seed=0), "safety_state") == pytest.approx([0.1, 0.0, -0.1, -0.2, -0.3])
    assert play(env, seed=0)[1] == [1.0, -1.0, -1.0, -1.0, -1.0]


def test_a_schedule_of_budgets_by_steps():
    env = wrap(Script(costs=[1.0] * 5), Simmer(limit=10.0, unit="steps", schedule=[[0, 1.0], [10, 6.0]]))
    budgets = [infos(play(env), "budget")[0] for _ in range(4)]
    assert budgets == [1.0, 3.5, 6.0, 6.0]


# --- floor ------------------------------------------------------------------------------------------------------------


def one(stage, actions, slots):
    return np.ones_like(actions)


def steps_left(stage, slots):
    """What action 1 will pay in a script of ten steps that pays nothing."""
    return 10.0 - stage.observation[:, 0].astype(np.float64)


@pytest.mark.parametrize("until", ["end", "step"])
def test_the_floor_is_reached_exactly_where_the_value_is(until):
    wrapper = ConservativeExploration(baseline=steps_left, alpha=0.25, step_loss=1.0, fallback=one, until=until)
    log = play(wrap(Script(costs=[0.0] * 10), wrapper), [0] * 10)
    assert sum(log[1]) == 8.0  # the floor is 7.5, and steps lose 1
    assert infos(log, "intervened") == [False] * 2 + [True] * 8
    assert infos(log, "interventions") == [0, 0, *range(1, 9)]
    assert infos(log, "action")[2:] == [1] * 8
    assert infos(log, "raw_action") == [0] * 10
    assert infos(log, "floor_margin") == [1.5] + [0.5] * 9


def test_the_policy_comes_back_when_it_may():
    rewards = [0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    made = {}
    for until in ("end", "step"):
        wrapper = ConservativeExploration(baseline=steps_left, alpha=0.2, step_loss=1.0, fallback=one, until=until)
        made[until] = infos(play(wrap(Script(rewards, [0.0] * 10), wrapper), [0] * 10), "intervened")
    assert made["end"] == [False] * 2 + [True] * 8
    assert made["step"] == [False] * 2 + [True] * 2 + [False] * 3 + [True] * 3


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.integers(0, 1), min_size=10, max_size=10),
    st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]),
    st.sampled_from(["end", "step"]),
)
def test_no_policy_falls_below_the_floor(actions, alpha, until):
    wrapper = ConservativeExploration(baseline=steps_left, alpha=alpha, step_loss=1.0, fallback=one, until=until)
    log = play(wrap(Script(costs=[0.0] * 10), wrapper), actions)
    assert sum(log[1]) >= 10.0 * (1.0 - alpha)
    assert infos(log, "floor_margin")[-1] == pytest.approx(sum(log[1]) - 10.0 * (1.0 - alpha))


def test_a_number_is_spread_over_the_horizon_and_may_be_negative():
    env = wrap(rlenvs.make("QuadHover-v0", horizon=20), ConservativeExploration(baseline=-8.0, alpha=0.5))
    assert env.reset(seed=0)[1]["floor_margin"] == 4.0
    _, reward, _, _, info = env.step(np.zeros(4, np.float32))
    assert info["floor_margin"] == pytest.approx(reward - 8.0 * 19 / 20 + 12.0)


# --- all forms --------------------------------------------------------------------------------------------------------

WRAPPERS = {
    "budget": CostBudget(limit=1.0),
    "price": Lagrangian(limit=1.0),
    "softplus": Lagrangian(limit=1.0, parametrization="softplus"),
    "saute": Saute(limit=2.0, discount=0.999),
    "simmer": Simmer(limit=5.0, schedule=[[0, 1.0], [3, 5.0]]),
    "floor": ConservativeExploration(baseline=22.0),
}


@pytest.mark.parametrize("name", WRAPPERS)
def test_forms_agree(name):
    assert_forms_agree("SafePointGoal-v0", WRAPPERS[name], steps=60, **BUSY)


@pytest.mark.parametrize("name", ["budget", "price", "simmer", "floor"])
def test_conformance(name):
    assert_conforms("SafePointGoal-v0", WRAPPERS[name])


@pytest.mark.slow
def test_conformance_with_many_agents_and_with_physics_engines():
    assert_conforms("ParticleSpread-v0", CostBudget(limit=2.0), Lagrangian(limit=1.0))
    assert_conforms("QuadMultiHover-v0", Saute(limit=2.0))
    assert_conforms("HalfCheetah-v0", CostBudget(limit=2.0), Saute(limit=3.0))


@pytest.mark.parametrize("name", WRAPPERS)
def test_the_parallel_form_of_one_agent_agrees(name):
    wrapper = WRAPPERS[name]
    single = wrap(rlenvs.make("SafePointGoal-v0", **BUSY), wrapper)
    parallel = wrap(rlenvs.parallel_env("SafePointGoal-v0", **BUSY), wrapper)
    (agent,) = parallel.possible_agents
    seen, told = parallel.reset(seed=4)
    log = [(seen[agent], told[agent])]
    same = [single.reset(seed=4)]
    single.action_space.seed(0)
    while parallel.agents and len(log) < 20:
        action = single.action_space.sample()
        log.append([part[agent] for part in parallel.step({agent: action})])
        same.append(single.step(action))
    for ours, theirs in zip(log, same, strict=True):
        assert list(ours[-1]) == list(theirs[-1])
        for one, other in zip([*ours[:-1], *ours[-1].values()], [*theirs[:-1], *theirs[-1].values()], strict=True):
            assert np.array_equal(one, other)


@pytest.mark.parametrize("name", WRAPPERS)
def test_copies_and_snapshots_go_on_alike(name):
    env = wrap(rlenvs.make_vec("SafePointGoal-v0", 3, **BUSY), WRAPPERS[name])
    env.reset(seed=2)
    rng = np.random.default_rng(1)
    for _ in range(40):
        env.step(rng.uniform(-1, 1, (3, 2)))
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env)), env]
    state = env.get_state()
    actions = rng.uniform(-1, 1, (30, 3, 2))
    records = [record(twin, actions) for twin in twins]
    env.set_state(state)
    records.append(record(env, actions))
    for other in records[1:]:
        assert other == records[0]


def record(env, actions):
    log = [env.step(action) for action in actions]
    return [[part.tolist() for part in (*step[:4], *step[4].values())] for step in log]


@pytest.mark.parametrize("name", WRAPPERS)
def test_made_again_from_its_spec(name):
    env = wrap(rlenvs.make("SafePointGoal-v0"), WRAPPERS[name])
    again = gymnasium.make(env.spec)
    assert again.get_wrapper_attr("recipe") == env.recipe


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id", "wrapper", "message"),
    [
        ("SafePointGoal-v0", CostBudget(limit=-1.0), "limit=-1.0"),
        ("SafePointGoal-v0", CostBudget(limit=[1.0, 2.0]), "one number"),
        ("SafePointGoal-v0", CostBudget(cost="cost_hazard"), "cost_hazards"),
        ("DeepSeaTreasure-v0", CostBudget(), "no costs"),
        ("QuadObstacles-v0", CostBudget(), "limits"),
        ("QuadHover-v0", CostBudget(end="flag"), "end='flag'"),
        ("QuadHover-v0", Lagrangian(shared=1), "shared=1"),
        ("QuadHover-v0", Lagrangian(rate=-0.1), "rate"),
        ("QuadHover-v0", Lagrangian(rate=math.inf), "rate"),
        ("QuadHover-v0", Lagrangian(initial=-1.0), "initial"),
        ("QuadHover-v0", Lagrangian(initial=0.0, parametrization="softplus"), "initial"),
        ("QuadHover-v0", Lagrangian(parametrization="soft"), "softplus"),
        ("mo-QuadHover-v0", Lagrangian(), "vector"),
        ("QuadHover-v0", Saute(limit=0.0), "limit=0"),
        ("QuadHover-v0", Saute(discount=1.1), "discount"),
        ("QuadHover-v0", Saute(discount=0.5), "horizon"),
        ("QuadHover-v0", Saute(unsafe_reward=math.nan), "unsafe_reward"),
        ("QuadHover-v0", Simmer(), "schedule"),
        ("QuadHover-v0", Simmer(schedule=[[0, 1.0], [0, 2.0]]), "ascending"),
        ("QuadHover-v0", Simmer(schedule=[[0, 26.0]]), "schedule"),
        ("QuadHover-v0", Simmer(schedule=[[0, 1.0]], unit="days"), "unit"),
        ("QuadHover-v0", ConservativeExploration(), "baseline"),
        ("QuadHover-v0", ConservativeExploration(baseline=1.0, alpha=2.0), "alpha"),
        ("QuadHover-v0", ConservativeExploration(baseline=1.0, step_loss=-1.0), "step_loss"),
        ("QuadHover-v0", ConservativeExploration(baseline=1.0, until="never"), "until"),
        ("QuadHover-v0", ConservativeExploration(baseline=1.0, fallback="nobody"), "fallback"),
        ("mo-QuadHover-v0", ConservativeExploration(baseline=1.0), "vector"),
    ],
)
def test_what_cannot_be_is_refused_when_it_is_made(id, wrapper, message):
    with pytest.raises(ParameterError, match=message):
        wrap(rlenvs.make(id), wrapper)


def test_environments_that_say_nothing_about_costs_are_found_out():
    env = wrap(gymnasium.make("CartPole-v1"), CostBudget())
    env.reset(seed=0)
    with pytest.raises(ParameterError, match="cost='cost'"):
        env.step(0)
    with pytest.raises(ParameterError, match="expert"):
        wrap(gymnasium.make("CartPole-v1"), ConservativeExploration(baseline=1.0))
    with pytest.raises(ParameterError, match="needed: finite numbers"):
        wrap(Script(costs=[0.0]), ConservativeExploration(baseline=lambda stage, slots: 1.0, fallback="idle")).reset()


def test_a_floor_is_found_where_older_recipes_look_for_it():
    floor = ConservativeExploration(baseline=22.0)
    assert wrapper_from({**floor.recipe(), "wrapper": "rlenvs.wrappers.costs:ConservativeExploration"}) == floor


# --- six values -------------------------------------------------------------------------------------------------------


def test_six_values_of_a_single_environment():
    env = SixTuple(wrap(Script([1.0, 2.0], [0.5, 0.25]), Saute(limit=1.0)))
    assert env.reset(seed=0)[0] in env.observation_space
    assert [env.step(0)[1:5] for _ in range(2)] == [(1.0, 0.5, False, False), (2.0, 0.25, True, False)]
    assert pickle.loads(pickle.dumps(env)).cost == "cost"


@pytest.mark.parametrize("wrappers", [(), (CostBudget(limit=3.0),)])
def test_six_values_of_vector_environments_in_every_mode(wrappers):
    for mode in AutoresetMode:
        env = rlenvs.make_vec("SafePointGoal-v0", 4, **BUSY, autoreset_mode=mode)
        env = SixTuple(wrap(env, *wrappers) if wrappers else env)
        env.reset(seed=3)
        twins = [rlenvs.make("SafePointGoal-v0", **BUSY) for _ in range(4)]
        for i, twin in enumerate(twins):
            twin.reset(seed=3 + i)
        rng = np.random.default_rng(0)
        over = np.zeros(4, bool)
        total = 0.0
        for _ in range(25):
            actions = rng.uniform(-1, 1, (4, 2)).astype(np.float32)
            _, _, cost, terminated, truncated, _ = env.step(actions)
            for i in np.flatnonzero(~over):
                assert cost[i] == twins[i].step(actions[i])[4]["cost"]
                total += cost[i]
            over |= terminated | truncated
            if over.any():
                break
        assert total > 0.0


def test_six_dictionaries_of_parallel_environments():
    env = SixTuple(rlenvs.parallel_env("ParticleSpread-v0"))
    env.reset(seed=0)
    *_, costs, ends, _, infos = env.step(dict.fromkeys(env.agents, 0))
    assert costs == {agent: infos[agent]["cost"] for agent in ends}


def test_six_values_need_a_cost():
    with pytest.raises(ParameterError, match="no costs"):
        SixTuple(rlenvs.make("DeepSeaTreasure-v0"))
    env = SixTuple(gymnasium.make("CartPole-v1"))
    env.reset(seed=0)
    with pytest.raises(ParameterError, match="cost='cost'"):
        env.step(0)


class CMDP(ABC):
    """The interface that OmniSafe documents, as far as its adapters use it."""

    _num_envs: int

    @classmethod
    def support_envs(cls):
        return cls._support_envs

    @property
    def action_space(self):
        return self._action_space

    @property
    def observation_space(self):
        return self._observation_space

    @property
    def num_envs(self):
        return self._num_envs

    @abstractmethod
    def step(self, action): ...
    @abstractmethod
    def reset(self, seed=None, options=None): ...
    @abstractmethod
    def set_seed(self, seed): ...
    @abstractmethod
    def render(self): ...
    @abstractmethod
    def close(self): ...


class Register(dict):
    """As OmniSafe's: it refuses a name that it has."""

    def __call__(self, made):
        assert made.__name__ not in self
        return self.setdefault(made.__name__, made)

    def unregister(self, made):
        return self.pop(made.__name__)


@pytest.fixture
def register(monkeypatch):
    known = Register()
    core = types.ModuleType("omnisafe.envs.core")
    core.CMDP = CMDP
    core.env_register, core.env_unregister = known, known.unregister
    for name in ("omnisafe", "omnisafe.envs"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "omnisafe.envs.core", core)
    return known


def test_omnisafe_gets_one_environment_without_autoreset(register):
    torch = pytest.importorskip("torch")
    kind = omnisafe_env(["rlenvs/SafePointGoal-v0"])
    assert register == {"RlenvsEnv": kind}
    assert kind.support_envs() == ["rlenvs/SafePointGoal-v0"]
    env = kind("rlenvs/SafePointGoal-v0", hazards=20, wrappers=[Saute(limit=5.0)])
    assert (env.num_envs, env.need_auto_reset_wrapper, env.need_time_limit_wrapper) == (1, True, False)
    assert env.max_episode_steps == 1000
    env.set_seed(3)
    first, _ = env.reset(seed=3)
    assert first.shape == env.observation_space.shape == (61,)
    for _ in range(30):
        step = env.step(torch.zeros(2))
        assert [part.dtype for part in step[:5]] == [torch.float32] * 5
        assert step[2] == step[5]["cost"]
    env.close()


def test_further_calls_for_omnisafe_add_ids(register):
    omnisafe_env(["SafePointGoal-v0"])
    kind = omnisafe_env(["QuadObstacles-v0", "SafePointGoal-v0"])
    assert register == {"RlenvsEnv": kind}
    assert kind.support_envs() == ["SafePointGoal-v0", "QuadObstacles-v0"]


def test_omnisafe_gets_several_environments_with_their_last_observations(register):
    torch = pytest.importorskip("torch")
    env = omnisafe_env(["SafePointGoal-v0"])("SafePointGoal-v0", 3, horizon=5)
    assert env.need_auto_reset_wrapper is False
    env.reset(seed=0)
    for _ in range(4):
        assert "final_observation" not in env.step(torch.ones(3, 2))[5]
    seen, _, _, _, truncated, info = env.step(torch.ones(3, 2))
    assert truncated.tolist() == [1.0] * 3
    assert info["_final_observation"].all()
    assert info["final_observation"].shape == seen.shape == (3, 60)
    twin = rlenvs.make_vec("SafePointGoal-v0", 3, horizon=5)
    twin.reset(seed=0)
    for _ in range(5):
        last = twin.step(np.ones((3, 2), np.float32))[0]
    assert np.array_equal(info["final_observation"].numpy(), last)


def test_omnisafe_is_asked_for_by_name_and_gets_vectors_only(register):
    kind = omnisafe_env(["ParticleSpread-v0"])
    with pytest.raises(ParameterError, match="not among"):
        kind("SafePointGoal-v0")
    with pytest.raises(ParameterError, match="vectors of numbers"):
        kind("ParticleSpread-v0")
    assert issubclass(kind, OmniSafeEnv)


def test_without_omnisafe_there_is_one_line():
    if "omnisafe" not in sys.modules:
        with pytest.raises(ImportError, match="--no-deps"):
            omnisafe_env(["SafePointGoal-v0"])


def test_a_guarded_and_priced_stack_keeps_the_truth():
    env = wrap(rlenvs.make("SafePointGoal-v0"), Shield(fallback="idle"), Lagrangian(), Saute(limit=5.0))
    env.reset(seed=0)
    twin = rlenvs.make("SafePointGoal-v0")
    twin.reset(seed=0)
    action = env.action_space.sample()
    assert env.step(action)[4]["raw_reward"] == twin.step(action)[1]
