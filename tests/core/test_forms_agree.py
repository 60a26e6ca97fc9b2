"""What all forms take alike: time limits, options of resets, generators, closed environments, shapes of actions."""

import gymnasium
import numpy as np
import pytest

import rlenvs
from rlenvs.core.declare.errors import ActionError, EpisodeOverError, ParameterError

TEAM = "ParticleSpread-v0"
PLAIN = {"backend": "python"}


def forms():
    return {
        "single": rlenvs.make(TEAM, **PLAIN),
        "vector": rlenvs.make_vec(TEAM, 2, **PLAIN),
        "parallel": rlenvs.parallel_env(TEAM, **PLAIN),
        "aec": rlenvs.aec_env(TEAM, **PLAIN),
        "turns": rlenvs.aec_env("ConnectFour-v0", **PLAIN),
    }


def test_minus_one_is_no_limit_in_every_form():
    made = (
        rlenvs.make("CartPole-v0", max_episode_steps=-1, **PLAIN),
        gymnasium.make(rlenvs.make("CartPole-v0", max_episode_steps=-1, **PLAIN).spec),
        rlenvs.make_vec("CartPole-v0", 1, max_episode_steps=-1, **PLAIN),
        rlenvs.parallel_env(TEAM, max_cycles=-1, **PLAIN),
        rlenvs.make("CartPole-v0", horizon=-1, **PLAIN),
    )
    for env in made:
        assert env.unwrapped.batch.setup.horizon == 2**62
    assert made[0].spec.max_episode_steps is None
    env = rlenvs.make("Pendulum-v0", max_episode_steps=-1, render_mode="rgb_array", **PLAIN)
    env.reset(seed=0)
    assert not any(env.step(np.zeros(1))[3] for _ in range(300))
    assert env.render().shape == (512, 512, 3)
    env = rlenvs.make("Pendulum-v0", **PLAIN)
    assert env.spec.max_episode_steps == 200
    plain = gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json())
    assert gymnasium.make(plain).unwrapped.batch.setup.horizon == 200


def test_options_of_resets_are_refused_alike():
    for env in forms().values():
        with pytest.raises(ParameterError, match="reset does not support the options"):
            env.reset(seed=0, options={"parms": {}})
        env.reset(seed=0, options={"options": 1})  # as PettingZoo's tests do


def test_a_generator_that_is_set_seeds_the_next_reset():
    env = rlenvs.make("Pendulum-v0", **PLAIN)
    env.reset(seed=0)
    seen = []
    for _ in range(2):
        env.unwrapped.np_random = np.random.default_rng(7)
        seen.append([env.reset()[0], env.reset()[0]])
    assert (np.array(seen[0]) == np.array(seen[1])).all()
    assert (seen[0][0] != seen[0][1]).any()
    vector = rlenvs.make_vec("Pendulum-v0", 3, **PLAIN)
    vector.reset(seed=0)
    starts = []
    for _ in range(2):
        vector.np_random = np.random.default_rng(7)
        starts.append(vector.reset()[0])
    assert (starts[0] == starts[1]).all()
    assert len(np.unique(starts[0], axis=0)) == 3
    with pytest.raises(ParameterError, match=r"numpy\.random\.Generator"):
        env.unwrapped.np_random = np.random.RandomState(0)


def test_closed_environments_are_not_stepped():
    for form, env in forms().items():
        env.reset(seed=0)
        actions = {
            "single": lambda env=env: env.action_space.sample(),
            "vector": lambda env=env: env.action_space.sample(),
            "parallel": lambda env=env: {agent: env.action_space(agent).sample() for agent in env.agents},
        }
        action = actions.get(form, lambda: 0)()
        env.close()
        env.close()
        if form == "aec":  # whose agents are asked one by one, and then step together
            for _ in env.agents[1:]:
                env.step(action)
        with pytest.raises(EpisodeOverError, match="closed"):
            env.step(action)


@pytest.mark.parametrize(
    ("id", "fits", "others"),
    [("Pendulum-v0", (1,), [(), (1, 1), (1, 1, 1)]), ("CartPole-v0", (), [(1,), (1, 1)])],
)
def test_actions_have_the_shape_of_their_space(id, fits, others):
    env = rlenvs.make(id, **PLAIN)
    env.reset(seed=0)
    env.step(np.zeros(fits, env.action_space.dtype))
    for shape in others:
        with pytest.raises(ActionError, match="an action of shape"):
            env.step(np.zeros(shape, env.action_space.dtype))
