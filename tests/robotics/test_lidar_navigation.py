"""Lidar navigation: recorded episodes of JaxMARL's jaxnav, its numbers, maps, refusals and the driver."""

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from support.batches import begun
from support.places import DATA

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.navigation.grid_maps import parse_map
from rlenvs.robotics.navigation.lidar_navigation import SPEC

NAME = "LidarNavigation-v0"
RECORDED = np.load(DATA / "jaxmarl_navigation.npz")
TERMS = tuple(SPEC.terms)
KEYWORDS = {
    "pair": {"agents": 2},
    "four": {"agents": 4, "actions": "discrete", "own_share": 0.25},
    "three": {"agents": 3},
    "caves": {"level": "caves", "own_share": 1.0},
}
SCALE = (2.0, 1.0, 2.0, 1.0, 2.0)  # of the last five numbers of an observation, relative to the original
ROOM = "#####\n#...#\n#...#\n#...#\n#####"


def made(n=1, **keywords):
    batch = rlenvs.make_batch(NAME, n, autoreset=AutoresetMode.DISABLED, threads=1, **keywords)
    batch.seed(range(n))
    batch.reset()
    return batch


def put(batch, **fields):
    """Set fields of the first world's state."""
    s = batch.records(0)[1]
    for name, value in fields.items():
        getattr(s, name)[:] = value
    return s


def terms(batch):
    """The terms of the first world, of each robot, by name."""
    return dict(zip(TERMS, batch.terms[0].tolist(), strict=False))


@pytest.fixture(scope="module")
def rooms():
    """A room of 3 x 3 m for one robot, at rest in its middle, with the goal 0.9 m ahead."""
    batch = made(agents=1, map=ROOM)

    def start(**fields):
        usual = {"place": 2.5, "heading": 0.0, "velocity": 0.0, "goal": [3.4, 2.5], "arrived": False, "crashed": False}
        batch.reset()
        return batch, put(batch, **(usual | fields))

    return start


# --- parity -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", KEYWORDS)
@pytest.mark.budget(4)
def test_recorded_episodes_are_the_same(game):
    """From the recorded start on with the recorded actions alone. The original computes in float32, so motion and
    rewards differ by up to 1e-4, and of the beams one in 2000 may show the point next to the recorded one, or, where it
    passes a corner, another."""
    array = {key.removeprefix(f"{game}_"): RECORDED[key] for key in RECORDED.files if key.startswith(f"{game}_")}
    text = ["".join(".#"[cell] for cell in row) for row in array["walls"][::-1].tolist()]
    batch = made(map=text, **KEYWORDS[game])
    s = put(batch, place=array["place"][0], heading=array["heading"][0], velocity=0.0, goal=array["goal"])
    shares = np.array([1.0, 0.6]) if array["actions"].ndim == 3 else 1
    other = 0
    for t, actions in enumerate(array["actions"]):
        if actions.ndim == 2:  # the batch takes numbers in [-1, 1], of which -1 is a speed of 0
            actions = (actions / shares).clip([0.0, -1.0], 1.0) * [2.0, 1.0] - [1.0, 0.0]
        batch.step(actions[None])
        np.testing.assert_allclose(s.place, array["place"][t + 1], atol=1e-4)
        np.testing.assert_allclose(s.velocity, array["velocity"][t + 1], atol=1e-5)
        np.testing.assert_array_equal(s.arrived, array["arrived"][t + 1])
        np.testing.assert_array_equal(s.crashed, array["crashed"][t + 1])
        np.testing.assert_allclose(batch.rewards[0], array["rewards"][t], atol=1e-4)
        seen = batch.observations[0]
        np.testing.assert_allclose(seen[:, -5:], array["rest"][t + 1] * SCALE, atol=1e-4)
        other += (np.rint((seen[:, :-5] + 1.0) * 59.5) != array["beams"][t + 1]).sum()
    assert other <= array["beams"].size / 2000
    assert batch.terminated.all() == (len(array["actions"]) < 150)


# --- numbers ----------------------------------------------------------------------------------------------------------


def act(batch, speed, turn):
    """Play shares of the limits with one robot."""
    batch.step(np.array([[[2.0 * speed - 1.0, turn]]]))
    return {name: value[0] for name, value in terms(batch).items()}


def test_differential_drive(rooms):
    """1 m/s^2 and 1 rad/s^2, up to 1 m/s and 0.6 rad/s; the robot goes along its old heading."""
    batch, s = rooms(heading=0.5, goal=1.5)
    act(batch, 1.0, 1.0)
    np.testing.assert_allclose(s.velocity, [[0.1, 0.1]])
    np.testing.assert_allclose(s.place, [[2.5 + 0.01 * np.cos(0.5), 2.5 + 0.01 * np.sin(0.5)]])
    np.testing.assert_allclose(s.heading, [0.51])
    put(batch, velocity=[0.95, 0.55], place=2.0)
    act(batch, 1.0, 1.0)
    np.testing.assert_allclose(s.velocity, [[1.0, 0.6]])
    act(batch, 0.0, -1.0)
    np.testing.assert_allclose(s.velocity, [[0.9, 0.5]])


