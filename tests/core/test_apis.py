"""Every registered id under the test kits of Gymnasium and PettingZoo, and what users do with environments besides."""

import functools
import subprocess
import sys
import types

import gymnasium
import numpy as np
import pettingzoo
import pettingzoo.test as kit
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, AutoresetMode
from pettingzoo.test.state_test import test_state as check_state
from pettingzoo.test.state_test import test_state_space as check_state_space
from pettingzoo.utils.conversions import aec_to_parallel
from toys import countdown

import rlenvs
from rlenvs.core.catalogue.docs import documented
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.check import one_per_kind
from rlenvs.core.declare.errors import ActionError, ParameterError
from rlenvs.core.forms.gym_env import Env
from rlenvs.core.forms.render import check_image, has_image

IDS = rlenvs.list_envs()
PLAIN = [row.id for row in documented()]
KINDS = one_per_kind(PLAIN)
VECTOR_REWARD = [id for id in IDS if id not in PLAIN]
TEAMS = [row.id for row in documented() if "multi-agent" in row.tags]


def one_per_family():
    """The first id of each family and engine, with one agent and with several."""
    found = {}
    for id in KINDS:
        world = world_of(id)
        found.setdefault((world.address.rpartition(".")[0], world.engine, bool(world.agents)), id)
    return list(found.values())


FAMILIES = one_per_family()
# one per kind, and of the forms whose rewards are vectors one per family, where what is tried is the core's
SOME = [*KINDS, *(id for id in VECTOR_REWARD if id.replace("/mo-", "/") in FAMILIES)]


def parts(observation):
    """The arrays of an observation, of a dictionary in the order of its keys."""
    if isinstance(observation, dict):
        return [np.asarray(observation[key]) for key in sorted(observation)]
    return [np.asarray(observation)]


def same(first, second):
    """Whether two observations are equal."""
    return all(np.array_equal(a, b) for a, b in zip(parts(first), parts(second), strict=True))


def play(env, seed, steps=30):
    env.action_space.seed(seed)
    out = [env.reset(seed=seed)[0]]
    for _ in range(steps):
        observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        out.append(([part.tolist() for part in parts(observation)], np.asarray(reward).tolist(), terminated, truncated))
        if terminated or truncated:
            env.reset()
    return out[1:]


# --- Gymnasium --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", PLAIN)
@pytest.mark.usefixtures("strict", "clock")
def test_gymnasium_check_env(id):
    """One of each family is drawn in every mode; how the others look is seen below."""
    check_env(gymnasium.make(id, disable_env_checker=True).unwrapped, skip_render_check=id not in FAMILIES)


class Scalar(Env):
    """A vector reward, summed: Gymnasium's checker knows numbers only."""

    def step(self, action):
        observation, reward, *rest = super().step(action)
        return observation, float(reward.sum()), *rest


@pytest.mark.parametrize("id", [id for id in VECTOR_REWARD if id.replace("/mo-", "/") in FAMILIES])
@pytest.mark.usefixtures("strict")
def test_gymnasium_check_env_with_vector_reward(id):
    """That rewards of all ids are in their spaces, `check` sees."""
    env = gymnasium.make(id, disable_env_checker=True).unwrapped
    env.reset(seed=0)
    reward = env.step(env.action_space.sample())[1]
    assert env.reward_space.contains(reward)
    check_env(Scalar(world_of(id), vector_reward=True), skip_render_check=True)


@pytest.mark.parametrize("id", SOME)
@pytest.mark.usefixtures("strict")
def test_make_with_the_default_wrappers(id):
    """Gymnasium's passive checker and order checker are on then."""
    env = gymnasium.make(id, disable_env_checker=id in VECTOR_REWARD)
    assert len(play(env, seed=0, steps=5)) == 5
    env.close()


@pytest.mark.parametrize("id", SOME)
@pytest.mark.usefixtures("strict")
def test_spec_round_trip(id):
    env = gymnasium.make(id, horizon=7)
    copy = gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json())
    assert copy == env.spec
    again = gymnasium.make(copy)
    assert again.unwrapped.batch.setup.horizon == 7
    assert play(env, seed=3, steps=10) == play(again, seed=3, steps=10)


