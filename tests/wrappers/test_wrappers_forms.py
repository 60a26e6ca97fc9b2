"""Wrappers on environments: what holds for every wrapper, tried with small ones made here."""

from __future__ import annotations

import copy
import gc
import json
import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from typing import NamedTuple

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test
from support.wrapper_helpers import assert_conforms, assert_forms_agree

import rlenvs
from rlenvs.core.check.playing import difference
from rlenvs.core.check.verdicts import compare
from rlenvs.core.compiler.loops import bound, compiled
from rlenvs.core.declare.errors import ActionError, EpisodeOverError, ParameterError, SnapshotError
from rlenvs.core.forms.render import RENDER_MODES
from rlenvs.wrappers.forms import WrappedEnv, wrap
from rlenvs.wrappers.slot_values import plain
from rlenvs.wrappers.wrapper import Wrapper


@dataclass
class Jitter(Wrapper):
    """Adds a number that follows from the episode's key and the time to vector observations."""

    size: float = 0.1

    def prepare(self) -> None:
        self.check_number("size", 0.0, 1.0)
        self.part = "observation" if isinstance(self.observation_space, spaces.Dict) else None
        space = self.observation_space["observation"] if self.part else self.observation_space
        self.allocate("vector", space.shape, np.float32)

    @property
    def observation(self):
        return {**self.below.observation, self.part: self.vector} if self.part else self.vector

    def begin_episode(self, slots: np.ndarray) -> None:
        self.after_step(slots)

    def after_step(self, slots: np.ndarray) -> None:
        seen = self.below.observation[self.part] if self.part else self.below.observation
        noise = ((self.key >> np.uint64(40)) + self.time.astype(np.uint64)) % np.uint64(97)
        added = (noise.astype(np.float64) / 97.0 * self.size)[slots]
        self.vector[slots] = np.clip(seen[slots] + added.reshape(-1, *[1] * (seen.ndim - 1)), -1.0, 1.0)

    def extra_info(self) -> dict:
        return {"true_obs": self.below.observation}


@dataclass
class Early(Wrapper):
    """Ends episodes after some steps, and pays 7 for the last."""

    steps: int = 5

    def prepare(self) -> None:
        self.check_whole("steps", 1)
        self.allocate("reward")
        self.allocate("terminated", dtype=np.bool_)

    def after_step(self, slots: np.ndarray) -> None:
        self.terminated[slots] = (self.below.terminated | (self.time >= self.steps))[slots]
        self.reward[slots] = np.where(self.terminated, 7.0, self.below.reward)[slots]

    def extra_info(self) -> dict:
        return {"clock": self.time}


@dataclass
class Twice(Wrapper):
    """Two steps per action, in the slots whose episode goes on."""

    def prepare(self) -> None:
        self.allocate("reward")

    def step(self, actions: np.ndarray, slots: np.ndarray) -> None:
        self.reward[slots] = 0.0
        going = slots.copy()
        for _ in range(2):
            self.below.step(actions, going)
            self.reward[going] += self.below.reward[going]
            going &= ~self.below.over
            if not going.any():
                break
        self.time += slots


STACK = (Twice(), Jitter(0.2), Early(4), Jitter(0.05))


@pytest.mark.parametrize("id", ["QuadHover-v0", "DeepSeaTreasure-v0", "ParticleSpread-v0", "QuadMultiHover-v0"])
def test_stacks_conform(id):
    wrappers = STACK if id != "DeepSeaTreasure-v0" else (Twice(), Early(4))
    assert_conforms(id, *wrappers)


@pytest.mark.parametrize("id", ["QuadHover-v0", "ParticleSpread-v0", "PandaReach-v0"])
def test_forms_agree(id):
    pytest.importorskip("mujoco")
    wrappers = STACK if id != "PandaReach-v0" else (Twice(), Early(4))
    assert_forms_agree(id, *wrappers)


def test_goal_form_and_images_keep_their_dictionaries():
    pytest.importorskip("mujoco")
    assert_forms_agree("PandaReach-v0", Jitter(0.1), form="goal")
    env = wrap(rlenvs.make("QuadHover-v0", camera="rgb", camera_width=8, camera_height=6), Early(3))
    seen, _ = env.reset(seed=0)
    assert env.observation_space.contains(seen)
    assert seen["rgb"].shape == (6, 8, 4)