@pytest.mark.parametrize(
    ("place", "goal", "expected", "reward"),
    [
        (2.5, 3.4, {"progress": 0.05, "time": -1.0}, 0.25 * 0.05 - 0.01),
        (2.87, 3.4, {"goal": 1.0, "time": -1.0}, 4.0 - 0.01),
        (3.62, 2.0, {"progress": -0.05, "time": -1.0, "near": -1.0}, -0.25 * 0.05 - 0.01 - 0.1),  # 0.33 m to the wall
        (3.58, 2.0, {"progress": -0.05, "time": -1.0}, -0.25 * 0.05 - 0.01),  # 0.37 m, which a beam shows as 0.403
        (3.72, 2.0, {"progress": -0.05, "time": -1.0, "near": -1.0, "crash": -1.0}, -0.25 * 0.05 - 0.01 - 0.1 - 4.0),
    ],
)
def test_rewards(rooms, place, goal, expected, reward):
    """4 on arrival within 0.5 m, 0.25 per meter, -4 for a crash, -0.01 a step, -0.1 near walls."""
    batch, s = rooms(velocity=[0.5, 0.0], place=[place, 2.5], goal=[goal, 2.5])
    got = act(batch, 0.5, 0.0)
    assert got == pytest.approx(dict.fromkeys(TERMS, 0.0) | expected)
    assert batch.rewards[0, 0] == pytest.approx(reward)
    assert (s.arrived[0], s.crashed[0]) == ("goal" in expected, "crash" in expected)
    assert batch.terminated[0, 0] == ("goal" in expected or "crash" in expected)


def test_random_maps():
    """From none to 23 of 81 cells are walls; starts are 0.45 m away from them and 0.9 m from each other."""
    batch = made(300, agents=3)
    s = batch.states
    walls = s["wall"].reshape(300, 11, 11)[:, 1:-1, 1:-1].sum(axis=(1, 2))
    assert walls.min() <= 1
    assert walls.max() == 23
    for row, places in zip(s["wall"].reshape(300, 11, 11), s["place"], strict=True):
        cells = np.argwhere(row)[None, :, ::-1]
        off = places[:, None] - np.clip(places[:, None], cells, cells + 1)
        assert np.hypot(*off.T).min() > 0.45
        gaps = np.hypot(*(places[:, None] - places[None]).T)[np.triu_indices(3, 1)]
        assert gaps.min() > 0.9


@pytest.mark.parametrize("keywords", [{"body_length": 1.0, "body_width": 1.0}, {"radius": 0.1}])
def test_large_robots_start_off_walls_and_each_other(keywords):
    """A body may be longer than `radius`: it once started in walls, and crashed before it did anything."""
    batch = begun(NAME, 300, **keywords)
    batch.step(np.zeros_like(batch.actions))
    assert not batch.states["crashed"].any()


def test_texts_of_maps():
    """Rows from the last on, starts and goals in the middles of their cells."""
    batch = made(level="corridor")
    s = batch.records(0)[1]
    np.testing.assert_array_equal(s.place, [[1.5, 5.5], [1.5, 1.5]])
    np.testing.assert_array_equal(s.goal, [[8.5, 1.5], [8.5, 5.5]])
    assert s.wall.reshape(7, 10)[1].tolist() == [1, 0, 0, 0, 1, 1, 0, 0, 0, 1]


def test_maps_that_are_given_stay_as_they_are():
    """Caves were once made of them, in which ways were closed."""
    plain, smoothed = made(level="corridor"), made(level="corridor", smoothing=3)
    np.testing.assert_array_equal(plain.states["wall"], smoothed.states["wall"])
    assert (made(smoothing=3).states["wall"] != made().states["wall"]).any()


@pytest.mark.parametrize(
    ("keywords", "said"),
    [
        ({"map": "###\n#.#\n####"}, "same length"),
        ({"map": "##\n##"}, "3 to 64"),
        ({"map": "####\n#..#\n#...\n####"}, "must be '#'"),
        ({"map": "#####\n#A..#\n#..a#\n#b..#\n#####"}, "consists of"),
        ({"map": "#####\n#A.x#\n#..a#\n#####"}, "consists of"),
        ({"map": "#####\n#A..#\n#..a#\n#####"}, "starts for 1"),
        ({"map": "#######\n#A.#.a#\n#..#..#\n#######", "agents": 1}, "no way"),
        ({"map": "####\n#..#\n####"}, "4 m"),
        ({"agents": 26, "height": 5, "width": 5}, "4 m"),
        ({"map": "#########\n#.#.#.#.#\n####.####\n#########", "agents": 1, "cell": 0.5, "body_length": 1.0}, "need"),
    ],
)
def test_maps_that_are_none_are_refused(keywords, said):
    with pytest.raises(ParameterError, match=said):
        rlenvs.make_batch(NAME, 1, **keywords)


def test_rows_of_a_map():
    assert parse_map(["###", "#.#", "###"]) == ("###", "#.#", "###")


@pytest.mark.parametrize(("level", "least"), [("single", 0.9), ("cross", 0.95), ("layby", 0.7)])
@pytest.mark.budget(10)
def test_driver_arrives(level, least):
    """Nearly always; in the layby a robot has to let the other one pass."""
    batch = begun(NAME, 20, level=level)
    success = np.zeros((20, batch.agents), bool)
    going = np.ones(20, bool)
    while going.any():
        batch.step(batch.expert_actions())
        success[going] = batch.success[going]
        going &= ~(batch.terminated | batch.truncated).all(axis=1)
    assert success.mean() >= least
