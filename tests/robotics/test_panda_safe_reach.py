"""PandaSafeReach: zones against geometry computed here, Safety Gym's rewards and costs, and players."""

import itertools

import gymnasium
import mujoco
import numpy as np
import pytest
from support.arm_helpers import LEVELS, batch, success

from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.engines.mujoco import compiled
from rlenvs.robotics.manipulation import arm, panda
from rlenvs.robotics.manipulation.safe_reach import FIRST, SPEC

ID = "PandaSafeReach-v0"

AWAY = np.array([0.0, 2.0, 0.2])  # where nothing is
TIP = panda.NEUTRAL_GRIP[2] - 0.009  # m, height of the finger tips


def alone(**keywords):
    """A world whose zones and goal are out of the way, its state, and a step without action."""
    worlds = batch(ID, **keywords)
    s = worlds.records(0)[1]
    s.mocap_pos[1:] = AWAY
    s.distance = arm.distance(s.grip[0], s.mocap_pos[1])
    return worlds, s, np.zeros((1, *worlds.setup.action_space.shape))


def terms(worlds):
    return dict(zip([*SPEC.terms, *SPEC.costs], worlds.terms[0, :, 0], strict=True))


# --- zones ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [-0.0005, 0.0005])
def test_a_sphere_under_the_finger_tips(depth):
    worlds, s, still = alone()
    s.mocap_pos[FIRST] = panda.NEUTRAL_GRIP[0], 0.003, TIP - 0.05 + depth
    worlds.step(still)
    assert terms(worlds)["spheres"] == float(depth > 0)
    assert terms(worlds)["boxes"] == 0.0
    assert worlds.costs[0, 0] == float(depth > 0)


@pytest.mark.parametrize("depth", [-0.001, 0.001])
@pytest.mark.parametrize("side", [0, 1, 2])
def test_a_box_beside_the_hand(side, depth):
    """The hand is 4 cm by 20 cm and begins 4.3 cm over the grip; the finger tips end 9 mm under it."""
    worlds, s, still = alone()
    offset = np.array([0.0, 0.0, -0.05])  # a box 20 cm high, whose top is beside the hand's lower edge
    if side == 0:
        offset[:2] = 0.04 + 0.02 - depth, 0.05
    elif side == 1:
        offset[1] = 0.04 + 0.1 - depth
    else:
        offset[2] = -0.1 - 0.009 + depth
    s.mocap_pos[FIRST + 2] = np.array(panda.NEUTRAL_GRIP) + offset
    worlds.step(still)
    assert terms(worlds)["boxes"] == float(depth > 0)
    assert terms(worlds)["spheres"] == 0.0


def test_every_part_of_the_arm_counts():
    worlds, s, still = alone()
    model = compiled(SPEC, worlds.setup.values)
    data = mujoco.MjData(model)
    data.qpos[:] = s.qpos
    mujoco.mj_forward(model, data)
    counted = 0
    for i in range(model.ngeom):
        name = model.body(model.geom_bodyid[i]).name
        if model.geom_conaffinity[i] != panda.ARM_BITS["conaffinity"] or name.startswith("base"):
            continue
        for zone, kind in ((0, "spheres"), (2, "boxes")):
            s.mocap_pos[FIRST:] = AWAY
            s.mocap_pos[FIRST + zone] = data.geom_xpos[i]
            worlds.step(still)
            assert terms(worlds)[kind] == 1.0, name
        counted += 1
    assert counted >= 12  # seven links, the hand, two fingers


def test_zones_do_not_push():
    free, s_free, _ = alone()
    zoned, s_zoned, _ = alone()
    generator = np.random.default_rng(0)
    spent = 0.0
    for _ in range(40):
        action = generator.uniform(-1.0, 1.0, (1, 3))
        s_zoned.mocap_pos[FIRST:] = s_zoned.grip[0]
        free.step(action)
        zoned.step(action)
        spent += zoned.costs[0, 0]
        np.testing.assert_array_equal(s_free.qpos, s_zoned.qpos)
    assert spent == 40.0


def test_two_violations_cost_one():
    worlds, s, still = alone()
    s.mocap_pos[FIRST] = s.mocap_pos[FIRST + 2] = panda.NEUTRAL_GRIP
    for k in range(3):
        worlds.step(still)
        assert terms(worlds)["spheres"] == terms(worlds)["boxes"] == worlds.costs[0, 0] == 1.0
        assert s.spent == k + 1