def test_vector_rewards_stay_vectors():
    assert_forms_agree("mo-SafePointGoal-v0", Jitter(0.1))
    env = wrap(rlenvs.make("mo-SafePointGoal-v0"), Jitter(0.1))
    env.reset(seed=0)
    reward = env.step(env.action_space.sample())[1]
    assert env.reward_space.contains(reward)


def test_two_wrappers_of_a_kind_draw_different_numbers_and_the_seed_decides():
    env = wrap(rlenvs.make("QuadHover-v0"), Jitter(0.1), Jitter(0.1))
    env.reset(seed=1)
    first, second = (wrapper.key.copy() for wrapper in env.wrappers)
    assert first != second
    env.reset(seed=2)
    assert env.wrappers[0].key != first
    env.reset(seed=1)
    assert env.wrappers[0].key == first
    env.reset()
    assert env.wrappers[0].key != first


def test_wrapping_again_extends_the_stack():
    once = wrap(rlenvs.make("QuadHover-v0"), Jitter(0.1), Early(3))
    twice = wrap(wrap(rlenvs.make("QuadHover-v0"), Jitter(0.1)), Early(3))
    assert twice.recipe == once.recipe
    assert not isinstance(twice.env, WrappedEnv)
    assert not difference(list(once.reset(seed=3)), list(twice.reset(seed=3)))


def test_specs_make_the_same_environment_again():
    env = wrap(gymnasium.make("rlenvs/QuadHover-v0", mass=0.03), Jitter(0.1), Early(3))
    text = env.spec.to_json()
    assert "test_wrappers_forms:Jitter" in text
    for spec in (env.spec, EnvSpec.from_json(text)):
        other = gymnasium.make(spec)
        assert other.recipe == env.recipe
        assert not difference(list(env.reset(seed=3)), list(other.reset(seed=3)))
        action = np.full(4, 0.3, np.float32)
        assert not difference(list(env.step(action)), list(other.step(action)))


def test_recipes_are_plain_data_and_settings_are_copied():
    sizes = Jitter(0.1)
    env = wrap(rlenvs.make("QuadHover-v0"), sizes)
    sizes.size = 0.9
    assert env.wrappers[0].size == 0.1
    recipe = json.loads(json.dumps(env.recipe))
    vector = wrap(rlenvs.make_vec("QuadHover-v0", 2), *recipe)
    assert vector.recipe == env.recipe


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ({"wrapper": "test_wrappers_forms:Jitter", "sise": 0.1}, ["Jitter", "sise", "size"]),
        ({"wrapper": "test_wrappers_forms:Nowhere"}, ["Nowhere"]),
        ({"wrapper": "json:dumps"}, ["json:dumps"]),
        ({"size": 0.1}, ["wrapper"]),
        (Jitter(-0.1), ["Jitter", "size", "-0.1"]),
        (Jitter(float("nan")), ["size", "nan"]),
        (Jitter("much"), ["size", "much"]),
        (Early(True), ["steps", "True"]),
        (Early(0), ["steps", "0"]),
    ],
)
def test_impossible_wrappers_are_refused(recipe, words):
    with pytest.raises(ParameterError) as error:
        wrap(rlenvs.make("QuadHover-v0"), recipe)
    assert all(word in str(error.value) for word in words)


def test_what_cannot_be_wrapped_is_refused():
    with pytest.raises(ParameterError, match="no wrappers"):
        wrap(rlenvs.make("QuadHover-v0"))
    with pytest.raises(TypeError, match="SyncVectorEnv"):
        wrap(gymnasium.make_vec("CartPole-v1", 2, vectorization_mode="sync"), Early(3))
    with pytest.raises(TypeError, match="str"):
        wrap("QuadHover-v0", Early(3))


@pytest.mark.filterwarnings("ignore::UserWarning:gymnasium.utils.env_checker")  # of Gymnasium's own environments
def test_environments_of_other_packages():
    env = wrap(gymnasium.make("Pendulum-v1"), Early(4), Twice())
    check_env(env, skip_render_check=True)
    env.reset(seed=0)
    for _ in range(2):
        *_, terminated, truncated, info = env.step(np.zeros(1, np.float32))
    assert terminated
    assert not truncated
    assert info["clock"] == 4
    discrete = wrap(gymnasium.make("CartPole-v1"), Early(4))
    check_env(discrete, skip_render_check=True)
    with pytest.raises(ParameterError, match="CartPole"):
        discrete.top.set_params({"gravity": 9.0}, np.ones(1, np.bool_))


