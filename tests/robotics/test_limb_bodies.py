"""Bodies of limbs beside steps recorded with the models of huangwl18/modular-rl (benchmarks/parity/)."""

import math
from pathlib import Path

import numpy as np
import pytest

import rlenvs
from rlenvs.core.batch.engines import new_batch
from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.locomotion import limb_bodies, limbs_planar
from rlenvs.robotics.locomotion.limb_graphs import graph_of
from rlenvs.robotics.locomotion.limb_trees import TORSO, Body, adjacency, prune, slots

pytest.importorskip("mujoco", reason="mujoco is not installed: its worlds are not tested")

WORLDS = (limb_bodies.SPEC, limb_bodies.HUMANOIDS, limb_bodies.CHEETAHS, limb_bodies.HOPPERS, limb_bodies.BODIES)
TREES = {world.name: (world, *limb_bodies.TREES[world.name]) for world in WORLDS}
RECORDED = Path(__file__).parent.parent / "data" / "modular_rl.npz"
STEPS, EVERY, SEEN = 40, 8, limb_bodies.SEEN


@pytest.fixture(scope="module")
def recorded():
    with np.load(RECORDED) as rows:
        return dict(rows)


def one_of_each(name, **keywords):
    """A batch with another body in each world."""
    world, _, bodies = TREES[name]
    batch = new_batch(world, len(bodies), **keywords)
    batch.disable_autoreset()
    batch.set_params({"body": np.arange(len(bodies), dtype=float)})
    batch.reset()
    return batch


def joints(places):
    """Where the numbers of a body's joints are in the state."""
    return [0, 1, 2, *(2 + place for place in places[1:])]


def begin(batch, tree, bodies, recorded):
    """Put every body where its record begins."""
    for i, (name, body) in enumerate(bodies.items()):
        state = batch.states[i]
        state["qpos"][:], state["qvel"][:], state["warmstart"][:] = 0.0, 0.0, 0.0
        at = joints(slots(tree, body))
        state["qpos"][at], state["qvel"][at] = recorded[f"{name}/qpos"][0], recorded[f"{name}/qvel"][0]
        state["x"] = state["qpos"][0]
    batch.sync_from_state(np.arange(len(bodies)))


def actions_of(tree, bodies, recorded, k):
    actions = np.zeros((len(bodies), 1, len(tree.limbs) - 1))
    for i, (name, body) in enumerate(bodies.items()):
        actions[i, 0, [place - 1 for place in slots(tree, body)[1:]]] = recorded[f"{name}/actions"][k]
    return actions


@pytest.mark.budget(4)
@pytest.mark.parametrize("name", TREES)
def test_all_bodies_in_one_batch_move_as_the_originals(name, recorded):
    """To rounding in the air; contacts, which the solver ends where the sizes of a model say, carry it up to 1e-6."""
    _, tree, bodies = TREES[name]
    batch = one_of_each(name)
    begin(batch, tree, bodies, recorded)
    for k in range(STEPS):
        batch.load_actions(actions_of(tree, bodies, recorded, k))
        batch.step_inplace()
        assert not batch.terminated.any()
        for i, (own, body) in enumerate(bodies.items()):
            places = slots(tree, body)
            assert abs(batch.terms[i, 0, 0] - recorded[f"{own}/forward"][k]) < 1e-6
            if k % EVERY == EVERY - 1:
                state, row = batch.states[i], k // EVERY
                np.testing.assert_allclose(state["qpos"][joints(places)], recorded[f"{own}/qpos"][row + 1], atol=1e-7)
                np.testing.assert_allclose(state["qvel"][joints(places)], recorded[f"{own}/qvel"][row + 1], atol=1e-5)
                seen = batch.observations[i].reshape(-1)
                limbs = seen[: SEEN * len(tree.limbs)].reshape(-1, SEEN)
                np.testing.assert_allclose(limbs[list(places)], recorded[f"{own}/limbs"][row], atol=1e-5)
                mask = seen[SEEN * len(tree.limbs) :]
                assert set(np.flatnonzero(mask)) == set(places)
                assert not limbs[mask == 0.0].any()