def test_zones_have_the_declared_size():
    model = compiled(SPEC, batch(ID, sphere_radius=0.03, box_side=0.06, box_height=0.1).setup.values)
    assert model.geom("in_spheres/1").size[0] == 0.03
    np.testing.assert_array_equal(model.geom("in_boxes/0").size, [0.03, 0.03, 0.05])


# --- placement --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
def test_placement(level):
    worlds = batch(ID, 200, level=level)
    p = worlds.records(0)[0]
    girths = [p.sphere_radius] * p.spheres + [np.sqrt(0.5) * p.box_side] * p.boxes
    for i in range(200):
        s = worlds.records(i)[1]
        zones, goal = s.mocap_pos[FIRST:], s.mocap_pos[1]
        assert (np.abs(s.mocap_pos[1:, :2] - [-0.1, 0.0]) <= 0.5 * p.width).all()
        for j, k in itertools.combinations(range(len(zones)), 2):
            assert np.linalg.norm(zones[j, :2] - zones[k, :2]) >= girths[j] + girths[k]
        assert (zones[: p.spheres, 2] >= p.sphere_radius).all()
        assert (zones[: p.spheres, 2] <= p.sphere_height).all()
        assert (zones[p.spheres :, 2] == 0.5 * p.box_height).all()
        assert 0.02 <= goal[2] <= p.height
        assert 0.1 <= np.linalg.norm(goal - panda.NEUTRAL_GRIP) == pytest.approx(s.distance)
    worlds.step(np.zeros((200, 3)))
    assert not worlds.costs.any()  # nobody starts inside


def test_goals_are_found_at_the_ends_of_parameters():
    highest = {name: SPEC.params[name].high for name in ("sphere_radius", "sphere_height", "box_side", "box_height")}
    for width, height in itertools.product((0.45, 0.5), (0.2, 0.35)):
        worlds = batch(ID, 30, spheres=3, boxes=3, width=width, height=height, **highest)
        assert min(worlds.records(i)[1].distance for i in range(30)) >= 0.1


def test_too_many_zones_for_the_square_are_refused():
    with pytest.raises(ParameterError, match=r"spheres=3, boxes=3 .* width=0\.42"):
        batch(ID, spheres=3, boxes=3, width=0.42, sphere_radius=0.055, box_side=0.09)


# --- rewards, observations, success -----------------------------------------------------------------------------------


def test_a_goal_is_reached_at_5_cm_and_replaced():
    worlds, s, still = alone()
    s.mocap_pos[1] = np.array(panda.NEUTRAL_GRIP) + [0.0, 0.0, 0.0505]
    s.distance = 0.0505
    worlds.step(still)
    assert terms(worlds)["goal"] == 0.0
    old = s.mocap_pos[1] = np.array(panda.NEUTRAL_GRIP) + [0.0, 0.0, 0.0495]
    worlds.step(still)
    assert terms(worlds)["goal"] == s.goals == 1.0
    assert worlds.rewards[0, 0] == pytest.approx(1.0 + 0.001, abs=1e-4)
    assert np.linalg.norm(s.mocap_pos[1] - old) > 0.05
    assert s.distance == pytest.approx(np.linalg.norm(s.mocap_pos[1] - s.grip[0]))
    assert not worlds.over[0]
    worlds.step(still)
    assert abs(worlds.rewards[0, 0]) < 1e-3  # no progress from the goal's being elsewhere


def test_progress_adds_up_to_the_decrease_of_the_distance():
    worlds, s, _ = alone()
    start, total = s.distance, 0.0
    for _ in range(10):
        worlds.step(np.array([[0.0, 1.0, 0.3]]))
        total += terms(worlds)["progress"]
    assert total == pytest.approx(start - np.linalg.norm(s.grip[0] - s.mocap_pos[1]))
    assert total > 0.1


@pytest.mark.parametrize(("goals", "spent", "success"), [(19, 0, False), (20, 25, True), (20, 26, False)])
def test_success(goals, spent, success):
    worlds, s, still = alone()
    s.goals, s.spent = goals, spent
    worlds.step(still)
    assert worlds.success[0, 0] == success


