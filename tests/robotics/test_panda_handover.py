"""PandaHandover: who reaches what, who holds the bar, costs, teams, bad input, the expert."""

import numpy as np
import pettingzoo.test as kit
import pytest
from support.arm_helpers import LEVELS, batch, simulation, states, success

import rlenvs
from rlenvs.agents.evaluate import evaluate
from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.manipulation import handover, panda
from rlenvs.robotics.manipulation.handover import BAR, SPEC, along, holds, to_handle

mujoco = pytest.importorskip("mujoco")
ID = "PandaHandover-v0"

TERMS, COSTS = list(SPEC.terms), [*SPEC.terms, *SPEC.costs]


def play(worlds, until, most=100):
    """Let the expert play world 0 until something holds; that it happens is part of the test."""
    for _ in range(most):
        worlds.step(worlds.expert_actions())
        if until(*worlds.records(0)):
            return
    pytest.fail("it did not happen")


def given(p, s):
    return holds(s, 0) and s.bar[2] > 0.2


def handed(p, s):
    return holds(s, 1) and not holds(s, 0)


def idle(worlds, steps, **fingers):
    """No motion; fingers={k: value} moves the fingers of arm k."""
    actions = np.zeros_like(worlds.actions)
    for k, value in fingers.items():
        actions[:, int(k[-1]), -1] = value
    for _ in range(steps):
        worlds.step(actions)


def steer(worlds, k, target, steps=40):
    """Bring hand k to a place; returns where it is then."""
    for _ in range(steps):
        s = worlds.records(0)[1]
        actions = np.zeros_like(worlds.actions)
        actions[0, k, :3] = np.clip((target - s.mocap_pos[k]) / 0.05, -1, 1)
        worlds.step(actions)
    return worlds.records(0)[1].grip[k].copy()


# --- two arms ---------------------------------------------------------------------------------------------------------


def test_arms_mirror_each_other():
    """The second arm stands at (0.9, 0, 0), turned by half a turn, and does the mirrored thing in the mirrored time."""
    worlds = batch(ID)
    s = worlds.records(0)[1]
    mirrored = [1.5 - 0.6 - 0.6, 0.0, 0.0] + s.grip[0] * [-1.0, -1.0, 1.0]
    np.testing.assert_allclose(s.grip[1], mirrored, atol=1e-9)
    np.testing.assert_allclose(s.mocap_pos[:2], s.grip, atol=1e-12)
    actions = np.zeros_like(worlds.actions)
    for t in range(12):
        actions[0, 0, :3] = 0.8, 0.5, 0.3 * (-1) ** t
        actions[0, 1, :3] = -0.8, -0.5, 0.3 * (-1) ** t
        actions[0, :, 3] = -1.0
        worlds.step(-actions)
    s = worlds.records(0)[1]
    # exact but for the least bits of the bases' attitudes and of the solver
    np.testing.assert_allclose(s.grip[1], [0.3, 0.0, 0.0] + s.grip[0] * [-1.0, -1.0, 1.0], atol=1e-6)
    np.testing.assert_allclose(s.qpos[9:18], s.qpos[:9], atol=1e-6)
    assert np.ptp([0.03843966, s.grip[0, 0]]) > 0.1


def test_hands_stand_still():
    worlds = batch(ID)
    before = states(worlds)[0].grip.copy()
    idle(worlds, 50)
    np.testing.assert_allclose(states(worlds)[0].grip, before, atol=5e-4)


def test_readings_belong_to_their_arms():
    worlds = batch(ID)
    actions = np.zeros_like(worlds.actions)
    actions[0, 1, 1] = 1.0
    for _ in range(5):
        worlds.step(actions)
    s = worlds.records(0)[1]
    model, data = worlds.engine.model, simulation(worlds)
    for k in range(2):
        np.testing.assert_allclose(s.grip[k], data.site_xpos[model.site(f"grip/{k}").id], atol=1e-12)
    assert s.grip_velocity[1, 1] > 0.3
    assert abs(s.grip_velocity[0]).max() < 0.05


