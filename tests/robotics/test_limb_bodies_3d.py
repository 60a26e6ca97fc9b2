"""Bodies of limbs in three dimensions beside steps recorded with the models of alpc91/SGRL (benchmarks/parity/)."""

import math
from pathlib import Path

import numpy as np
import pytest

from rlenvs.core.batch.engines import new_batch
from rlenvs.robotics.locomotion import limb_bodies_3d, limbs_spatial
from rlenvs.robotics.locomotion.limb_trees import slots

pytest.importorskip("mujoco", reason="mujoco is not installed: its worlds are not tested")

WORLDS = (
    limb_bodies_3d.SPEC,
    limb_bodies_3d.HUMANOIDS,
    limb_bodies_3d.CHEETAHS,
    limb_bodies_3d.HOPPERS,
    limb_bodies_3d.BODIES,
)
TREES = {world.name: (world, *limb_bodies_3d.TREES[world.name]) for world in WORLDS}
RECORDED = Path(__file__).parent.parent / "data" / "sgrl.npz"
STEPS, EVERY, SEEN, TARGET = 24, 8, limb_bodies_3d.SEEN, (30.0, -40.0)


@pytest.fixture(scope="module")
def recorded():
    with np.load(RECORDED) as rows:
        return dict(rows)


def one_of_each(name, **keywords):
    """A batch with another body in each world, which steps on by hand."""
    world, _, bodies = TREES[name]
    batch = new_batch(world, len(bodies), **keywords)
    batch.disable_autoreset()
    batch.set_params({"body": np.arange(len(bodies), dtype=float)})
    batch.reset()
    return batch


def hinges(places, first):
    """Where the numbers of a body's hinges are, behind the first ones of its torso."""
    return [*range(first), *(first + 3 * (place - 1) + k for place in places[1:] for k in range(3))]


def begin(batch, tree, bodies, recorded):
    """Put every body where its record begins."""
    for i, (name, body) in enumerate(bodies.items()):
        state, places = batch.states[i], slots(tree, body)
        state["qpos"][:], state["qvel"][:], state["warmstart"][:] = 0.0, 0.0, 0.0
        state["qpos"][hinges(places, 7)] = recorded[f"{name}/qpos"][0]
        state["qvel"][hinges(places, 6)] = recorded[f"{name}/qvel"][0]
        state["turn"][0] = state["qpos"][3:7]
        state["target"][:] = TARGET
    batch.sync_from_state(np.arange(len(bodies)))


@pytest.mark.budget(6)
@pytest.mark.parametrize("name", TREES)
def test_all_bodies_in_one_batch_move_as_the_originals(name, recorded):
    """To rounding in the air; contacts carry it up to 1e-5."""
    _, tree, bodies = TREES[name]
    batch = one_of_each(name)
    begin(batch, tree, bodies, recorded)
    compared = np.zeros(len(bodies), int)
    for k in range(STEPS):
        actions = np.zeros((len(bodies), 1, 3 * (len(tree.limbs) - 1)))
        for i, (own, body) in enumerate(bodies.items()):
            actions[i, 0, hinges(slots(tree, body), 0)] = recorded[f"{own}/actions"][k]
        batch.load_actions(actions)
        batch.step_inplace(only=~batch.over)
        for i, (own, body) in enumerate(bodies.items()):
            places = list(slots(tree, body))
            if batch.over[i]:
                continue
            paid = recorded[f"{own}/paid"][k] * (1.0, batch.setup.data["ahead"][i])
            np.testing.assert_allclose(batch.terms[i, :2, 0], paid, atol=1e-5)
            if k % EVERY == EVERY - 1:
                state, row = batch.states[i], k // EVERY
                qpos, qvel = recorded[f"{own}/qpos"][row + 1], recorded[f"{own}/qvel"][row + 1]
                np.testing.assert_allclose(state["qpos"][hinges(places, 7)], qpos, atol=1e-6)
                np.testing.assert_allclose(state["qvel"][hinges(places, 6)], qvel, atol=1e-4)
                seen = batch.observations[i].reshape(-1)
                limbs = seen[: SEEN * len(tree.limbs)].reshape(-1, SEEN)
                np.testing.assert_allclose(limbs[places], recorded[f"{own}/limbs"][row], atol=1e-4)
                mask = seen[SEEN * len(tree.limbs) :]
                assert np.flatnonzero(mask).tolist() == sorted(places)
                assert not limbs[mask == 0.0].any()
        compared += ~batch.over
    assert compared.min() >= EVERY


@pytest.mark.parametrize("name", TREES)
def test_models_have_the_masses_of_the_originals(name, recorded):
    from rlenvs.kits.engines.mujoco import compiled

    world, tree, bodies = TREES[name]
    for number, (own, body) in enumerate(bodies.items()):
        setup = new_batch(world, 1, body=float(number), backend="python").setup
        model, places = compiled(world, setup.values), slots(tree, body)
        at = [place + 1 for place in places]
        np.testing.assert_allclose(model.body_mass[at], recorded[f"{own}/mass"], rtol=1e-12)
        np.testing.assert_allclose(np.sort(model.body_inertia[at]), np.sort(recorded[f"{own}/inertia"]), rtol=1e-9)
        np.testing.assert_array_equal(model.actuator_gear[hinges(places, 0), 0], recorded[f"{own}/gear"])


