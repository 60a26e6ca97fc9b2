"""Observations with images, in every API form: dictionaries of the vector and uint8 arrays."""

import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import rlenvs
from rlenvs.core import block, choice, discrete, image, term, u1, world
from rlenvs.core.catalogue.docs import page
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.setup import Setup
from rlenvs.core.forms.gym_env import Env

SMALL = {"camera": "rgbd", "camera_width": 16, "camera_height": 12, "horizon": 5}
PARTS = {"state": ((15,), np.float32), "rgb": ((12, 16, 4), np.uint8), "depth": ((12, 16, 1), np.uint8)}


def check(observation, leading=()):
    assert set(observation) == set(PARTS)
    for name, (shape, dtype) in PARTS.items():
        assert observation[name].shape == (*leading, *shape)
        assert observation[name].dtype == dtype


def test_single_form():
    env = gymnasium.make("rlenvs/QuadHover-v0", **SMALL)
    first, _ = env.reset(seed=0)
    check(first)
    assert env.observation_space.contains(first)
    kept = {name: array.copy() for name, array in first.items()}
    second, *_ = env.step(env.action_space.sample())
    assert all((first[name] == kept[name]).all() for name in PARTS)  # copies, not views
    assert not np.shares_memory(first["rgb"], second["rgb"])
    copy = pickle.loads(pickle.dumps(env))
    again = copy.unwrapped.set_state(env.unwrapped.get_state())
    assert all((again[name] == second[name]).all() for name in PARTS)


def test_one_kind_of_image_alone():
    env = gymnasium.make("rlenvs/QuadHover-v0", **{**SMALL, "camera": "depth"})
    observation, _ = env.reset(seed=0)
    assert set(observation) == {"state", "depth"}
    both, _ = gymnasium.make("rlenvs/QuadHover-v0", **SMALL).reset(seed=0)
    assert (observation["depth"] == both["depth"]).all()
    plain, _ = gymnasium.make("rlenvs/QuadHover-v0", **{**SMALL, "camera": "none"}).reset(seed=0)
    assert plain.shape == (15,)


@pytest.mark.parametrize("copy", [True, False])
def test_vector_form_keeps_the_last_images(copy):
    envs = rlenvs.make_vec("QuadHover-v0", 3, autoreset_mode=AutoresetMode.SAME_STEP, copy=copy, **SMALL)
    observations, _ = envs.reset(seed=0)
    check(observations, (3,))
    single = gymnasium.make("rlenvs/QuadHover-v0", **SMALL)
    single.reset(seed=1)
    for _ in range(5):
        observations, *_, infos = envs.step(np.zeros((3, 4)))
        last, *_ = single.step(np.zeros(4))
    check(infos["final_obs"][1])
    assert all((infos["final_obs"][1][name] == last[name]).all() for name in PARTS)
    assert not (observations["state"][1] == last["state"]).all()


def test_parallel_form():
    env = rlenvs.parallel_env("QuadMultiHover-v0", agents=3, **SMALL)
    observations, _ = env.reset(seed=0)
    for agent, observation in observations.items():
        assert env.observation_space(agent).contains(observation)
        assert observation["rgb"].shape == (12, 16, 4)
    observations, *_ = env.step({agent: np.zeros(4) for agent in env.agents})
    assert len({observation["rgb"].tobytes() for observation in observations.values()}) == 3


def test_stable_baselines_form_and_its_policy():
    sb3 = pytest.importorskip("stable_baselines3")
    envs = rlenvs.sb3_vec_env("QuadHover-v0", 4, camera="rgb", camera_width=40, camera_height=36, horizon=5)
    observations = envs.reset()
    assert observations["rgb"].shape == (4, 36, 40, 4)
    for _ in range(5):
        observations, _, dones, infos = envs.step(np.zeros((4, 4)))
    assert dones.all()
    assert infos[0]["terminal_observation"]["rgb"].shape == (36, 40, 4)
    sb3.PPO("MultiInputPolicy", envs, n_steps=8, batch_size=16, n_epochs=1, device="cpu").learn(32)


def test_policies_of_evaluate_see_images():
    seen = []

    def policy(observations):
        seen.append(observations["depth"].shape)
        return np.zeros((2, 4))

    rlenvs.evaluate("QuadHover-v0", policy, seeds=2, **SMALL)
    assert seen[0] == (2, 12, 16, 1)


LAMP = world(
    "Lamp-v0",
    doc="A lamp, as a pixel or as a number.",
    options={"seen_as": choice("image", "number", "both", doc="what is observed")},
    sizes=lambda values: {"side": int(values.seen_as != "number"), "numbers": int(values.seen_as != "image")},
    state={"lit": u1},
    observation={"lit": block("numbers", low=0, high=1, raw=True)},
    images={"screen": image("side", "side", 1)},
    action=discrete("off", "on"),
    terms={"light": term(0, 1)},
    horizon=4,
)


@LAMP.reset
def _begin_dark(p, s, rng):
    s.lit = 0


@LAMP.step
def _switch(p, s, a, rng, r):
    s.lit = a
    r.light = float(a)


@LAMP.observe
def _observe_lamp(p, s, o):
    if o.lit.size > 0:
        o.lit[0] = s.lit


@LAMP.observe_images
def _show_lamp(p, s, i):
    i.screen[0, 0, 0] = 255 * s.lit


def test_an_option_chooses_between_an_image_and_numbers():
    """Where the blocks of a world have no numbers, its only image is the observation."""
    for seen_as, shape in (("image", (1, 1, 1)), ("number", (1,))):
        env = Env(LAMP, backend="python", seen_as=seen_as)
        env.reset(seed=0)
        seen = env.step(1)[0]
        assert env.observation_space.shape == shape
        assert env.observation_space.contains(seen)
        assert seen.max() == env.observation_space.high.max()
    env = Env(LAMP, backend="python", seen_as="both")
    assert {name: part.shape for name, part in env.reset(seed=0)[0].items()} == {"screen": (1, 1, 1), "state": (1,)}
    assert Setup(LAMP).alone == "screen"
    with pytest.raises(ParameterError, match="its observation consists of images"):
        Setup(LAMP, encoding="unit")
    assert Setup(LAMP, encoding="unit", seen_as="number").observation_space.dtype == np.float32
    written = page(LAMP)
    assert "one image" in written
    assert "none by default" in written
