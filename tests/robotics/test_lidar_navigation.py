"""Lidar navigation: recorded episodes of JaxMARL's jaxnav, its numbers, maps, refusals and the driver."""

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
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
        return batch, put(batch, **(usual | fields))

    return start


# --- parity -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", KEYWORDS)
def test_recorded_episodes_are_the_same(game):
    """From the recorded start on with the recorded actions alone. The original computes in float32, so motion and
    rewards differ by up to 1e-4, and of the beams one in 2000 may show the point next to the recorded one, or, where it
    passes a corner, another."""
    array = {key.removeprefix(f"{game}_"): RECORDED[key] for key in RECORDED.files if key.startswith(f"{game}_")}
    text = ["".join(".#"[cell] for cell in row) for row in array["walls"].tolist()]
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
    print(game, other, array["beams"].size, array["crashed"].sum(axis=0), array["arrived"].sum(axis=0))