def test_touch_readings_belong_to_their_fingers():
    worlds = batch(ID, touch=True)
    play(worlds, given)
    idle(worlds, 10)
    s = worlds.records(0)[1]
    assert s.touch[:2].min() > 10.0
    assert abs(s.touch[2:]).max() == 0.0
    assert s.force[0, 2] == pytest.approx(0.1 * 9.81, abs=0.1)  # the hand bears the bar
    assert abs(s.force[1]).max() == 0.0


def test_giver_cannot_reach_what_lies_behind_its_reach():
    """With the fingers down no pull brings the grip farther than 0.24 m, at any height of a goal."""
    for height in (0.1, 0.25):
        reached = steer(batch(ID), 0, np.array([0.5, 0.0, height]))
        assert handover.GIVER_REACH - 0.03 < reached[0] <= handover.GIVER_REACH


def test_receiver_cannot_reach_the_bar_where_it_lies():
    for seed in range(3):
        worlds = batch(ID, seed=seed)
        s = worlds.records(0)[1]
        reached = steer(worlds, 1, np.array([s.bar[0], s.bar[1], 0.05]))
        assert reached[0] > s.bar[0] + 0.09 + 0.01


@pytest.mark.parametrize("level", LEVELS)
def test_starts(level):
    worlds = batch(ID, 300, level=level)
    values = worlds.setup.values
    bars = np.array([s.bar for s in states(worlds)])
    goals = np.array([s.goal for s in states(worlds)])
    turns = [2.0 * np.arctan2(s.bar_attitude[3], s.bar_attitude[0]) for s in states(worlds)]
    half = 0.5 * values.start_width
    np.testing.assert_allclose(bars[:, 2], 0.5 * values.width, atol=1e-9)
    for axis, (low, high) in enumerate([(-0.13 - half, -0.13 + half), (-half, half)]):
        assert low <= bars[:, axis].min() < low + 0.01
        assert high >= bars[:, axis].max() > high - 0.01
    nearest = 0.24 + 0.5 * values.length + values.threshold
    boxes = [(nearest, 0.15 + values.goal_distance), (-0.5 * values.goal_width, 0.5 * values.goal_width)]
    for axis, (low, high) in enumerate([*boxes, (0.05, values.goal_height)]):
        assert low <= goals[:, axis].min() < low + 0.04 * (high - low)
        assert high >= goals[:, axis].max() > high - 0.04 * (high - low)
    assert values.turn >= max(np.abs(turns)) >= 0.95 * values.turn
    np.testing.assert_array_equal([s.mocap_pos[2] for s in states(worlds)], goals)


def test_bar_lies_still_on_its_table():
    worlds = batch(ID, 20, length=0.24, start_width=0.2)
    before = np.array([s.bar for s in states(worlds)])
    idle(worlds, 25)
    np.testing.assert_allclose([s.bar for s in states(worlds)], before, atol=1e-3)


# --- who holds the bar ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turn", [0.0, 2.5, np.pi])
def test_direction_of_the_bar(turn):
    worlds = batch(ID)
    s = worlds.records(0)[1]
    s.bar_attitude[:] = np.cos(0.5 * turn), 0.0, 0.0, np.sin(0.5 * turn)
    direction = np.array([along(s, j) for j in range(3)])
    axis = np.array([np.cos(turn), np.sin(turn), 0.0])
    np.testing.assert_allclose(direction, axis * np.sign(axis[0]), atol=1e-12)


def test_where_hands_hold():
    """1.8 cm from the ends, the giver at the near one."""
    worlds = batch(ID, turn=0.0)
    p, s = worlds.records(0)
    for k, side in ((0, -1.0), (1, 1.0)):
        s.grip[k] = s.bar + [side * (0.09 - 0.018), 0.0, 0.0]
        assert to_handle(p, s, k) == pytest.approx(0.0, abs=1e-9)
        s.grip[k, 1] += 0.03
        assert to_handle(p, s, k) == pytest.approx(0.03)