@pytest.mark.parametrize("name", TREES)
def test_models_have_the_masses_of_the_originals(name, recorded):
    from rlenvs.kits.engines.mujoco import compiled

    world, tree, bodies = TREES[name]
    for number, (own, body) in enumerate(bodies.items()):
        setup = new_batch(world, 1, body=float(number), backend="python").setup
        model, at = compiled(world, setup.values), [place + 1 for place in slots(tree, body)]
        np.testing.assert_allclose(model.body_mass[at], recorded[f"{own}/mass"], rtol=1e-12)
        np.testing.assert_allclose(np.sort(model.body_inertia[at]), np.sort(recorded[f"{own}/inertia"]), rtol=1e-9)
        np.testing.assert_array_equal(model.actuator_gear[[place - 2 for place in at[1:]], 0], recorded[f"{own}/gear"])
        absent = [i for i in range(1, model.nbody) if i not in at]
        assert model.body_mass[absent].sum() < 1e-10


def test_names_and_numbers_are_those_of_the_paper():
    counts = {name: len(bodies) for name, (_, _, bodies) in TREES.items()}
    assert counts == {
        "PlanarWalkers-v0": 6,
        "PlanarHumanoids-v0": 8,
        "PlanarCheetahs-v0": 15,
        "PlanarHoppers-v0": 3,
        "PlanarBodies-v0": 32,
    }
    assert limbs_planar.WALKERS["walker_4"].names == (TORSO, "left1", "left2", "right1")
    assert limbs_planar.CHEETAHS["cheetah_4_back"].names == (TORSO, "bthigh", "bshin", "fthigh")
    assert limbs_planar.HOPPERS["hopper_4"].names == (TORSO, "thigh", "leg", "foot")
    for name, (world, _, bodies) in TREES.items():
        assert list(world.levels) == list(bodies), name
        for level, body in bodies.items():
            assert str(len(body.limbs)) in level


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("left1", "left2"), "needs the limb 'torso'"),
        ((TORSO,), "nothing could move it"),
        ((TORSO, "left1", "left3"), "'left3' hangs at 'left2', which is taken out"),
        ((TORSO, "left1", "left1"), "'left1' is named twice"),
        ((TORSO, "arm"), "no limb 'arm'"),
    ],
)
def test_what_is_no_body_is_refused(names, told):
    with pytest.raises(ParameterError, match=told):
        prune(limbs_planar.WALKER, names)


def test_a_body_without_a_place_is_refused():
    body = Body(limbs_planar.CHEETAH, prune(limbs_planar.CHEETAH, (TORSO, "bthigh", "fthigh")))
    with pytest.raises(ParameterError, match="no place"):
        slots(limbs_planar.HOPPER, body)


def test_a_link_that_is_taken_out_of_a_hopper_brings_its_foot_up():
    foot = limbs_planar.HOPPERS["hopper_3"].limbs[-1]
    assert foot.parent == "thigh"
    np.testing.assert_allclose(foot.at, (0.065, 0.0, -0.45))
    assert slots(limbs_planar.HOPPER, limbs_planar.HOPPERS["hopper_3"]) == (0, 1, 2)


def test_adjacency_is_that_of_the_limbs_that_are_there():
    whole, left = adjacency(limbs_planar.WALKER), adjacency(limbs_planar.WALKER, limbs_planar.WALKERS["walker_4"])
    assert whole.sum() == 12
    assert (whole == whole.T).all()
    assert [tuple(pair) for pair in np.argwhere(np.triu(left))] == [(0, 1), (0, 4), (1, 2)]


def test_graphs_of_worlds():
    for name, (_, tree, _) in TREES.items():
        assert (graph_of(name) == adjacency(tree)).all()
    assert graph_of("SpatialCheetahs-v0").sum() == 2 * 13
    with pytest.raises(ParameterError, match="no bodies made of limbs"):
        graph_of("Ant-v0")