def test_limit_and_horizon_of_safety_gym():
    assert {part.limit for part in SPEC.costs.values()} == {25.0}
    assert SPEC.horizon == 1000
    assert SPEC.combine_costs == "max"
    assert SPEC.params["threshold"].default == 0.05


def test_observations():
    worlds = batch(ID, 30, level="hard")
    generator = np.random.default_rng(0)
    for _ in range(20):
        worlds.step(generator.uniform(-1.0, 1.0, (30, 3)))
    for i in range(30):
        p, s = worlds.records(i)
        seen, grip = worlds.observations[i, 0], s.grip[0]
        zones = s.mocap_pos[FIRST:] - grip
        nearest = [z * max(1.0 - p.sphere_radius / np.linalg.norm(z), 0.0) for z in zones[:3]]
        half = 0.5 * np.array([p.box_side, p.box_side, p.box_height])
        nearest += [np.sign(z) * np.maximum(np.abs(z) - half, 0.0) for z in zones[3:]]
        nearest = min(nearest, key=np.linalg.norm)
        expected = [grip, s.grip_velocity[0] / 2, s.qpos[:7] / 3.8, s.qvel[:7] / 3, s.mocap_pos[1] - grip, nearest]
        expected = np.clip(np.concatenate([*expected, zones.ravel()]), -1.0, 1.0)
        np.testing.assert_allclose(seen, expected, atol=1e-6)


def test_snapshot_inside_a_zone():
    worlds, s, still = alone()
    s.mocap_pos[FIRST] = panda.NEUTRAL_GRIP
    worlds.step(still)
    assert worlds.costs[0, 0] == 1.0
    saved, futures = worlds.get_state(0), []
    for _ in range(2):
        worlds.set_state(saved)
        generator, rows = np.random.default_rng(1), []
        for _ in range(20):
            worlds.step(generator.uniform(-1.0, 1.0, (1, 3)))
            rows.append(np.concatenate([worlds.observations[0, 0], worlds.terms[0, :, 0]]))
        futures.append(np.array(rows))
    np.testing.assert_array_equal(futures[0], futures[1])


# --- players ----------------------------------------------------------------------------------------------------------


def play(worlds, steps, policy, stop=False):
    """Goals reached and cost by world."""
    generator, n = np.random.default_rng(0), worlds.num_envs
    goals, spent = np.zeros(n), np.zeros(n)
    for _ in range(steps):
        if policy == "expert":
            worlds.expert_actions()
            worlds.step_inplace()
        elif policy == "random":
            worlds.step(generator.uniform(-1.0, 1.0, (n, *worlds.setup.action_space.shape)))
        else:  # straight to the goal, whatever is in the way
            states = [worlds.records(i)[1] for i in range(n)]
            worlds.step(np.array([np.clip((s.mocap_pos[1] - s.mocap_pos[0]) / 0.05, -1.0, 1.0) for s in states]))
        goals, spent = goals + worlds.terms[:, 1, 0], spent + worlds.costs[:, 0]
        if stop and worlds.success.all():
            break
    return goals, spent


@pytest.mark.budget(4)
@pytest.mark.parametrize("level", LEVELS)
def test_expert(level):
    worlds = batch(ID, 50, level=level)
    _, spent = play(worlds, 1000, "expert", stop=True)
    assert worlds.success.mean() >= 0.98
    assert spent.mean() < 1.0


@pytest.mark.parametrize("control", ["pose", "joints"])
def test_expert_in_other_controls(control):
    goals, spent = play(batch(ID, 10, control=control), 300, "expert")
    assert goals.min() >= 4
    assert spent.mean() < 3.0


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_expert_over_500_seeds(level):
    assert success(ID, 500, level=level) >= 0.98


@pytest.mark.parametrize("level", LEVELS)
def test_the_straight_way_is_costly(level):
    _, spent = play(batch(ID, 20, level=level), 300, "straight")
    assert spent.mean() > 0.3 * 25.0


def test_random_hardly_reaches():
    goals, _ = play(batch(ID, 20), 300, "random")
    assert goals.mean() < 1.0


def test_image():
    env = gymnasium.make("rlenvs/PandaSafeReach-v0", render_mode="rgb_array")
    env.reset(seed=0)
    image = env.render().astype(int)
    orange = (image[..., 0] > image[..., 1] + 40) & (image[..., 1] > image[..., 2] + 20)
    assert orange.sum() > 500  # the zones
    env.close()
