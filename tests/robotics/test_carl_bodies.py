"""CARL's contexts of the robots (of Brax and dm_control): each parameter reaches the model, and the motion."""

import math

import numpy as np
import pytest

import rlenvs
from rlenvs.core.catalogue.registry import world_of
from rlenvs.robotics.locomotion.robots import SURROUNDINGS

mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed: its worlds are not tested")
pytestmark = pytest.mark.filterwarnings("ignore:compiler attribute")

LEGGED = ("Hopper-v0", "Walker2d-v0", "HalfCheetah-v0", "Ant-v0", "Humanoid-v0")
ROBOTS = (*LEGGED, "Swimmer-v0")
AIR = {"air": 5.0}


def model_of(id, **values):
    return rlenvs.make_batch(id, 1, **values).engine.model


@pytest.mark.parametrize("id", ROBOTS)
def test_springs_are_added_to_all_joints_but_those_that_move_the_torso(id):
    usual, own = model_of(id), model_of(id, stiffness=7.0)
    moving = model_of(id).body("torso").jntnum[0]
    added = (own.jnt_stiffness - usual.jnt_stiffness).reshape(own.njnt, -1)[:, 0]
    assert added.tolist() == pytest.approx([0.0] * moving + [7.0] * (own.njnt - moving))


@pytest.mark.parametrize("id", LEGGED)
def test_damping_multiplies_and_the_air_is_that_of_the_model(id):
    usual = model_of(id)
    own = model_of(id, damping=2.0, air=3.0, viscosity=0.1, wind_x=4.0, wind_z=-1.0, gravity=5.0)
    np.testing.assert_allclose(own.dof_damping, 2.0 * usual.dof_damping)
    assert (usual.opt.density, usual.opt.viscosity, usual.opt.wind.tolist()) == (0.0, 0.0, [0.0, 0.0, 0.0])
    assert (own.opt.density, own.opt.viscosity, own.opt.wind.tolist()) == (3.0, 0.1, [4.0, 0.0, -1.0])
    assert own.opt.gravity.tolist() == [0.0, 0.0, -5.0]


def ends(batch, steps=15):
    """Positions after the same random steps from the same start in all worlds."""
    generator = np.random.default_rng(0)
    batch.seed([5] * batch.num_envs)
    batch.reset()
    for _ in range(steps):
        batch.step(np.tile(generator.uniform(-1.0, 1.0, batch.actions.shape[1:]), (batch.num_envs, 1, 1)))
    return batch.states["qpos"].copy()


@pytest.mark.parametrize("id", ROBOTS)
def test_worlds_of_a_batch_have_their_own(id):
    """In one batch every world is the world alone, and all differ."""
    names = [name for name in SURROUNDINGS if name in world_of(id).params]
    given = [{}, *({name: 0.15 if name == "viscosity" else 1.0} for name in names), {"damping": 1.5}]
    rows = [
        {**(AIR if name_of(values).startswith("wind") and id != "Swimmer-v0" else {}), **values} for values in given
    ]
    every = sorted({name for row in rows for name in row})
    usual = {name: world_of(id).params[name].default for name in every}
    own = {name: np.array([row.get(name, usual[name]) for row in rows]) for name in every}
    choices = {"ends_when_unhealthy": False} if "ends_when_unhealthy" in world_of(id).options else {}
    together = ends(rlenvs.make_batch(id, len(rows), **choices, **own))
    assert (np.abs(together[1:] - together[0]).max(axis=1) > 1e-6).all()
    for k in (0, 1, len(rows) - 2):
        assert (together[k] == ends(rlenvs.make_batch(id, 1, **choices, **rows[k]))[0]).all()


def name_of(values):
    return next(iter(values), "")


@pytest.mark.parametrize("id", LEGGED)
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_wind_pushes_along_its_direction(id, sign):
    choices = {"ends_when_unhealthy": False} if "ends_when_unhealthy" in world_of(id).options else {}
    places = []
    for wind in (0.0, 10.0 * sign):
        batch = rlenvs.make_batch(id, 1, noise=0.0, air=5.0, wind_x=wind, **choices)
        batch.seed(0)
        batch.reset()
        for _ in range(10):
            batch.step(np.zeros(batch.actions.shape))
        places.append(batch.states["qpos"][0, 0])
    assert sign * (places[1] - places[0]) > 1e-3


@pytest.mark.parametrize(("id", "level"), [("Ant-v0", "mo-gymnasium"), ("Humanoid-v0", None)])
def test_forward_is_along_the_heading(id, level):
    terms, headings = {}, (0.0, 0.5 * math.pi, math.pi)
    for heading in headings:
        batch = rlenvs.make_batch(id, 1, heading=heading, ends_when_unhealthy=False, level=level)
        generator = np.random.default_rng(2)
        batch.seed(2)
        batch.reset()
        rows = []
        for _ in range(8):
            batch.step(generator.uniform(-0.4, 0.4, batch.actions.shape))
            rows.append(dict(zip(batch.world.terms, batch.terms[0, :, 0].tolist(), strict=False)))
        terms[heading] = rows
    for east, north, west in zip(*(terms[heading] for heading in headings), strict=True):
        if level:  # what all terms contain is the same
            both = 0.5 * (east["forward"] + west["forward"])
            assert north["forward"] == pytest.approx(east["sideways"], abs=1e-9)
            assert north["sideways"] - both == pytest.approx(both - east["forward"], abs=1e-9)
        else:
            assert west["forward"] == pytest.approx(-east["forward"], abs=1e-9)
            assert abs(north["forward"]) != pytest.approx(abs(east["forward"]), abs=1e-6)