def test_the_stages():
    worlds = batch(ID, reward="shaped")
    row = {name: i for i, name in enumerate(COSTS)}
    worlds.step(np.zeros_like(worlds.actions))
    assert [worlds.terms[0, row[name], 0] for name in ("handed", "receiver_near", "place")] == [0.0, 0.0, 0.0]
    levels = []
    for _ in range(95):
        worlds.step(worlds.expert_actions())
        levels.append(worlds.terms[0, row["handed"], 0])
    stages = sorted(set(np.round(levels, 6)))
    np.testing.assert_allclose(stages, [0.0, 1 / 3, 2 / 3, 1.0], atol=1e-6)
    assert np.all(np.diff(levels) >= 0.0)
    weights = [0.0, 0.0, 0.5, 0.5, 1.0, 2.0]
    np.testing.assert_allclose(worlds.rewards[0, 0], worlds.terms[0, :6, 0] @ weights)
    assert worlds.rewards[0, 0] > 3.5


@pytest.mark.parametrize(("start", "holder"), [("held", 0), ("handed", 1)])
def test_starts_in_a_hand(start, holder):
    worlds = batch(ID, 8, start=start)
    idle(worlds, 25)
    for i in range(8):  # who does nothing holds on, at the bar's end
        p, s = worlds.records(i)
        assert [bool(holds(s, k)) for k in range(2)] == [holder == 0, holder == 1]
        assert to_handle(p, s, holder) < 0.003
        assert s.bar[2] == pytest.approx(0.199, abs=0.002)
    assert success(ID, 20, start=start) == 1.0


def test_any_start_is_one_of_three():
    places = [round(float(s.bar[0]), 2) for s in states(batch(ID, 60, start="any")) if s.bar[2] > 0.1]
    assert set(places) == {0.11, 0.19}
    assert 25 <= len(places) <= 55


@pytest.mark.parametrize("far", [0.0, 0.1, 0.6])
def test_the_way_to_the_receiver_is_paid_from_afar(far):
    worlds = batch(ID, start="held", reward="shaped")
    p, s = worlds.records(0)
    s.grip[1] = s.bar + [0.072 + far, 0.0, 0.0]
    assert handover.receiver_near(p, s) == pytest.approx(1.0 - 0.5 * (np.tanh(8.0 * far) + np.tanh(2.0 * far)))


def test_fingers_hold_only_what_is_between_them():
    worlds = batch(ID)
    idle(worlds, 10, agent_0=-1.0, agent_1=-1.0)
    s = worlds.records(0)[1]
    assert not holds(s, 0)
    assert not holds(s, 1)
    s.pressure[2:] = (0.0, 1.1, 0.0), (0.3, -1.0, 0.0)
    assert holds(s, 1)
    s.pressure[3] = 0.0, -0.9, 0.0  # 1.1 N and 0.9 N: less than 1 N each
    assert not holds(s, 1)
    s.pressure[2:] = 0.0, 0.0, -20.0  # both from above
    assert not holds(s, 1)
    assert not holds(s, 0)


def test_pressure_is_what_the_bar_feels():
    """Opposite forces of the fingers that balance its weight, never more than the largest force of the fingers."""
    worlds = batch(ID, grip_force=20.0, mass=0.2)
    play(worlds, given)
    idle(worlds, 10)
    left, right = worlds.records(0)[1].pressure[:2]
    assert left[1] * right[1] < 0.0
    np.testing.assert_allclose(left + right, [0.0, 0.0, 0.2 * 9.81], atol=0.2)
    assert abs(left[1]) == pytest.approx(20.0, rel=0.1)
    assert not worlds.records(0)[1].pressure[2:].any()


def test_bar_is_held_against_its_weight():
    worlds = batch(ID, mass=0.3)
    play(worlds, given)
    height = worlds.records(0)[1].bar[2]
    idle(worlds, 25)
    assert worlds.records(0)[1].bar[2] == pytest.approx(height, abs=0.06)


def test_level_bring_begins_with_the_bar_in_the_receivers_hand_and_ends_at_the_goal():
    worlds = batch(ID, level="bring")
    p, s = worlds.records(0)
    assert np.linalg.norm(s.bar - s.grip[1]) < 0.5 * p.length
    idle(worlds, 10)
    assert s.bar[2] > 0.1  # it holds it
    assert p.ends_at_success
    assert not batch(ID).records(0)[0].ends_at_success


