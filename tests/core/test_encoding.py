"""Observations in [0, 1], as bytes and as whole numbers: bounds, exactness, and equality over the forms."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import rlenvs
from rlenvs.core import block
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.encoding import Encoding
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.setup import Setup

DTYPES = {"float": np.float32, "unit": np.float32, "uint8": np.uint8, "integer": np.int32}
BOARDS = {
    "PathFinding-v0": {"agents": 3},
    "Generals-v0": {"opponent": "expander", "height": 8, "width": 9},
    "DeepSeaTreasure-v0": {"map": "mirrored", "scaled": True},
    "FindAndDefeatZerglings-v0": {},
    "QuadHover-v0": {},
}


def play(id, encoding, steps=40, seed=3, **keywords):
    """Observations of a single environment that plays random legal actions, the same for every encoding."""
    env = rlenvs.make(id, encoding=encoding, **keywords)
    generator = np.random.default_rng(0)
    observation, info = env.reset(seed=seed)
    seen = [observation]
    for _ in range(steps):
        if isinstance(env.action_space, spaces.Discrete):
            allowed = info.get("action_mask", np.ones(env.action_space.n))
            action = int(generator.choice(np.flatnonzero(allowed)))
        else:
            action = generator.uniform(-1, 1, env.action_space.shape).astype(np.float32)
        observation, _, terminated, truncated, info = env.step(action)
        seen.append(observation)
        if terminated or truncated:
            observation, info = env.reset()
            seen.append(observation)
    space = env.observation_space
    env.close()
    return np.array(seen), space


@pytest.mark.parametrize("encoding", ["unit", "uint8"])
@pytest.mark.parametrize("id", BOARDS)
def test_numbers_lie_in_their_space_and_say_the_same(id, encoding):
    seen, space = play(id, encoding, **BOARDS[id])
    true, usual = play(id, "float", **BOARDS[id])
    assert space.shape == usual.shape
    assert seen.dtype == space.dtype == DTYPES[encoding]
    most = 255 if encoding == "uint8" else 1
    assert (space.low.min(), space.high.max()) == (0, most)
    assert all(space.contains(observation) for observation in seen)
    logarithms = "Generals" in id
    span = np.where(usual.high > usual.low, usual.high - usual.low, 1)
    above = true.astype(np.float64) - usual.low
    expected = np.log2(1 + above) / np.log2(1.0 + span) if logarithms else above / span
    np.testing.assert_allclose(seen / most, expected, atol=0.5 / 255 + 1e-6 if encoding == "uint8" else 1e-6)


@pytest.mark.parametrize("id", ["PathFinding-v0", "Generals-v0", "DeepSeaTreasure-v0"])
def test_whole_numbers_are_exact(id):
    seen, space = play(id, "integer", **BOARDS[id])
    true, usual = play(id, "float", **BOARDS[id])
    assert seen.dtype == space.dtype == np.int32
    assert all(space.contains(observation) for observation in seen)
    if id == "DeepSeaTreasure-v0":
        assert space.high.tolist() == [10, 19]
        true = (true + 1) / 2 * space.high
    np.testing.assert_allclose(seen, true, atol=1e-4)
    assert usual.contains(true[0].astype(np.float32)) or id == "DeepSeaTreasure-v0"


def test_planes_of_zeros_and_ones_stay_what_they_are():
    seen, _ = play("Generals-v0", "unit", **BOARDS["Generals-v0"])
    true, _ = play("Generals-v0", "float", **BOARDS["Generals-v0"])
    assert np.array_equal(seen[:, 1:9], true[:, 1:9])
    armies = true[:, 0]
    assert np.unique(seen[:, 0]).size == np.unique(armies).size > 3
    bytes_, _ = play("Generals-v0", "uint8", **BOARDS["Generals-v0"])
    assert set(np.unique(bytes_[:, 1:9])) == {0, 255}


def test_a_large_army_is_told_from_a_larger_one():
    setup = Setup(world_of("Generals-v0"), encoding="uint8")
    board = np.zeros(setup.observation_shape, np.float32)
    shades = []
    for army in (0, 1, 2, 5, 20, 40, 100, 1000, 10_000, 1_000_000):
        board[0] = army
        shades.append(int(setup.encode(board)[0, 0, 0]))
    assert shades[0] == 0
    assert shades[-1] == 255
    assert np.diff(shades).min() > 5


@pytest.mark.parametrize("encoding", DTYPES)
@pytest.mark.parametrize("id", ["PathFinding-v0", "Generals-v0", "DeepSeaTreasure-v0"])
def test_all_forms_show_the_same(id, encoding):
    if id == "DeepSeaTreasure-v0":
        keywords = {"scaled": True}
    else:
        keywords = {"agents": 1} if id == "PathFinding-v0" else {"opponent": "expander", "height": 8, "width": 8}
    single = rlenvs.make(id, encoding=encoding, **keywords)
    modes = ("NEXT_STEP", "SAME_STEP", "DISABLED")
    vectors = [rlenvs.make_vec(id, 2, encoding=encoding, autoreset_mode=mode, **keywords) for mode in modes]
    forms = [vectors[0].reset(seed=5)[0][0], vectors[1].reset(seed=5)[0][0], vectors[2].reset(seed=5)[0][0]]
    first, info = single.reset(seed=5)
    parallel = rlenvs.parallel_env(id, encoding=encoding, masks="info", **keywords)
    forms.append(parallel.reset(seed=5)[0]["agent_0"])
    for vector in vectors:
        assert vector.single_observation_space == single.observation_space
    assert parallel.observation_space("agent_0") == single.observation_space
    for seen in forms:
        assert seen.dtype == first.dtype == DTYPES[encoding]
        assert np.array_equal(seen, first)
    for _ in range(15):
        action = int(np.flatnonzero(info["action_mask"])[-1])
        observation, _, terminated, truncated, info = single.step(action)
        for vector in vectors:
            assert np.array_equal(vector.step(np.array([action, action]))[0][0], observation) or terminated
        seen = parallel.step({"agent_0": action})[0]
        assert np.array_equal(seen["agent_0"], observation)
        if terminated or truncated:
            break


def test_final_observations_are_encoded():
    env = rlenvs.make_vec("DeepSeaTreasure-v0", 2, encoding="integer", autoreset_mode="SAME_STEP")
    env.reset(seed=0)
    observations, *_, infos = env.step(np.array([1, 3]))
    assert observations.tolist() == [[0, 0], [0, 1]]
    assert infos["final_obs"][0].tolist() == [1, 0]
    assert infos["final_obs"][0].dtype == np.int32


def test_stable_baselines_rows():
    pytest.importorskip("stable_baselines3")
    single = rlenvs.make("PathFinding-v0", encoding="uint8", agents=2)
    rows = rlenvs.sb3_vec_env("PathFinding-v0", 1, encoding="uint8", agents=2)
    rows.seed(4)
    assert rows.observation_space == single.observation_space
    assert np.array_equal(rows.reset()[0], single.reset(seed=4)[0])
    assert rows.step(np.zeros(2, np.int64))[0].dtype == np.uint8


def test_agents_that_see_less():
    env = rlenvs.parallel_env("ParticleTag-v0", encoding="unit")
    seen, _ = env.reset(seed=0)
    usual = rlenvs.parallel_env("ParticleTag-v0", scaled=True)
    true, _ = usual.reset(seed=0)
    assert len({observation.shape for observation in seen.values()}) == 2
    for agent, observation in seen.items():
        assert env.observation_space(agent).contains(observation)
        low, high = usual.observation_space(agent).low, usual.observation_space(agent).high
        np.testing.assert_allclose(observation, (true[agent] - low) / (high - low), atol=1e-6)


def test_beside_images():
    env = rlenvs.make("QuadHover-v0", camera="rgb", encoding="uint8")
    observation, _ = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    assert {array.dtype for array in observation.values()} == {np.dtype(np.uint8)}
    env.close()


def test_wrappers_see_what_users_see():
    from rlenvs.wrappers import Sensor

    env = rlenvs.wrap(rlenvs.make("QuadHover-v0", encoding="unit"), Sensor(noise=0.0))
    assert env.observation_space == rlenvs.make("QuadHover-v0", encoding="unit").observation_space
    assert np.array_equal(env.reset(seed=1)[0], rlenvs.make("QuadHover-v0", encoding="unit").reset(seed=1)[0])


def test_snapshots_and_futures():
    env = rlenvs.make("DeepSeaTreasure-v0", encoding="integer")
    env.reset(seed=0)
    state = env.unwrapped.get_state()
    assert rlenvs.rollout_plans(env, [[3, 3, 3]]).observations.tolist() == [[0, 3]]
    env.step(3)
    assert env.unwrapped.set_state(state).tolist() == [0, 0]
    plain = rlenvs.make("DeepSeaTreasure-v0", scaled=True)
    plain.reset(seed=1)
    assert plain.unwrapped.set_state(state).tolist() == [-1, -1]  # how one looks is no part of the world


@pytest.mark.parametrize(
    ("id", "keywords", "message"),
    [
        ("QuadHover-v0", {"encoding": "bytes"}, "is not one of 'float', 'unit', 'uint8', 'integer'"),
        ("QuadHover-v0", {"encoding": None}, "is not one of"),
        ("QuadHover-v0", {"encoding": "integer"}, "integer observations"),
        ("PandaReach-v0", {"encoding": "unit", "form": "goal"}, "form='goal'"),
    ],
)
def test_impossible_encodings_are_refused(id, keywords, message):
    if id.startswith("Panda"):
        pytest.importorskip("mujoco")
    with pytest.raises(ParameterError, match=message):
        rlenvs.make(id, **keywords)


def test_a_range_for_each_plane():
    part = block(2, 3, low=0.0, high=lambda values: [1.0, values], raw=True)
    assert part.bounds(7.0, (2, 3)).tolist() == [[[0] * 3] * 2, [[1] * 3, [7] * 3]]
    assert block(2, low=0.0, high=lambda values: values).bounds([3, 4], (2,)).tolist() == [[0, 0], [3, 4]]
    for high in (lambda values: [1.0, -1.0], lambda values: [np.nan, 1.0]):
        with pytest.raises(ParameterError, match="finite low <= high"):
            block(2, low=0.0, high=high).bounds(None, (2,))
    with pytest.raises(ParameterError, match="raw"):
        block(2, low=0.0, high=1.0, logarithmic=True)


def test_what_never_changes():
    """A map with a single row: its number stays -1, 0, or itself."""
    shown = {}
    for encoding in DTYPES:
        env = gymnasium.make("rlenvs/DeepSeaTreasure-v0", map=[[0, 0, 0, 5]], encoding=encoding, scaled=True)
        env.reset()
        observation = env.step(3)[0]
        assert env.observation_space.contains(observation)
        shown[encoding] = observation.tolist()
    assert shown["integer"] == [0, 1]
    assert shown["float"] == pytest.approx([-1, -1 / 3])
    assert shown["unit"] == pytest.approx([0, 1 / 3])
    assert shown["uint8"] == [0, 85]


def test_bounds_of_the_encoding():
    scaling = np.array([[1, 1], [0, 0], [0, 0], [1, 7]], np.float32)
    encoding = Encoding("unit", (2,), scaling, np.array([[0, 0], [1, 7.0]]), np.array([False, True]))
    assert encoding(np.array([[0.5, 0], [1, 1], [0, 3], [0, 7]], np.float32)).tolist() == [
        [0.5, 0],
        [1, pytest.approx(1 / 3)],
        [0, pytest.approx(2 / 3)],
        [0, 1],
    ]
    assert spaces.Box(encoding.low, encoding.high) == spaces.Box(0, 1, (2,))