def test_rewards_and_ends():
    """Weights, what empty places cost, and the heights of bodies."""
    batch = one_of_each("PlanarWalkers-v0", noise=0.0)
    batch.load_actions(np.full((6, 1, 6), 0.5))
    batch.step_inplace()
    for i in range(6):
        forward, alive, control = batch.terms[i, :, 0]
        assert control == -0.25 * (6 - i)
        assert math.isclose(batch.rewards[i, 0], forward + alive + 0.001 * control)
    for i, highest in enumerate((2.0, 2.0, 2.0, 1.864, 1.74, 1.74)):
        assert batch.setup.data["healthy"][i].tolist() == pytest.approx([highest - 1.2, highest])
        for height, ends in ((highest + 0.01, True), (highest - 0.01, False)):
            batch.reset()
            batch.states[i]["qpos"][1] = height
            batch.sync_from_state(np.array([i]))
            batch.load_actions(np.zeros((6, 1, 6)))
            batch.step_inplace()
            assert batch.terminated[i, 0] == ends
    assert new_batch(limb_bodies.CHEETAHS, 1, backend="python").setup.weights.tolist() == [1.0, 0.0, 0.1]


def test_bodies_of_several_trees_have_places_of_their_own():
    """What limbs are to their bodies, whatever the tree: one place for left thighs, hind thighs and the hopper's."""
    tree, bodies = limb_bodies.TREES["PlanarBodies-v0"]
    names = [limb.name for limb in tree.limbs]
    for body, limb, place in (
        ("walker_7", "right1", "right_thigh"),
        ("humanoid_2d_7_left_leg", "left_upper_arm", "left_upper_arm"),
        ("hopper_5", "foot", "left_toe"),
        ("hopper_3", "foot", "left_shin"),
        ("cheetah_2_front", "fthigh", "right_thigh"),
    ):
        at = slots(tree, bodies[body])[bodies[body].names.index(limb)]
        assert names[at] == place
    cheetahs = [i for i, body in enumerate(bodies.values()) if body.tree is limbs_planar.CHEETAH]
    assert cheetahs == list(range(17, 32))


def test_cheetahs_among_others_are_paid_as_cheetahs():
    mixed, alone = one_of_each("PlanarBodies-v0", noise=0.0), one_of_each("PlanarCheetahs-v0", noise=0.0)
    for batch in (mixed, alone):
        batch.load_actions(np.full_like(batch.actions, 0.1))
        batch.step_inplace()
    np.testing.assert_allclose(mixed.rewards[17:, 0], alone.rewards[:, 0], atol=1e-9)
    assert mixed.rewards[:17, 0].min() > 0.8


def test_a_body_is_drawn_for_each_episode():
    batch = rlenvs.make_batch("PlanarWalkers-v0", 12, randomize={"body": (0.0, 6.0)})
    batch.seed(range(12))
    batch.reset()
    first = {int(mask.sum()) for mask in batch.observations[:, 0, -7:]}
    assert len(first) > 2
    assert first <= set(range(2, 8))


@pytest.mark.budget(4)
@pytest.mark.parametrize("name", TREES)
def test_oscillators_move_bodies_farther_than_idleness(name):
    """Most of the bodies, and all of them together."""
    _, _, bodies = TREES[name]
    found = []
    for share in (1.0, 0.0):
        batch = one_of_each(name)
        batch.seed(list(range(len(bodies))))
        batch.reset()
        total = np.zeros(len(bodies))
        for _ in range(250):
            going = ~batch.over
            batch.load_actions(share * batch.expert_actions())
            batch.step_inplace(only=going)
            total[going] += batch.rewards[going, 0]
        found.append(total)
    assert found[0].mean() > found[1].mean()
    assert (found[0] > found[1]).mean() > 0.6