@pytest.mark.parametrize("id", SOME)
def test_make_vec_in_its_own_and_in_gymnasiums_form(id):
    native = gymnasium.make_vec(id, num_envs=3, vectorization_mode="vector_entry_point", autoreset_mode="SameStep")
    assert native.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    native.reset(seed=0)
    assert all(len(part) == 3 for part in parts(native.step(native.action_space.sample())[0]))
    if id in KINDS:  # gymnasium's own vector forms have no room for a vector reward
        stock = gymnasium.make_vec(id, num_envs=2, vectorization_mode="sync")
        observations, _ = stock.reset(seed=0)
        first = native.reset(seed=0)[0]
        assert all(np.array_equal(a, b[:2]) for a, b in zip(parts(observations), parts(first), strict=True))


@pytest.mark.parametrize("id", SOME)
@pytest.mark.usefixtures("strict")
def test_every_form_closes_twice(id):
    forms = [gymnasium.make(id), gymnasium.make_vec(id, num_envs=2, vectorization_mode="vector_entry_point")]
    forms += [rlenvs.parallel_env(id), rlenvs.aec_env(id)] if id in TEAMS else []
    for form in forms:
        form.reset(seed=0)
        form.close()
        form.close()


def workers(id, context, count=2):
    make = functools.partial(gymnasium.make, f"rlenvs:{id}")
    return AsyncVectorEnv([make] * count, context=context)


@pytest.mark.budget(4)
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded, use of fork:DeprecationWarning")
@pytest.mark.parametrize(("id", "context"), [*((id, "fork") for id in FAMILIES), ("rlenvs/QuadHover-v0", "spawn")])
def test_worker_processes_after_threads(id, context):
    """A process that ran compiled threads may fork, and what its children compute is the same: up to the core and to
    engines, and to what the kernels of a family call."""
    batch = rlenvs.make_batch(id, 64, threads=2)
    batch.seed(range(64))
    batch.reset()
    batch.step(np.zeros(batch.actions.shape, batch.actions.dtype))
    envs, ours = workers(id, context), rlenvs.make_vec(id, 2)
    try:
        assert same(envs.reset(seed=5)[0], ours.reset(seed=5)[0])
        ours.action_space.seed(0)
        for _ in range(3):
            actions = ours.action_space.sample()
            assert same(envs.step(actions)[0], ours.step(actions)[0])
    finally:
        envs.close()


# --- images ---------------------------------------------------------------------------------------------------------


def check_frame(frame):
    assert isinstance(frame, np.ndarray)
    assert frame.dtype == np.uint8
    assert frame.ndim == 3
    assert frame.shape[2] == 3
    colors = frame.astype(np.int64) @ [65536, 256, 1]  # sorting numbers is a hundred times faster than sorting rows
    assert len(np.unique(colors)) > 3, "the image is blank"


@pytest.mark.parametrize("id", PLAIN)
def test_images(id):
    env = gymnasium.make(id, render_mode="rgb_array")
    env.reset(seed=0)
    first = env.render()
    check_frame(first)
    assert first.std() > 1.0
    kept = first.copy()
    for _ in range(2):
        if any(env.step(env.action_space.sample())[2:4]):
            env.reset()
        check_frame(env.render())
    assert np.array_equal(first, kept), "a frame changed after it was returned"
    env.close()


@pytest.mark.parametrize("id", FAMILIES)
def test_window(id, clock):
    """Under SDL's dummy driver, which conftest.py sets. What it shows are the images of above."""
    env = gymnasium.make(id, render_mode="human")
    env.reset(seed=0)
    for _ in range(2):
        if any(env.step(env.action_space.sample())[2:4]):
            env.reset()
    assert env.render() is None
    assert set(clock.rates) == {env.unwrapped.batch.setup.fps}
    env.close()
    env.close()