@pytest.mark.filterwarnings("ignore:.*reset ignores the options")
def test_parallel_form_passes_pettingzoos_test():
    for id in ("ParticleSpread-v0", "QuadMultiHover-v0", "ParticleTag-v0"):
        wrappers = (Twice(), Early(4)) if id == "ParticleTag-v0" else STACK
        parallel_api_test(wrap(rlenvs.parallel_env(id), *wrappers), num_cycles=30)


def test_an_agent_ended_by_a_wrapper_is_idle_in_the_world():
    @dataclass
    class First(Wrapper):
        def prepare(self) -> None:
            self.allocate("terminated", dtype=np.bool_)

        def after_step(self, slots: np.ndarray) -> None:
            self.terminated[slots] = self.below.terminated[slots]
            self.terminated[0] = True

    env = wrap(rlenvs.parallel_env("ParticleSpread-v0"), First())
    env.reset(seed=0)
    *_, ends, _, _ = env.step(dict.fromkeys(env.agents, 1))
    assert ends["agent_0"]
    assert env.agents == ["agent_1", "agent_2"]
    seen, *_ = env.step(dict.fromkeys(env.agents, 1))
    assert set(seen) == {"agent_1", "agent_2"}


def test_steps_out_of_turn_and_bad_actions_move_nothing():
    env = wrap(rlenvs.make("QuadHover-v0"), Early(2))
    with pytest.raises(EpisodeOverError, match="QuadHover"):
        env.step(np.zeros(4, np.float32))
    env.reset(seed=0)
    for action in (np.zeros(5), np.full(4, np.nan), "up", None):
        before = env.get_state()
        with pytest.raises(ActionError, match="QuadHover"):
            env.step(action)
        assert not difference(before, env.get_state())
    env.step(np.zeros(4))
    assert env.step(np.zeros(4))[2]
    with pytest.raises(EpisodeOverError, match="over"):
        env.step(np.zeros(4))
    vector = wrap(rlenvs.make_vec("DeepSeaTreasure-v0", 3), Early(9))
    with pytest.raises(EpisodeOverError):
        vector.step(np.zeros(3, np.int64))
    vector.reset(seed=0)
    for actions in (np.zeros(2, np.int64), np.zeros(3), np.array([0, 9, 0])):
        with pytest.raises(ActionError, match="DeepSeaTreasure"):
            vector.step(actions)
    with pytest.raises(ActionError, match="environment 1"):
        vector.step(np.array([0, 9, 0]))


def test_snapshots_hold_the_wrappers():
    action = np.full(4, 0.2, np.float32)
    env = wrap(rlenvs.make("QuadHover-v0"), *STACK)
    env.reset(seed=0)
    env.step(action)
    state = pickle.loads(pickle.dumps(env.get_state()))
    future = [env.step(action) for _ in range(2)]
    env.reset(seed=9)
    env.set_state(state)
    assert not difference(future, [env.step(action) for _ in range(2)])
    with pytest.raises(SnapshotError, match="4 wrappers"):
        env.set_state(wrap(rlenvs.make("QuadHover-v0"), Early(3)).get_state())

    vector = wrap(rlenvs.make_vec("QuadHover-v0", 3), *STACK)
    vector.reset(seed=0)
    vector.step(np.tile(action, (3, 1)))
    states = vector.get_state()
    future = vector.step(np.tile(action, (3, 1)))
    vector.reset(seed=50)
    vector.set_state(states)
    assert not difference(list(future), list(vector.step(np.tile(action, (3, 1)))))

    team = wrap(rlenvs.parallel_env("ParticleSpread-v0"), *STACK)
    team.reset(seed=0)
    state = copy.deepcopy(team.get_state())
    future = team.step(dict.fromkeys(team.agents, 2))
    team.set_state(state)
    assert not difference(list(future), list(team.step(dict.fromkeys(team.agents, 2))))


