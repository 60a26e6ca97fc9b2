"""Goal form of observations and `compute_reward`, as hindsight replay needs them."""

import functools

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from toys.broken_worlds import Goal, Healthy

import rlenvs
from rlenvs.core import block, discrete, world
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ActionError, ParameterError
from rlenvs.core.forms.gym_env import Env
from rlenvs.core.forms.vector_env import VectorEnv

PARTS = ("observation", "achieved_goal", "desired_goal")
REACH = "rlenvs/PandaReach-v0"


@pytest.fixture(scope="module", autouse=True)
def _mujoco():
    pytest.importorskip("mujoco", reason="mujoco is not installed: the arm is not tested")


def joined(parts):
    return np.concatenate([parts[name] for name in PARTS], axis=-1)


@pytest.mark.parametrize("reward", ["sparse", "dense"])
def test_flat_and_goal_form_have_the_same_numbers(reward):
    flat, goal = (gymnasium.make(REACH, form=form, reward=reward, horizon=9) for form in ("flat", "goal"))
    assert set(goal.observation_space.spaces) == set(PARTS)
    assert joined({name: space.low for name, space in goal.observation_space.items()}).tolist() == (
        flat.observation_space.low.tolist()
    )
    a, b = flat.reset(seed=4)[0], goal.reset(seed=4)[0]
    rng = np.random.default_rng(0)
    for _ in range(9):
        assert goal.observation_space.contains(b)
        assert a.tobytes() == joined(b).tobytes()
        assert [b[name].shape for name in PARTS] == [(len(a) - 6,), (3,), (3,)]
        action = rng.uniform(-1.0, 1.0, 3)
        before = {name: part.copy() for name, part in b.items()}
        last = b
        (a, *left), (b, *right) = flat.step(action), goal.step(action)
        assert left[:3] == right[:3]
        assert all(last[name].tobytes() == before[name].tobytes() for name in PARTS)  # copies, not views
    assert left[2]  # truncated


@pytest.mark.parametrize("reward", ["sparse", "dense"])
@pytest.mark.parametrize("level", ["easy", "medium", "hard"])
def test_compute_reward_is_the_reward_of_the_step(level, reward):
    single = gymnasium.make(REACH, form="goal", reward=reward, level=level, ends_at_success=True).unwrapped
    envs = rlenvs.make_vec(REACH, 8, form="goal", reward=reward, level=level, autoreset_mode=AutoresetMode.DISABLED)
    envs.reset(seed=0)
    kept, seen = [], set()
    for t in range(50):
        actions = envs.expert_actions() if t % 3 else np.random.default_rng(t).uniform(-1, 1, (8, 3))
        observations, rewards, _, _, infos = envs.step(actions)
        goals = observations["achieved_goal"], observations["desired_goal"]
        found = envs.compute_reward(*goals, {})
        assert found.dtype == np.float64
        assert found.tobytes() == rewards.tobytes()
        assert single.compute_terminated(*goals, {}).tolist() == infos["is_success"].tolist()
        kept.append((*goals, rewards))
        seen.update(rewards.tolist())
    assert len(seen) > 1
    achieved, desired, rewards = (np.stack(part) for part in zip(*kept, strict=True))
    assert envs.compute_reward(achieved, desired, None).tobytes() == rewards.tobytes()  # (50, 8)
    one = single.compute_reward(achieved[3, 2], desired[3, 2], {})
    assert type(one) is float
    assert one == rewards[3, 2]
    assert type(single.compute_terminated(achieved[3, 2], desired[3, 2], {})) is bool
    other = single.compute_reward(achieved, achieved, {})  # what hindsight replay asks for
    assert (other == 0.0).all()


def goal_worlds():
    """All declared worlds with goals, and the choices that set weights."""
    for id in rlenvs.list_envs():
        world = world_of(id)
        if world.goal and "/mo-" not in id:
            choices = [
                {name: value}
                for name, option in world.options.items()
                for value in getattr(option, "values", ())
                if name != "form" and set(getattr(option, "sets", {}).get(value, ())) & set(world.terms)
            ]
            yield from (pytest.param(id, choice, id=f"{world.name} {choice}") for choice in ({}, *choices))


@pytest.mark.parametrize(("id", "choice"), list(goal_worlds()))
def test_compute_reward_is_the_reward_of_the_step_or_refused_in_every_world(id, choice):
    make = functools.partial(rlenvs.make_vec, id, 2, backend="python", autoreset_mode=AutoresetMode.DISABLED)
    if choice == {"reward": "shaped"}:
        with pytest.raises(ParameterError, match="take reward='sparse' or reward='dense', or form='flat'"):
            make(form="goal", **choice)
        with pytest.raises(ParameterError, match="compute_reward needs a reward that depends only on the goals"):
            make(**choice).compute_reward(np.zeros(3), np.zeros(3), {})
        return
    envs = make(form="goal", **choice)
    envs.reset(seed=1)
    envs.action_space.seed(1)
    for _ in range(6):
        seen, rewards, *_ = envs.step(envs.action_space.sample())
        assert envs.compute_reward(seen["achieved_goal"], seen["desired_goal"], {}) == pytest.approx(rewards, abs=1e-5)