# --- rewards and costs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
def test_success_is_exact(level):
    worlds = batch(ID, level=level)
    p, s = worlds.records(0)
    r = worlds_result()
    for share, near in ((0.999, True), (1.001, False)):
        s.bar[:] = s.goal + [0.0, share * p.threshold, 0.0]
        SPEC.kernels["outcome"](p, s, None, None, r)
        assert r.success == [near, near]
        assert r.reached == [0.0 if near else -1.0] * 2
        assert r.distance == pytest.approx([-share * p.threshold] * 2)


def worlds_result():
    """A result as the kernel `outcome` sees it, as plain lists."""

    class Result:
        pass

    for name in (*COSTS, "success", "terminated"):
        setattr(Result, name, [0.0, 0.0])
    return Result


@pytest.mark.parametrize(
    ("height", "velocity", "push", "drop", "clash"),
    [
        (0.1, -0.99, 4.99, 0.0, 0.0),
        (0.1, -1.01, 4.99, 1.0, 0.0),
        (-0.001, 0.0, 4.99, 1.0, 0.0),
        (0.001, 0.0, 5.01, 0.0, 1.0),
    ],
)
def test_costs_are_exact(height, velocity, push, drop, clash):
    """Falling faster than 1 m/s or lower than the tables; arms that push each other with more than 5 N."""
    p, s = batch(ID).records(0)
    s.bar[2], s.bar_velocity[2], s.clash[:] = height, velocity, (0.6 * push, 0.0, -0.8 * push)
    r = worlds_result()
    SPEC.kernels["outcome"](p, s, None, None, r)
    assert (r.drop, r.clash) == ([drop] * 2, [clash] * 2)


def test_dropping_the_bar_over_the_gap_costs():
    worlds = batch(ID, seed=4, horizon=150)  # a bar that does not land on the edge of a table
    play(worlds, lambda p, s: given(p, s) and abs(s.bar[0] - 0.15) < 0.02)
    assert worlds.costs.sum() == 0.0
    spent, speeds = [], []
    for _ in range(25):
        idle(worlds, 1, agent_0=1.0)
        s = worlds.records(0)[1]
        spent.append(worlds.costs[0, 0])
        speeds.append(s.bar_velocity[2])
        assert spent[-1] == float(s.bar_velocity[2] < -1.0 or s.bar[2] < 0.0)
    assert sum(spent) > 10.0
    assert min(speeds) < -1.0
    assert s.bar[2] < -0.3  # on the floor, for good
    assert worlds.terms[0, COSTS.index("drop"), 0] == 1.0


def test_moving_fast_is_not_dropping():
    worlds = batch(ID, 50)
    total = np.zeros(50)
    for _ in range(100):
        worlds.step(worlds.expert_actions())
        total += worlds.terms[:, COSTS.index("drop"), 0]
    assert total.sum() == 0.0


def test_hands_that_push_each_other_cost():
    worlds = batch(ID)
    spent = 0.0
    actions = np.zeros_like(worlds.actions)
    actions[0, 0, 0], actions[0, 1, 0] = 1.0, -1.0
    for _ in range(15):
        worlds.step(actions)
        force = np.linalg.norm(worlds.records(0)[1].clash)
        assert worlds.terms[0, COSTS.index("clash"), 0] == float(force > 5.0)
        spent += worlds.costs[0, 0]
    assert spent > 5.0
    s = worlds.records(0)[1]
    assert s.clash[0] > 5.0  # by which the giver pushes the receiver, away from itself
    assert s.grip[1, 0] - s.grip[0, 0] > 0.03  # they do not pass through each other


def test_both_agents_get_the_same():
    worlds = batch(ID, 10, reward="shaped")
    rng = np.random.default_rng(0)
    for t in range(100):
        worlds.step(worlds.expert_actions() if t % 3 else rng.uniform(-1, 1, worlds.actions.shape))
        np.testing.assert_array_equal(worlds.terms[:, :, 0], worlds.terms[:, :, 1])
        np.testing.assert_array_equal(worlds.rewards[:, 0], worlds.rewards[:, 1])


# --- forms, snapshots, bad input, the expert --------------------------------------------------------------------------