class InForm:
    """One world in any form: `step` gives what the single form gives, of the slot that is looked at."""

    def __init__(self, form: str, id: str, *wrappers: Wrapper) -> None:
        made = {"single": rlenvs.make, "vector": lambda id: rlenvs.make_vec(id, 3), "parallel": rlenvs.parallel_env}
        self.form, self.env = form, wrap(made[form](id), *wrappers)
        self.env.reset(seed=5)

    def step(self, action):
        if self.form == "single":
            return self.env.step(action)
        if self.form == "vector":
            seen, reward, ended, cut, info = self.env.step(np.tile(action, (3, *[1] * np.ndim(action))))
            told = {key: plain(value, 1) for key, value in info.items() if not key.startswith("_")}
            return seen[1], plain(reward, 1), bool(ended[1]), bool(cut[1]), told
        (agent,) = self.env.agents
        return tuple(part[agent] for part in self.env.step({agent: action}))

    def get_state(self):
        return self.env.get_state()[1] if self.form == "vector" else self.env.get_state()

    def set_state(self, state):
        self.env.set_state([state] * 3 if self.form == "vector" else state)


@pytest.mark.parametrize("source", ["single", "vector", "parallel"])
@pytest.mark.parametrize("id", ["QuadHover-v0", "CartPole-v0"])
def test_snapshots_move_between_forms(source, id):
    one = InForm(source, id, *STACK)
    action = np.full(4, 0.2, np.float32) if id == "QuadHover-v0" else np.int64(1)
    one.step(action)
    state = pickle.loads(pickle.dumps(one.get_state()))
    future = [one.step(action) for _ in range(2)]
    for form in ("single", "vector", "parallel"):
        other = InForm(form, id, *STACK)
        other.set_state(state)
        compare(f"{source} to {form}", future, [other.step(action) for _ in range(2)])


def test_a_snapshot_of_other_slots_is_refused_by_the_names_of_both_forms():
    alone, team = wrap(rlenvs.make("ParticleSpread-v0"), *STACK), wrap(rlenvs.parallel_env("ParticleSpread-v0"), *STACK)
    vector = wrap(rlenvs.make_vec("ParticleSpread-v0", 2), *STACK)
    alone.reset(seed=0), team.reset(seed=0), vector.reset(seed=0)
    with pytest.raises(SnapshotError, match=r"parallel form with 3 agents.* single form here has 1"):
        alone.set_state(team.get_state())
    before = vector.get_state()
    with pytest.raises(SnapshotError, match=r"parallel form with 3 agents.* vector form here has 1"):
        vector.set_state([alone.get_state(), team.get_state()])
    assert not difference(before, vector.get_state())
    with pytest.raises(SnapshotError, match=r"single form with 1 agents.* parallel form here has 3"):
        team.set_state(alone.get_state())


def test_a_teams_snapshot_holds_its_world_once():
    plain = rlenvs.parallel_env("QuadMultiHover-v0", agents=20)
    plain.reset(seed=0)
    team = wrap(rlenvs.parallel_env("QuadMultiHover-v0", agents=20), Jitter(0.1))
    team.reset(seed=0)
    world, whole = len(pickle.dumps(plain.get_state())), len(pickle.dumps(team.get_state()))
    assert whole < world + 20 * 600  # beside the world: the info and the wrapper of each agent


def test_damaged_snapshots_of_teams_are_refused_and_change_nothing():
    team = wrap(rlenvs.parallel_env("ParticleSpread-v0"), *STACK)
    team.reset(seed=0)
    (snapshot, *told), *kept = team.get_state()
    team.step(dict.fromkeys(team.agents, 2))
    before = team.get_state()
    damaged = snapshot._replace(state=bytes(len(snapshot.state)))
    shorter = [{**kept[0], "key": kept[0]["key"][:2]}, *kept[1:]]
    foreign = [kept[1], kept[0], *kept[2:]]
    for state in (((damaged, *told), *kept), ((snapshot, *told), *shorter), (before[0], *foreign)):
        with pytest.raises(SnapshotError, match="ParticleSpread"):
            team.set_state(type(before)(state))
        assert not difference(before, team.get_state())
    with pytest.raises(SnapshotError, match="wrappers"):
        team.set_state(tuple(before))