@pytest.mark.budget(4)
@pytest.mark.parametrize("id", PLAIN)
def test_every_mode_that_the_classes_name_works(id):
    """Of all forms; the window is the same image, which `test_window` opens."""
    forms = {
        "single": gymnasium.make(id, render_mode="ansi", backend="python").unwrapped,
        "vector": rlenvs.make_vec(id, 2, render_mode="ansi", backend="python"),
    }
    if id in TEAMS:
        forms["parallel"] = rlenvs.parallel_env(id, render_mode="ansi", backend="python")
    for form, env in forms.items():
        assert type(env).metadata["render_modes"] == env.metadata["render_modes"] == ["human", "rgb_array", "ansi"]
        env.reset(seed=0)
        shown = env.render()
        for text in shown if form == "vector" else [shown]:
            assert isinstance(text, str)
            assert text.strip(), form
    assert has_image(world_of(id)), "no image"


def test_a_world_without_text_is_told_by_what_its_agents_observe():
    env = rlenvs.make("CartPole-v0", render_mode="ansi")
    observation, _ = env.reset(seed=0)
    first, *lines = env.render().splitlines()
    assert first == "CartPole-v0, step 0"
    assert [float(line.rpartition(": ")[2].strip("[]")) for line in lines] == pytest.approx(observation, abs=5.1e-4)
    env = rlenvs.parallel_env("ParticleSpread-v0", render_mode="ansi")
    env.reset(seed=0)
    assert [line for line in env.render().splitlines() if line in env.possible_agents] == env.possible_agents


def test_an_image_says_where_none_is_declared():
    """In every mode, as the class says; whoever makes films of it is told at once."""
    env = Env(countdown.SPEC, render_mode="rgb_array", backend="python")
    env.reset(seed=0)
    assert env.render().ndim == 3
    with pytest.raises(ParameterError, match="no render_mode 'svg'; it has"):
        Env(countdown.SPEC, render_mode="svg")
    with pytest.raises(ParameterError, match="has no image; declare one"):
        check_image(countdown.SPEC)


# --- PettingZoo -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", TEAMS)
@pytest.mark.usefixtures("strict_kit")
def test_pettingzoo_registry_makes_both_forms(id):
    assert pettingzoo.make("parallel", id).possible_agents == rlenvs.parallel_env(id).possible_agents
    assert pettingzoo.make("aec", id).possible_agents == rlenvs.aec_env(id).possible_agents


@pytest.mark.usefixtures("strict_kit")
def test_teams_of_mo_ids_are_paid_vectors_in_both_forms():
    id = "rlenvs/mo-Beach-v0"
    for env in (rlenvs.parallel_env(id, horizon=3), pettingzoo.make("parallel", id, horizon=3)):
        env.reset(seed=0)
        rewards = env.step({agent: env.action_space(agent).sample() for agent in env.agents})[1]
        assert all(env.reward_space(agent).shape == reward.shape != () for agent, reward in rewards.items())
    for env in (rlenvs.aec_env(id, horizon=3), pettingzoo.make("aec", id, horizon=3)):
        env.reset(seed=0)
        for agent in env.possible_agents:
            env.step(env.action_space(agent).sample())
        assert all(np.shape(reward) != () for reward in env.rewards.values())


@pytest.mark.parametrize("before", ["", "assert importlib.util.find_spec('pettingzoo') is not None"])
def test_pettingzoo_registry_knows_the_worlds_whoever_asked_for_pettingzoo_before(before):
    """Libraries such as TorchRL look whether it is there without importing it."""
    script = f"import importlib.util, rlenvs\n{before}\nimport pettingzoo\npettingzoo.make('parallel', {TEAMS[0]!r})"
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("id", TEAMS)
@pytest.mark.usefixtures("strict_kit")
def test_pettingzoo_parallel_api(id):
    kit.parallel_api_test(rlenvs.parallel_env(id), num_cycles=50)