@pytest.mark.parametrize(("control", "numbers"), [("hand", 4), ("pose", 7), ("joints", 8)])
def test_sizes(control, numbers):
    worlds = batch(ID, control=control)
    assert worlds.actions.shape == (1, 2, numbers)
    assert worlds.observations.shape == (1, 2, 36 if control == "joints" else 29)
    assert (worlds.setup.fps, worlds.setup.horizon, worlds.engine.steps) == (25, 100, 8)


@pytest.mark.usefixtures("strict_kit")
def test_parallel_form():
    env = rlenvs.parallel_env("PandaHandover-v0")
    assert env.possible_agents == ["agent_0", "agent_1"]
    kit.parallel_api_test(env, num_cycles=30)


def test_observations_are_the_agents_own():
    worlds = batch(ID, control="joints")
    actions = np.zeros_like(worlds.actions)
    actions[0, 1, :7] = 0.3
    for _ in range(5):
        worlds.step(actions)
    s = worlds.records(0)[1]
    for k in range(2):
        seen = worlds.observations[0, k]
        np.testing.assert_allclose(seen[:3], s.grip[k], atol=1e-6)
        first = panda.ARM_QPOS * k
        np.testing.assert_allclose(seen[7:14] * 3.8, s.qpos[first : first + 7], atol=1e-5)
        np.testing.assert_allclose(seen[14:17] * 2.0, s.grip[1 - k] - s.grip[k], atol=1e-6)


@pytest.mark.parametrize("moment", [given, lambda p, s: holds(s, 0) and holds(s, 1)])
def test_snapshot_in_the_middle_of_contacts(moment):
    worlds = batch(ID, level="hard")
    play(worlds, moment)
    assert simulation(worlds).ncon
    snapshot, rng = worlds.get_state(), np.random.default_rng(0)
    actions = rng.uniform(-1, 1, (15, *worlds.actions.shape))

    def record():
        seen = []
        for action in actions:
            worlds.step(action)
            seen.append((worlds.observations.copy(), worlds.rewards.copy(), worlds.costs.copy()))
        return seen

    first = record()
    worlds.set_state(snapshot)
    for one, two in zip(first, record(), strict=True):
        for a, b in zip(one, two, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("choices", "reason"),
    [
        ({"fingers": False}, "the bar has to be grasped"),
        ({"length": 0.24, "threshold": 0.1, "goal_distance": 0.25}, "start at x = 0.460 m, .* they end at 0.400 m"),
        ({"length": 0.1}, r"length=0\.1 is outside its range"),
        ({"agents": 3}, "agents"),
    ],
)
def test_bad_input(choices, reason):
    with pytest.raises((ParameterError, rlenvs.core.declare.errors.UnknownKeywordError), match=reason):
        batch(ID, **choices)


def test_parameters_reach_the_model():
    model = batch(ID, length=0.2, width=0.03, mass=0.2, friction=0.5).engine.model
    np.testing.assert_allclose(model.geom("bar").size, [0.1, 0.015, 0.015])
    assert model.body("bar").mass == pytest.approx(0.2)
    assert model.geom("bar").friction[0] == 0.5
    assert model.joint("bar").qposadr == BAR


@pytest.mark.parametrize("level", LEVELS)
def test_expert_succeeds(level):
    played = evaluate(ID, "expert", 50, level=level)
    assert played.success_rate >= 0.98
    assert played.mean_cost < 0.4  # of both


def test_expert_moves_poses_too():
    assert success(ID, 20, control="pose") >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_expert_and_random_actions_over_500_seeds(level):
    assert success(ID, 500, level=level) >= 0.98
    assert success(ID, 500, "random", level=level) < 0.05


def test_neither_agent_can_do_it_alone():
    for idle_agent in range(2):
        worlds = batch(ID, 10)
        for _ in range(100):
            actions = worlds.expert_actions()
            actions[:, idle_agent] = 0.0
            worlds.step(actions)
        assert not worlds.success.any()


def test_success_may_end_the_episode():
    worlds = batch(ID, ends_at_success=True)
    play(worlds, lambda p, s: bool(worlds.terminated[0, 0]))
    assert worlds.success.all()
    assert worlds.terminated.all()