@pytest.mark.parametrize("id", ["QuadHover-v0", "Ant-v0"])
def test_a_batch_steps_some_of_its_worlds(id):
    pytest.importorskip("mujoco")
    whole, part = rlenvs.make_batch(id, 4), rlenvs.make_batch(id, 4)
    for batch in (whole, part):
        batch.seed(range(4))
        batch.reset()
    actions = np.random.default_rng(0).uniform(-1, 1, whole.actions.shape)
    for batch in (whole, part):
        batch.load_actions(actions)
        batch.step_inplace()
    only = np.array([True, False, True, False])
    whole.load_actions(actions)
    whole.step_inplace()
    part.load_actions(np.where(only[:, None, None], actions, np.nan))  # what sleeps is not looked at
    part.step_inplace(only)
    for name in ("observations", "rewards", "terminated", "terms", "reward_vectors"):
        assert (getattr(part, name)[only] == getattr(whole, name)[only]).all()
    assert (part.states["elapsed"] == [2, 1, 2, 1]).all()
    part.load_actions(actions)
    part.step_inplace(~only)
    assert (part.observations == whole.observations).all()
    assert [part.get_state(i) for i in range(4)] == [whole.get_state(i) for i in range(4)]


def test_recorded_episodes_and_images(tmp_path):
    env = wrap(rlenvs.make("QuadHover-v0", render_mode="rgb_array"), Jitter(0.1))
    env = gymnasium.wrappers.RecordEpisodeStatistics(env)
    env.reset(seed=0)
    assert env.render().dtype == np.uint8
    over = False
    while not over:
        *_, terminated, truncated, info = env.step(env.action_space.sample())
        over = terminated or truncated
    assert info["episode"]["l"] > 0
    env.close()


@pytest.mark.parametrize("form", ["single", "vector", "parallel"])
def test_a_closed_environment_refuses_steps_with_wrappers_as_without(form):
    made = {
        "single": lambda: rlenvs.make("ParticleSpread-v0"),
        "vector": lambda: rlenvs.make_vec("ParticleSpread-v0", 2),
        "parallel": lambda: rlenvs.parallel_env("ParticleSpread-v0"),
    }[form]
    actions = {"single": 0, "vector": np.zeros(2, np.int64), "parallel": {f"agent_{k}": 0 for k in range(3)}}[form]
    for env in (made(), wrap(made(), Wrapper())):
        env.reset(seed=0)
        env.step(actions)
        env.close()
        env.close()
        with pytest.raises(EpisodeOverError, match="the environment is closed; make a new one"):
            env.step(actions)
        env.reset(seed=0)
        with pytest.raises(EpisodeOverError, match="the environment is closed; make a new one"):
            env.step(actions)


@pytest.mark.parametrize("id", ["QuadHover-v0", "DeepSeaTreasure-v0"])
def test_wrapped_forms_tell_the_render_modes_of_the_environment_below(id):
    for bare in (rlenvs.make(id), gymnasium.make(f"rlenvs/{id}"), rlenvs.make_vec(id, 2)):
        assert wrap(bare, Wrapper()).metadata["render_modes"] == bare.metadata["render_modes"]
        assert bare.metadata["render_modes"] == RENDER_MODES


def test_arrays_of_users_are_read_and_written_where_they_are():
    """Bound loops take arrays of any shape, numbers, flags and tuples, and keep them alive."""
    call = bound(
        [(shift, (Pair(np.arange(6.0).reshape(2, 3), 2.0), np.ones(1, np.bool_)), True, out := np.zeros((2, 3)))]
    )
    gc.collect()
    call()
    np.testing.assert_array_equal(out, 2.0 * np.arange(6.0).reshape(2, 3) + 1.0)
    out[:] = 5.0
    call()
    assert out[1, 2] == 11.0


class Pair(NamedTuple):
    numbers: np.ndarray
    factor: float


@compiled(nogil=True)
def shift(given, up, out):
    pair, mask = given
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            if mask[0]:
                out[i, j] = pair.factor * pair.numbers[i, j] + (1.0 if up else 0.0)


@pytest.mark.slow
def test_bound_loops_are_kept_on_disk_and_loaded_by_other_processes(tmp_path):
    code = """
import numpy as np
from rlenvs.core.compiler.loops import bound
from rlenvs.wrappers.masked import clear_rows
array = np.ones((1, 2))
bound([(clear_rows, array, np.ones(1, np.bool_))])()
assert not array.any()
"""
    folders = {"RLENVS_CACHE_DIR": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "home")}  # nor in the usual cache
    environment = {**os.environ, **folders, "RLENVS_TARGET": "none"}  # no library
    for k in range(2):
        subprocess.run([sys.executable, "-c", code], check=True, env=environment)
        (file,) = tmp_path.glob("rlenvs.core.compiler.loop_entries.call_*.bin")
        if k == 0:
            os.link(file, tmp_path / "first")
    assert file.samefile(tmp_path / "first")  # what cannot be loaded is compiled and written anew