def test_sets_are_those_of_the_paper():
    """Six and two, six and two, eight and two, three and none, and all of them."""
    counts = []
    for world, _, bodies in TREES.values():
        held = limbs_spatial.HELD_OUT & set(bodies)
        counts.append((len(bodies) - len(held), len(held)))
        assert list(world.levels) == list(bodies)
        assert all(str(len(body.limbs)) in name.removeprefix("3d_") for name, body in bodies.items())
    assert counts == [(6, 2), (6, 2), (8, 2), (3, 0), (23, 6)]


def test_weights():
    found = [new_batch(world, 1, backend="python").setup.weights.tolist() for world in WORLDS[:4]]
    assert found == [[1.0, 1.0, 1.0, 0.001], [1.0, 1.0, 1.0, 0.001], [1.0, 1.0, 0.0, 0.001], [1.0, 0.0, 1.0, 0.001]]


@pytest.mark.parametrize("name", [name for name in TREES if name != "SpatialBodies-v0"])
def test_bodies_among_others_are_paid_as_among_their_like(name):
    first = list(TREES["SpatialBodies-v0"][2]).index(next(iter(TREES[name][2])))
    mixed, alone = one_of_each("SpatialBodies-v0", noise=0.0), one_of_each(name, noise=0.0)
    for batch in (mixed, alone):
        batch.states["target"][:] = TARGET
        batch.states["qpos"][:, 3:7] = turned((0.0, 0.0, 1.0), 0.7)
        batch.states["qvel"][:, :2] = 1.5, -0.5
        batch.sync_from_state(np.arange(batch.num_envs))
        batch.load_actions(np.full_like(batch.actions, 0.1))
        batch.step_inplace()
    own = mixed.rewards[first : first + alone.num_envs, 0]
    np.testing.assert_allclose(own, alone.rewards[:, 0], atol=1e-9)


def turned(axis, angle):
    return [math.cos(0.5 * angle), *(math.sin(0.5 * angle) * part for part in axis)]


@pytest.mark.parametrize(
    ("name", "limit", "axes"),
    [
        ("SpatialWalkers-v0", 1.0, ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))),
        ("SpatialCheetahs-v0", 1.35, ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))),
        ("SpatialHoppers-v0", 1.0, ((math.sqrt(0.5), math.sqrt(0.5), 0.0),)),
    ],
)
def test_a_body_that_leans_too_far_has_fallen(name, limit, axes):
    world = TREES[name][0]
    for axis in axes:
        for angle, falls in ((limit - 0.05, False), (limit + 0.05, True)):
            batch = new_batch(world, 1, backend="python", gravity=1.0)
            batch.disable_autoreset()
            batch.reset()
            state = batch.states[0]
            state["qpos"][2], state["qpos"][3:7] = 1.7, turned(axis, angle)
            state["qvel"][:] = 0.0
            state["qvel"][0] = 2.0  # cheetahs may not stall
            batch.sync_from_state(np.array([0]))
            batch.load_actions(np.zeros_like(batch.actions))
            batch.step_inplace()
            assert batch.terminated[0, 0] == falls


def test_cheetahs_may_not_stall_nor_sink():
    batch = new_batch(limb_bodies_3d.CHEETAHS, 1, backend="python", noise=0.0)
    batch.reset()
    p, s = batch.records(0)
    s["qvel"][:] = 0.0
    for speed, torso, thigh, healthy in ((1.01, 0.7, 0.7, True), (0.99, 0.7, 0.7, False), (2.0, 0.25, 0.7, False)):
        s["qvel"][0], s["qpos"][2] = speed, torso
        places = [name.endswith("fthigh") for name in limbs_spatial.CHEETAHS["3d_cheetah_14_full"].names]
        s["place"][places, 2] = thigh
        assert limb_bodies_3d.is_healthy(p, s) == healthy
    s["qpos"][2], s["place"][places, 2] = 0.7, 0.25
    assert not limb_bodies_3d.is_healthy(p, s)


def test_a_target_that_is_reached_is_replaced():
    batch = new_batch(limb_bodies_3d.SPEC, 1, backend="python", nearest=10.0, farthest=20.0)
    batch.disable_autoreset()
    batch.reset()
    state = batch.states[0]
    assert 10.0 <= math.dist(state["target"], state["qpos"][:2]) <= 20.0 + 1e-9
    state["target"][:] = state["qpos"][:2] + 0.5
    batch.load_actions(np.zeros_like(batch.actions))
    batch.step_inplace()
    assert 10.0 <= math.dist(state["target"], state["qpos"][:2]) <= 20.0 + 1e-9