def test_weights_on_what_goals_do_not_tell_are_refused():
    with pytest.raises(ParameterError, match="the weighted terms 'near' do not; take reward='dense', or"):
        rlenvs.make("PandaPush-v0", form="goal", weights={"near": 0.1})
    with pytest.raises(ParameterError, match="at rest without the fingers does not follow from the goals"):
        rlenvs.make("PandaStack-v0", form="goal", ends_at_success=True)


def test_truncation_does_not_follow_from_goals():
    env = rlenvs.make(REACH, form="goal").unwrapped
    assert env.compute_truncated(np.zeros(3), np.zeros(3), {}) is False
    ends = env.compute_truncated(np.zeros((4, 3)), np.zeros((4, 3)), {})
    assert ends.dtype == bool
    assert ends.tolist() == [False] * 4


def test_shapes_that_do_not_fit_are_refused():
    env = gymnasium.make(REACH, form="goal").unwrapped
    three = np.zeros(3, np.float32)
    assert env.compute_reward(np.zeros((0, 3)), np.zeros((0, 3)), {}).shape == (0,)
    assert env.compute_reward(np.zeros((2, 5, 3)), np.zeros((2, 5, 3)), {}).shape == (2, 5)
    for achieved, desired in ((three[:2], three[:2]), (three, np.zeros((2, 3))), (np.float32(0), np.float32(0))):
        with pytest.raises(ActionError, match=r"PandaReach-v0: goals of shape .* needed: two arrays \(\.\.\., 3\)"):
            env.compute_reward(achieved, desired, {})
    with pytest.raises(ActionError, match="Healthy-v0 has no goals"):
        Env(Healthy, backend="python").batch.compute_reward(three, three)
    for env in (Env(Healthy, backend="python"), gymnasium.make(REACH).unwrapped):
        assert not hasattr(env, "compute_reward")  # learners would take it for a goal environment
    with pytest.raises(ParameterError, match="form='dict' is not one of 'flat', 'goal'"):
        gymnasium.make(REACH, form="dict")


def test_compute_reward_leaves_the_world_alone():
    first, second = (Env(Goal, backend="python", form="goal") for _ in range(2))
    for env in (first, second):
        env.reset(seed=0)
    for t in range(8):
        first.compute_reward(np.full((4, 1), 0.1 * t), np.zeros((4, 1)), {})
        a, b = first.step(t % 3), second.step(t % 3)
        assert a[1:4] == b[1:4]
        assert joined(a[0]).tobytes() == joined(b[0]).tobytes()


def test_weights_count_in_compute_reward():
    envs = VectorEnv(Goal, 3, backend="python", weights={"near": 2.0})
    assert envs.compute_reward(np.ones((2, 1)), np.zeros((2, 1)), {}).tolist() == [-2.0, -2.0]


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_vector_form(mode):
    envs = rlenvs.make_vec(REACH, 3, form="goal", horizon=4, autoreset_mode=mode)
    observations, _ = envs.reset(seed=0)
    assert envs.observation_space.contains(observations)
    for _ in range(4):
        observations, *_, infos = envs.step(np.zeros((3, 3)))
    if mode is AutoresetMode.SAME_STEP:
        assert set(infos["final_obs"][0]) == set(PARTS)
        assert (infos["final_obs"][0]["desired_goal"] != observations["desired_goal"][0]).any()


@pytest.mark.budget(4)
def test_stable_baselines_replays_with_hindsight():
    sb3 = pytest.importorskip("stable_baselines3")
    envs = rlenvs.sb3_vec_env(REACH, 4, form="goal")
    learner = sb3.DDPG(
        "MultiInputPolicy", envs, replay_buffer_class=sb3.HerReplayBuffer, buffer_size=2000, learning_starts=250,
        replay_buffer_kwargs={"n_sampled_goal": 4, "goal_selection_strategy": "future"}, batch_size=64, device="cpu",
        train_freq=(50, "step"), gradient_steps=2, policy_kwargs={"net_arch": [8]},
    )  # fmt: skip
    learner.learn(420)
    batch = learner.replay_buffer.sample(256)
    achieved, desired = (batch.next_observations[name].numpy() for name in PARTS[1:])
    rewards = batch.rewards.numpy()[:, 0]
    assert rewards.tolist() == envs.env_method("compute_reward", achieved, desired, {}, indices=[0])[0].tolist()
    assert (rewards == 0.0).mean() > 0.1  # random play of 50 steps is there in 1 % of them


def test_declarations_without_sense_are_refused():
    def declare(goal, **changes):
        blocks = {"x": block(low=0.0, high=1.0), **{n: block(2, low=0.0, high=1.0, raw=True) for n in "ab"}, **changes}
        world("Wrong-v0", doc="", state={}, observation=blocks, action=discrete(2), terms={}, horizon=1, goal=goal)

    declare(("a", "b"))
    with pytest.raises(ParameterError, match="last two blocks"):
        declare(("b", "a"))
    with pytest.raises(ParameterError, match="must be raw and of equal shape"):
        declare(("a", "b"), b=block(3, low=0.0, high=1.0, raw=True))
    with pytest.raises(ParameterError, match="must be raw and of equal shape"):
        declare(("a", "b"), b=block(2, low=0.0, high=1.0))