@pytest.mark.parametrize("id", TEAMS)
@pytest.mark.usefixtures("strict_kit")
def test_pettingzoo_aec_api(id):
    kit.api_test(rlenvs.aec_env(id), num_cycles=50)


@pytest.mark.parametrize("id", TEAMS)
@pytest.mark.usefixtures("strict_kit")
def test_pettingzoo_seeds(id):
    kit.parallel_seed_test(functools.partial(rlenvs.parallel_env, id), num_cycles=50)
    kit.seed_test(functools.partial(rlenvs.aec_env, id), num_cycles=50)


LASTING = {  # settings with which no agent's episode ends within four random steps
    "rlenvs/PathFinding-v0": {"on_target": "restart"},
    "rlenvs/HeteroHighway-v0": {"level": "empty"},
    "rlenvs/MicroRacerRace-v0": {"max_turn": 0.1},
}


@pytest.mark.parametrize("id", TEAMS)
@pytest.mark.usefixtures("strict_kit")
def test_pettingzoo_max_cycles(id):
    """The kit plays at random, unseeded, and counts on most agents to live to the end: here none ends before. A game of
    one step cannot be cut off at its four, and it takes each agent to act in each cycle, which is not so in turns."""
    if world_of(id).horizon == 2 or world_of(id).turns:
        return
    lasting = LASTING.get(id, {})
    module = types.SimpleNamespace(
        parallel_env=functools.partial(rlenvs.parallel_env, id, **lasting),
        env=functools.partial(rlenvs.aec_env, id, **lasting),
    )
    kit.max_cycles_test(module)


@pytest.mark.parametrize("id", [id for id in TEAMS if id in FAMILIES])
@pytest.mark.usefixtures("strict_kit", "clock")
def test_pettingzoo_render(id):
    """What it shows are the images of above."""
    kit.render_test(functools.partial(rlenvs.aec_env, id))


@pytest.mark.parametrize("id", TEAMS)
@pytest.mark.usefixtures("strict_kit")
def test_pettingzoo_state(id):
    """`kit.state_test` looks at states after reset; here the state changes on the way, too."""
    parallel = rlenvs.parallel_env(id)
    kit.state_test(rlenvs.aec_env(id), parallel)
    check_state_space(parallel)
    check_state(rlenvs.aec_env(id), num_cycles=10)
    parallel.reset(seed=0)
    before = parallel.state()
    parallel.step({agent: parallel.action_space(agent).sample() for agent in parallel.agents})
    assert parallel.state_space.contains(parallel.state())
    assert not np.shares_memory(before, parallel.state())


@pytest.mark.parametrize("id", TEAMS)
@pytest.mark.usefixtures("strict_kit")
def test_there_and_back_again(id):
    """The parallel form, and the parallel form of its AEC form, play the same episode. PettingZoo converts no games in
    turns."""
    if world_of(id).turns:
        return
    direct, converted = rlenvs.parallel_env(id, horizon=10), aec_to_parallel(rlenvs.aec_env(id, horizon=10))
    direct.reset(seed=1)
    converted.reset(seed=1)
    for agent in direct.possible_agents:
        direct.action_space(agent).seed(1)
    while direct.agents:
        actions = {agent: direct.action_space(agent).sample() for agent in direct.agents}
        one, two = direct.step(actions), converted.step(actions)
        assert one[1] == two[1]
        assert one[2] == two[2]
        assert one[3] == two[3]


def test_actions_of_unknown_agents_are_refused():
    env = rlenvs.parallel_env("PathFinding-v0", agents=2)
    env.reset(seed=0)
    with pytest.raises(ActionError, match=r"no agents \['agent_9'\]"):
        env.step({"agent_0": 0, "agent_1": 0, "agent_9": 0})


@pytest.mark.parametrize("actions", [3, [0, 1, 2], [[0], [1]], None])
def test_wrong_actions_for_first_agents_are_refused(actions):
    envs = rlenvs.make_vec("PathFinding-v0", 2, agents=3, others="idle")
    envs.reset(seed=0)
    with pytest.raises(ActionError):
        envs.step(actions)
